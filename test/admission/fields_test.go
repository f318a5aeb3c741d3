package admission_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// unknownFields are what an API server knows and this project's API types do not: they refuse it, under every version.
var unknownFields = map[string][]string{
	"1.35": {"PodSpec.workloadRef", "WorkloadReference.name", "WorkloadReference.podGroup", "WorkloadReference.podGroupReplicaKey"},
}

// TestFields holds the fields that compose takes for a version against the OpenAPI document of its API server.
func TestFields(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		served := s.servedFields(t)
		taken := append(takenFields(s.minorNumber()), unknownFields[s.minor]...)
		slices.Sort(taken)
		if diff := cmp.Diff(served, slices.Compact(taken)); diff != "" {
			t.Errorf("what the API server knows, and what compose takes: %s", diff)
		}
	})
}

// servedFields lists TYPE.field of every type in a PodTemplate.
func (s *server) servedFields(t *testing.T) []string {
	t.Helper()
	data, err := s.client.Discovery().RESTClient().Get().AbsPath("/openapi/v3/api/v1").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	var out []string
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for property, schema := range document.Components.Schemas[name].Properties {
			out = append(out, name[strings.LastIndexByte(name, '.')+1:]+"."+property)
			for _, after := range strings.Split(string(schema), `"#/components/schemas/`)[1:] {
				reference, _, _ := strings.Cut(after, `"`)
				walk(reference)
			}
		}
	}
	walk("io.k8s.api.core.v1.PodTemplateSpec")
	slices.Sort(out)
	return slices.Compact(out)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// takenFields lists TYPE.field of every type in a PodTemplate that compose takes for a Kubernetes minor.
func takenFields(minor int) []string {
	var out []string
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	var fields func(owner, typ reflect.Type)
	fields = func(owner, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "" && f.Anonymous:
				fields(owner, f.Type) // inline
			case f.IsExported() && name != "" && name != "-" && compose.FieldSince(owner, name) <= minor:
				out = append(out, owner.Name()+"."+name)
				visit(f.Type)
			}
		}
	}
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			if !seen[typ] && !reflect.PointerTo(typ).Implements(unmarshaler) {
				seen[typ] = true
				fields(typ, typ)
			}
		}
	}
	visit(reflect.TypeFor[corev1.PodTemplateSpec]())
	return out
}
