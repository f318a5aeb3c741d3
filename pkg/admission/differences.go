package admission

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// difference is one field in which two objects differ.
type difference struct {
	at                  *field.Path
	kind                ChangeKind
	requested, admitted any // nil where the field is absent
}

// differences lists every field in which two objects of one type differ, each at the outermost place
// that says it: an added container is one difference. Items of lists are told apart by what names them
// (listKeys), quantities compare by value, and nil equals empty for lists and maps.
func differences(at *field.Path, requested, admitted any) []difference {
	var d differ
	d.walk(at, reflect.ValueOf(requested), reflect.ValueOf(admitted))
	return d.found
}

// equal reports whether two values have no differences.
func equal(a, b any) bool { return len(differences(nil, a, b)) == 0 }

type differ struct{ found []difference }

func (d *differ) add(at *field.Path, kind ChangeKind, r, a reflect.Value) {
	x := difference{at: at, kind: kind}
	if kind != Added {
		x.requested = r.Interface()
	}
	if kind != Removed {
		x.admitted = a.Interface()
	}
	d.found = append(d.found, x)
}

func (d *differ) walk(at *field.Path, r, a reflect.Value) {
	switch r.Kind() {
	case reflect.Pointer:
		d.pointer(at, r, a)
	case reflect.Struct:
		d.structure(at, r, a)
	case reflect.Map:
		d.mapping(at, r, a)
	case reflect.Slice:
		d.list(at, r, a)
	default:
		d.scalar(at, r, a, r.Equal(a))
	}
}

func (d *differ) pointer(at *field.Path, r, a reflect.Value) {
	switch {
	case r.IsNil() && a.IsNil():
	case r.IsNil():
		d.add(at, Added, r, a)
	case a.IsNil():
		d.add(at, Removed, r, a)
	default:
		d.walkPointed(at, r, a)
	}
}

// walkPointed compares what two pointers point at. A pointer to a zero value is a value that was set.
func (d *differ) walkPointed(at *field.Path, r, a reflect.Value) {
	switch r.Elem().Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
		d.walk(at, r.Elem(), a.Elem())
	default:
		if !r.Elem().Equal(a.Elem()) {
			d.add(at, Changed, r, a)
		}
	}
}

// scalar compares two values that the API omits when they are zero.
func (d *differ) scalar(at *field.Path, r, a reflect.Value, equal bool) {
	switch {
	case equal:
	case r.IsZero():
		d.add(at, Added, r, a)
	case a.IsZero():
		d.add(at, Removed, r, a)
	default:
		d.add(at, Changed, r, a)
	}
}

func (d *differ) structure(at *field.Path, r, a reflect.Value) {
	switch r.Type() {
	case reflect.TypeFor[resource.Quantity]():
		x, y := valueOf[resource.Quantity](r), valueOf[resource.Quantity](a)
		d.scalar(at, r, a, x.Cmp(y) == 0)
		return
	case reflect.TypeFor[metav1.Time]():
		x, y := valueOf[metav1.Time](r), valueOf[metav1.Time](a)
		d.scalar(at, r, a, x.Equal(&y))
		return
	case reflect.TypeFor[intstr.IntOrString]():
		d.scalar(at, r, a, r.Equal(a))
		return
	}
	for _, f := range fieldsOf(r.Type()) {
		child := at
		if f.name != "" {
			child = at.Child(f.name)
		}
		d.walk(child, r.Field(f.index), a.Field(f.index))
	}
}

func valueOf[T any](v reflect.Value) T { return v.Interface().(T) } //nolint:forcetypeassert // every caller has looked at the type

func (d *differ) mapping(at *field.Path, r, a reflect.Value) {
	for _, k := range mapKeys(r, a) {
		key := reflect.ValueOf(k).Convert(r.Type().Key())
		x, y := r.MapIndex(key), a.MapIndex(key)
		switch {
		case !x.IsValid():
			d.add(at.Key(k), Added, x, y)
		case !y.IsValid():
			d.add(at.Key(k), Removed, x, y)
		case x.Kind() == reflect.String:
			if x.String() != y.String() {
				d.add(at.Key(k), Changed, x, y)
			}
		default:
			d.walk(at.Key(k), x, y)
		}
	}
}

func mapKeys(maps ...reflect.Value) []string {
	var keys []string
	for _, m := range maps {
		for _, k := range m.MapKeys() {
			keys = append(keys, k.String())
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// list compares two lists: item by item where something names the items, as a whole where they are scalars.
func (d *differ) list(at *field.Path, r, a reflect.Value) {
	if r.Len() == 0 && a.Len() == 0 {
		return
	}
	elem := r.Type().Elem()
	if elem.Kind() != reflect.Struct {
		d.scalars(at, r, a)
		return
	}
	was, is := itemNames(r), itemNames(a)
	for i, name := range was {
		if j := slices.Index(is, name); j >= 0 {
			d.walk(at.Key(name), r.Index(i), a.Index(j))
		} else {
			d.add(at.Key(name), Removed, r.Index(i), reflect.Value{})
		}
	}
	for j, name := range is {
		if !slices.Contains(was, name) {
			d.add(at.Key(name), Added, reflect.Value{}, a.Index(j))
		}
	}
	if orderMatters(elem, at) && !sameOrder(was, is) {
		d.add(at, Changed, r, a)
	}
}

// scalars compares two lists of scalars, in which the order counts.
func (d *differ) scalars(at *field.Path, r, a reflect.Value) {
	switch {
	case r.Len() == 0:
		d.add(at, Added, r, a)
	case a.Len() == 0:
		d.add(at, Removed, r, a)
	case !slices.Equal(texts(r), texts(a)):
		d.add(at, Changed, r, a)
	}
}

func texts(list reflect.Value) []string {
	out := make([]string, list.Len())
	for i := range out {
		out[i] = showValue(list.Index(i).Interface())
	}
	return out
}

// sameOrder reports whether the items that both lists hold stand in the same order.
func sameOrder(was, is []string) bool {
	last := -1
	for _, name := range was {
		if j := slices.Index(is, name); j >= 0 {
			if j < last {
				return false
			}
			last = j
		}
	}
	return true
}

// structField is one field of an API type; an embedded struct has no name.
type structField struct {
	index int
	name  string
}

var structFields sync.Map // reflect.Type → []structField

func fieldsOf(t reflect.Type) []structField {
	if known, ok := structFields.Load(t); ok {
		return known.([]structField) //nolint:forcetypeassert // only this function stores
	}
	var out []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		if f.IsExported() && (name != "" || f.Anonymous) {
			out = append(out, structField{i, name})
		}
	}
	structFields.Store(t, out)
	return out
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
