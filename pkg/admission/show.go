package admission

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// show prints two values for a reader. A scalar is printed whole; of two larger values only what
// differs is, each part after its place.
func show(requested, admitted any) (string, string) {
	if isLarge(requested) && isLarge(admitted) && reflect.TypeOf(requested) == reflect.TypeOf(admitted) {
		return showParts(requested, admitted)
	}
	return showValue(requested), showValue(admitted)
}

// isLarge reports whether a value is there and has parts.
func isLarge(v any) bool {
	r := indirect(reflect.ValueOf(v))
	switch r.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		_, quantity := r.Interface().(resource.Quantity)
		_, time := r.Interface().(metav1.Time)
		return !quantity && !time
	}
	return false
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// showValue prints one value: "" for one that is absent, a string as it is, anything else as JSON.
func showValue(v any) string {
	r := indirect(reflect.ValueOf(v))
	if !r.IsValid() {
		return ""
	}
	switch r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Slice, reflect.Map:
		if r.Len() == 0 {
			return ""
		}
	}
	data, err := json.Marshal(r.Interface())
	if err != nil {
		return fmt.Sprint(r.Interface())
	}
	return strings.Trim(string(data), `"`)
}

// showParts prints what differs between two values of one type, a line a part.
func showParts(requested, admitted any) (string, string) {
	var parts partReporter
	cmp.Equal(requested, admitted, cmp.Reporter(&parts), compareQuantities, compareTimes)
	return strings.Join(parts.requested, "\n"), strings.Join(parts.admitted, "\n")
}

var (
	compareQuantities = cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	compareTimes      = cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) })
)

// partReporter collects the leaves at which go-cmp sees two values differ.
type partReporter struct {
	path                cmp.Path
	requested, admitted []string
}

func (p *partReporter) PushStep(s cmp.PathStep) { p.path = append(p.path, s) }

func (p *partReporter) PopStep() { p.path = p.path[:len(p.path)-1] }

func (p *partReporter) Report(r cmp.Result) {
	if r.Equal() {
		return
	}
	requested, admitted := p.path.Last().Values()
	at := p.place()
	if requested.IsValid() {
		p.requested = append(p.requested, at+showValue(requested.Interface()))
	}
	if admitted.IsValid() {
		p.admitted = append(p.admitted, at+showValue(admitted.Interface()))
	}
}

// place prints the path as Kubernetes names fields: "[0] ", "emptyDir.medium ", "" for the value itself.
func (p *partReporter) place() string {
	var b strings.Builder
	for i, step := range p.path {
		switch s := step.(type) {
		case cmp.StructField:
			name := jsonName(indirectType(p.path[i-1].Type()).Field(s.Index()))
			if name != "" {
				fmt.Fprintf(&b, ".%s", name)
			}
		case cmp.SliceIndex:
			x, y := s.SplitKeys()
			fmt.Fprintf(&b, "[%d]", max(x, y))
		case cmp.MapIndex:
			fmt.Fprintf(&b, "[%s]", s.Key())
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return strings.TrimPrefix(b.String(), ".") + " "
}

func indirectType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
