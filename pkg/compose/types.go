package compose

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"

	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// typeChecker holds a document against the Go type that it is decoded into and reports every field
// that the type does not know and every value that it cannot take, each at its place. It runs only
// when the real decoder refused the document, which names no places and stops at the first fault.
type typeChecker struct {
	doc        *Document
	trail      trail
	violations []Violation
	unfit      map[*yaml.Node]bool // values that their type cannot take
}

func (t *typeChecker) fail(rule string, place span, detail, remedy string) {
	v := documentViolation(rule, t.doc.rangeOf(place), detail, remedy)
	v.Path = t.trail.path()
	t.violations = append(t.violations, v)
}

// check compares one value with the type that must take it. key is the value's key, nil where it has none.
func (t *typeChecker) check(key, value *yaml.Node, typ reflect.Type) {
	n := resolveAlias(value)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if isNull(n) {
		return
	}
	if ok, want := t.checkKind(n, typ); !ok {
		t.wrongType(key, value, want, typ)
	}
}

// checkKind goes on into a value of the right kind. For any other it returns what is wanted instead.
func (t *typeChecker) checkKind(n *yaml.Node, typ reflect.Type) (ok bool, want string) {
	switch {
	case decodesItself(typ):
		return t.fits(n, typ), typeName(typ)
	case typ.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		t.checkStruct(n, typ)
	case typ.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		t.checkMap(n, typ)
	case typ.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		t.checkSlice(n, typ)
	case n.Kind == yaml.ScalarNode:
		return t.fitsScalar(n, typ), typeName(typ) + rangeOfType(n, typ)
	default:
		return false, typeName(typ)
	}
	return true, ""
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

// decodesItself reports whether the JSON decoder leaves a type's form to the type, or to base64.
func decodesItself(typ reflect.Type) bool {
	return reflect.PointerTo(typ).Implements(unmarshalerType) ||
		typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Uint8
}

// fits tries the type's own decoder: numbers, quantities, int-or-string values, times.
func (t *typeChecker) fits(n *yaml.Node, typ reflect.Type) bool {
	c := &converter{doc: t.doc}
	c.value(n)
	return len(c.violations) > 0 || json.Unmarshal(c.json, reflect.New(typ).Interface()) == nil
}

func (t *typeChecker) fitsScalar(n *yaml.Node, typ reflect.Type) bool {
	v, err := scalarValue(n)
	if err != nil {
		return true // the converter reported it
	}
	switch typ.Kind() {
	case reflect.String:
		_, ok := v.(string)
		return ok
	case reflect.Bool:
		_, ok := v.(bool)
		return ok
	}
	return t.fits(n, typ)
}

func isNull(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	v, err := scalarValue(n)
	return err == nil && v == nil
}

func (t *typeChecker) checkStruct(n *yaml.Node, typ reflect.Type) {
	fields := fieldsOf(typ)
	eachPair(n, func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil {
			return // the converter reported it
		}
		t.trail.field(name)
		child, ok := fields[name]
		since := FieldSince(typ, name)
		switch {
		case !ok:
			t.unknown(k, name, fields)
		case t.doc.isForOlder() && t.doc.Minor < since && since > podrules.OldestMinor:
			t.tooYoung(k, name, since)
		default:
			t.check(k, v, child)
		}
		t.trail.up()
	})
}

// unknown reports the field at the end of the trail.
func (t *typeChecker) unknown(k *yaml.Node, name string, fields map[string]reflect.Type) {
	detail := fmt.Sprintf("unknown field %q", name)
	if parent := t.trail[:len(t.trail)-1]; len(parent) > 0 {
		detail += " in " + parent.path().String()
	}
	remedy := fmt.Sprintf("remove %q", name)
	if near := nearest(name, fields); near != "" {
		detail += fmt.Sprintf("; did you mean %q?", near)
		remedy = fmt.Sprintf("write %q, or remove the field", near)
	}
	t.fail(RuleDocumentUnknownField, t.doc.token(k), detail, remedy)
}

// tooYoung reports the field at the end of the trail, which came with a later Kubernetes than the one meant.
func (t *typeChecker) tooYoung(k *yaml.Node, name string, since int) {
	t.fail(RuleDocumentUnknownField, t.doc.token(k),
		fmt.Sprintf("unknown field %q in Kubernetes 1.%d: 1.%d is the first that has it", name, t.doc.Minor, since),
		fmt.Sprintf("remove %q", name))
}

func (t *typeChecker) checkMap(n *yaml.Node, typ reflect.Type) {
	eachPair(n, func(k, v *yaml.Node) {
		if name, err := keyString(k); err == nil {
			t.trail.mapKey(name)
			t.check(k, v, typ.Elem())
			t.trail.up()
		}
	})
}

