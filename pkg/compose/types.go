package compose

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// typeChecker holds a document against the Go type that it is decoded into and reports every field
// that the type does not know and every value that it cannot take, each at its place. It runs only
// when the real decoder refused the document, which names no places and stops at the first fault.
type typeChecker struct {
	doc        *Document
	violations []Violation
	unfit      map[*yaml.Node]bool // values that their type cannot take
}

// refuse marks a value that must be left out to decode the rest.
func (t *typeChecker) refuse(n *yaml.Node) {
	if t.unfit == nil {
		t.unfit = map[*yaml.Node]bool{}
	}
	t.unfit[n] = true
}

func (t *typeChecker) fail(rule string, place Range, at *field.Path, detail, remedy string) {
	v := documentViolation(rule, place, detail, remedy)
	v.Path = at
	t.violations = append(t.violations, v)
}

// check compares one node with the type that must take it. what names the value for a reader.
func (t *typeChecker) check(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	n = resolveAlias(n)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if isNull(n) {
		return
	}
	if reflect.PointerTo(typ).Implements(unmarshalerType) {
		t.checkUnmarshaler(n, typ, at, place)
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		t.checkStruct(n, typ, at, place)
	case reflect.Map:
		t.checkMap(n, typ, at, place)
	case reflect.Slice:
		t.checkSlice(n, typ, at, place)
	case reflect.Interface:
	default:
		t.checkScalar(n, typ, at, place)
	}
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

func isNull(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	v, err := scalarValue(n)
	return err == nil && v == nil
}

// checkUnmarshaler tries the type's own decoder: quantities, int-or-string values, times.
func (t *typeChecker) checkUnmarshaler(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	c := &converter{doc: t.doc}
	c.value(n)
	if err := json.Unmarshal(c.json, reflect.New(typ).Interface()); err != nil {
		t.refuse(n)
		t.fail(RuleDocumentWrongType, place, at,
			fmt.Sprintf("%s: %s is not a %s", fieldName(at), describe(n), typeName(typ)),
			fmt.Sprintf("write a valid %s", typeName(typ)))
	}
}

func (t *typeChecker) checkStruct(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	if n.Kind != yaml.MappingNode {
		t.wrongType(n, "an object", "", at, place)
		return
	}
	fields := fieldsOf(typ)
	eachPair(n, func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil {
			return // the converter reported it
		}
		child, ok := fields[name]
		if !ok {
			t.unknown(k, name, fields, at)
			return
		}
		t.check(v, child, at.Child(name), t.doc.pairRange(k, v))
	})
}

func (t *typeChecker) unknown(k *yaml.Node, name string, fields map[string]reflect.Type, at *field.Path) {
	child := field.NewPath(name)
	if at != nil {
		child = at.Child(name)
		if !isIdentifier(name) {
			child = at.Key(name)
		}
	}
	detail := fmt.Sprintf("unknown field %q", name)
	if at != nil {
		detail += " in " + at.String()
	}
	remedy := fmt.Sprintf("remove %q", name)
	if near := nearest(name, fields); near != "" {
		detail += fmt.Sprintf("; did you mean %q?", near)
		remedy = fmt.Sprintf("write %q, or remove the field", near)
	}
	t.fail(RuleDocumentUnknownField, t.doc.tokenRange(k), child, detail, remedy)
}

func (t *typeChecker) checkMap(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	if n.Kind != yaml.MappingNode {
		t.wrongType(n, "an object", "", at, place)
		return
	}
	eachPair(n, func(k, v *yaml.Node) {
		if name, err := keyString(k); err == nil {
			t.check(v, typ.Elem(), at.Key(name), t.doc.pairRange(k, v))
		}
	})
}

func (t *typeChecker) checkSlice(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	if typ.Elem().Kind() == reflect.Uint8 {
		t.checkUnmarshaler(n, typ, at, place)
		return
	}
	if n.Kind != yaml.SequenceNode {
		t.wrongType(n, "a list", `start it with "- "`, at, place)
		return
	}
	for i, item := range n.Content {
		place := t.doc.tokenRange(item)
		if isNull(resolveAlias(item)) && typ.Elem().Kind() == reflect.Struct {
			t.fail(RuleDocumentNullItem, place, at.Index(i),
				fmt.Sprintf("%s holds an empty item", at.Index(i)), `fill the item in, or remove its "-"`)
			continue
		}
		t.check(item, typ.Elem(), at.Index(i), place)
	}
}

func (t *typeChecker) checkScalar(n *yaml.Node, typ reflect.Type, at *field.Path, place Range) {
	want := typeName(typ)
	if n.Kind != yaml.ScalarNode {
		t.wrongType(n, want, "", at, place)
		return
	}
	v, err := scalarValue(n)
	if err != nil {
		return // the converter reported it
	}
	switch typ.Kind() {
	case reflect.String:
		if _, ok := v.(string); !ok {
			t.wrongType(n, want, fmt.Sprintf("quote it: %q", n.Value), at, place)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			t.wrongType(n, want, "write true or false, without quotes", at, place)
		}
	default:
		t.checkNumber(n, v, typ, at, place)
	}
}

func (t *typeChecker) checkNumber(n *yaml.Node, v any, typ reflect.Type, at *field.Path, place Range) {
	c := &converter{doc: t.doc}
	c.value(n)
	if err := json.Unmarshal(c.json, reflect.New(typ).Interface()); err == nil {
		return
	}
	remedy := "write a whole number in range, without quotes"
	if s, ok := v.(string); ok {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			remedy = "remove the quotes: " + s
		}
	}
	t.wrongType(n, typeName(typ), remedy, at, place)
}

func (t *typeChecker) wrongType(n *yaml.Node, want, remedy string, at *field.Path, place Range) {
	t.refuse(n)
	if remedy == "" {
		remedy = "write " + want
	}
	t.fail(RuleDocumentWrongType, place, at,
		fmt.Sprintf("%s must be %s, not %s", fieldName(at), want, describe(n)), remedy)
}

// fieldName is the last name of a path, for a sentence.
func fieldName(at *field.Path) string {
	if at == nil {
		return "the document"
	}
	return lastName(at.String())
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

// describe names what stands in the document.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	v, err := scalarValue(n)
	if err != nil {
		return strconv.Quote(n.Value)
	}
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "the boolean " + n.Value
	case string:
		return "the string " + strconv.Quote(n.Value)
	}
	return "the number " + n.Value
}

// typeName names a type as a person who writes templates calls it.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64, reflect.Int, reflect.Uint8:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	switch t.Name() {
	case "IntOrString":
		return "number or string"
	case "":
		return "base64 string"
	}
	return strings.ToLower(t.Name())
}

// nearest returns the field that was probably meant, "" if none is near.
func nearest(name string, fields map[string]reflect.Type) string {
	best, distance := "", 3
	for _, f := range sortedKeys(fields) {
		if strings.EqualFold(f, name) {
			return f
		}
		if d := levenshtein.ComputeDistance(f, name); d < distance && d < len(name)/2 {
			best, distance = f, d
		}
	}
	return best
}

func sortedKeys(m map[string]reflect.Type) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
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
