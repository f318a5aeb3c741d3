package compose

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// drawDocument writes a template of random fields in random styles: block and flow, anchors, aliases,
// merges, comments, odd scalars, and now and then a fault.
func drawDocument(t *rapid.T) string {
	d := &documents{t: t, anchors: map[reflect.Type][]string{}}
	d.eol = d.pick("eol", "\n", "\n", "\n", "\r\n", "\r")
	text := "apiVersion: v1" + d.eol + "kind: PodTemplate" + d.eol +
		"template:" + d.value(reflect.TypeFor[corev1.PodTemplateSpec](), 2, false) + d.eol
	if d.rarely("bom") {
		text = string(utf8BOM) + text
	}
	return text
}

// documents draws pieces of a document.
type documents struct {
	t       *rapid.T
	eol     string
	anchors map[reflect.Type][]string // the anchors of complete values
	count   int
}

func (d *documents) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(d.t, label)
}

func (d *documents) rarely(label string) bool { return rapid.IntRange(0, 15).Draw(d.t, label) == 0 }

// value draws what stands after "key:" for a type; indent is where a block below it starts.
func (d *documents) value(typ reflect.Type, indent int, flow bool) string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if d.rarely("any scalar") {
		return " " + d.pick("scalar", scalars...)
	}
	if names := d.anchors[typ]; len(names) > 0 && d.rarely("alias") {
		return " *" + d.pick("name", names...)
	}
	anchor := ""
	if d.rarely("anchor") {
		d.count++
		anchor = fmt.Sprintf(" &a%d", d.count)
		defer func() { d.anchors[typ] = append(d.anchors[typ], anchor[2:]) }()
	}
	return anchor + d.content(typ, indent, flow || d.rarely("flow"))
}

func (d *documents) content(typ reflect.Type, indent int, flow bool) string {
	deep := indent > 14
	switch {
	case decodesItself(typ):
		return " " + d.pick("self", "5", "1Gi", "500m", "1e3", "0.5", "\"80\"", "2006-01-02T15:04:05Z")
	case typ.Kind() == reflect.Bool:
		return " " + d.pick("bool", "true", "false", "yes", "off", "!!bool y")
	case typ.Kind() == reflect.String:
		return " " + d.pick("string", "a", "\"8080\"", "'it''s'", "! 8080", "!!str 5", "a b c", "\"\\u0041\"", "2001-01-01", "é😀")
	case typ.Kind() == reflect.Slice && !deep:
		return d.list(typ, indent, flow)
	case typ.Kind() == reflect.Map && !deep:
		return d.object(indent, flow, func() (string, reflect.Type) {
			return d.pick("map key", "a", "a.b/c", "x[1]", "\"q k\"", "1", "on", "! k", "~", "<<"), typ.Elem()
		}, nil)
	case typ.Kind() == reflect.Struct && !deep:
		fields := fieldsOf(typ)
		return d.object(indent, flow, func() (string, reflect.Type) {
			if d.rarely("wrong key") {
				return d.pick("key", "Name", "hostpid", "\"\"", "1", "? k"), reflect.TypeFor[string]()
			}
			key := d.pick("field", slices.Sorted(maps.Keys(fields))...)
			return d.pick("quoted", key, key, "\""+key+"\"", "'"+key+"'"), fields[key]
		}, d.anchors[typ])
	case typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Struct:
		return " null"
	}
	return " " + d.pick("int", "5", "0x1F", "1_000", "1.0", "1e3", "0777", "-0", "99999999999")
}

func (d *documents) list(typ reflect.Type, indent int, flow bool) string {
	var parts []string
	for range rapid.IntRange(0, 3).Draw(d.t, "items") {
		parts = append(parts, d.value(typ.Elem(), indent+2, flow))
	}
	if flow || len(parts) == 0 {
		return " [" + strings.Join(parts, ",") + " ]"
	}
	return d.block(indent, parts, "-")
}

func (d *documents) object(indent int, flow bool, field func() (string, reflect.Type), merges []string) string {
	var parts []string
	if len(merges) > 0 && d.rarely("merge") {
		parts = append(parts, "<<: *"+d.pick("merged", merges...))
	}
	for range rapid.IntRange(0, 3).Draw(d.t, "fields") {
		key, typ := field()
		parts = append(parts, key+":"+d.value(typ, indent+2, flow))
	}
	if flow || len(parts) == 0 {
		return " {" + strings.Join(parts, ", ") + "}"
	}
	return d.block(indent, parts, "")
}

func (d *documents) block(indent int, parts []string, dash string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(d.pick("tail", "", "", "", " # c", " # é😀: c", " "))
		b.WriteString(d.eol + strings.Repeat(" ", indent) + dash + p)
	}
	return b.String()
}