func (t *typeChecker) checkSlice(n *yaml.Node, typ reflect.Type) {
	for i, item := range n.Content {
		t.trail.item(i)
		if typ.Elem().Kind() == reflect.Struct && isNull(resolveAlias(item)) {
			t.fail(RuleDocumentNullItem, t.doc.token(item),
				fmt.Sprintf("%s is an empty list item", t.trail.path()), "fill the item in, or remove it")
		} else {
			t.check(nil, item, typ.Elem())
		}
		t.trail.up()
	}
}

func (t *typeChecker) wrongType(key, value *yaml.Node, want string, typ reflect.Type) {
	n := resolveAlias(value)
	if t.unfit == nil {
		t.unfit = map[*yaml.Node]bool{}
	}
	t.unfit[n] = true
	place := t.doc.token(value)
	if key != nil {
		place = t.doc.pair(key, value)
	}
	t.fail(RuleDocumentWrongType, place, fmt.Sprintf("%s must be %s, not %s", t.trail.last(), want, describe(n)),
		typeRemedy(n, typ, want))
}

// typeRemedy says how to write a value as its type wants it.
func typeRemedy(n *yaml.Node, typ reflect.Type, want string) string {
	switch {
	case typ.Kind() == reflect.Slice && !decodesItself(typ):
		return `write a list: start each item with "- "`
	case typ.Kind() == reflect.Struct && !decodesItself(typ), typ.Kind() == reflect.Map:
		return "write fields, each as key: value, in place of " + describe(n)
	case n.Kind != yaml.ScalarNode:
		return fmt.Sprintf("write %s in place of %s", want, describe(n))
	case typ.Kind() == reflect.String:
		return fmt.Sprintf("quote it: %q", n.Value)
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && !decodesItself(typ) {
		bare := &yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
		if new(typeChecker).fitsScalar(bare, typ) {
			return "remove the quotes: " + n.Value
		}
	}
	return fmt.Sprintf("write %s", want)
}

// rangeOfType names the limits of a number's type where a whole number is beyond them.
func rangeOfType(n *yaml.Node, typ reflect.Type) string {
	if strings.Trim(n.Value, "+-0123456789_") != "" {
		return ""
	}
	switch typ.Kind() {
	case reflect.Int32:
		return fmt.Sprintf(" from %d to %d", math.MinInt32, math.MaxInt32)
	case reflect.Int64:
		return fmt.Sprintf(" from %d to %d", math.MinInt64, math.MaxInt64)
	}
	return ""
}

// lastName is the last name of a written path: a dot inside brackets is part of a key.
func lastName(path string) string {
	before, _, _ := strings.Cut(path, "[")
	if open := strings.LastIndexByte(path, '['); open >= 0 {
		if closing := strings.LastIndexByte(path, ']'); closing == len(path)-1 {
			before = path[:open]
		} else {
			before = path
		}
	}
	return path[strings.LastIndexByte(before, '.')+1:]
}

// maxShownValue bounds how much of a refused value is repeated, in bytes.
const maxShownValue = 64

// shorten bounds a value that is repeated in a sentence.
func shorten(s string) string {
	if len(s) > maxShownValue {
		return strings.ToValidUTF8(s[:maxShownValue], "") + "..."
	}
	return s
}

// describe names what stands in the document.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	v, err := scalarValue(n)
	text := shorten(n.Value)
	if err != nil {
		return strconv.Quote(text)
	}
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "the boolean " + text
	case string:
		return "the string " + strconv.Quote(text)
	}
	return "the number " + text
}

// typeName names a type as a person who writes templates calls it.
func typeName(t reflect.Type) string {
	switch t.Name() {
	case "Quantity":
		return "a quantity such as 500m or 1Gi"
	case "IntOrString":
		return "a number or a name"
	case "Time", "MicroTime":
		return "a time such as 2006-01-02T15:04:05Z"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 text"
		}
		return "a list"
	}
	return "an object"
}

// nearest returns the field that was probably meant, "" if none is near.
func nearest(name string, fields map[string]reflect.Type) string {
	best, distance := "", 3
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		if strings.EqualFold(f, name) {
			return f
		}
		if d := levenshtein.ComputeDistance(f, name); d < distance && 3*d <= len(name) {
			best, distance = f, d
		}
	}
	return best
}

var fieldCache sync.Map // reflect.Type → map[string]reflect.Type

// fieldsOf lists a struct's JSON fields, those of embedded structs with them.
func fieldsOf(typ reflect.Type) map[string]reflect.Type {
	if m, ok := fieldCache.Load(typ); ok {
		return m.(map[string]reflect.Type) //nolint:forcetypeassert // only this function stores
	}
	m := map[string]reflect.Type{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			for k, v := range fieldsOf(f.Type) {
				m[k] = v
			}
		case name != "":
			m[name] = f.Type
		}
	}
	fieldCache.Store(typ, m)
	return m
}
