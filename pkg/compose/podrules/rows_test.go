package podrules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// row is a template in YAML and all that is wrong with it, at paths below the template.
type row struct {
	name     string
	template string
	want     field.ErrorList
}

// options are those of every row.
var options = Options{KnownVolumes: []string{"known"}, KnownLabels: map[string]string{"known.example/a": "b"}}

func run(t *testing.T, rows []row) {
	t.Helper()
	runFor(t, NewestMinor, rows)
}

// runFor is run for a Kubernetes minor.
func runFor(t *testing.T, minor int, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			template := decode(t, r.template)
			before := template.DeepCopy()
			o := options
			o.Minor = minor
			got := Validate(template, field.NewPath("template"), o)
			for _, e := range r.want {
				e.Field = strings.TrimSuffix("template."+e.Field, ".")
			}
			ignored := cmpopts.IgnoreFields(field.Error{}, "BadValue", "Origin", "CoveredByDeclarative")
			if diff := cmp.Diff(r.want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n%s", r.template, diff)
			}
			if diff := cmp.Diff(before, template); diff != "" {
				t.Errorf("the template was changed:\n%s", diff)
			}
		})
	}
}

func decode(t testing.TB, s string) *corev1.PodTemplateSpec {
	t.Helper()
	template := &corev1.PodTemplateSpec{}
	if err := yaml.UnmarshalStrict([]byte(s), template); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return template
}

// The following put fields into a template that is valid without them.

func inMetadata(fields string) string {
	return "{metadata: {" + fields + "}, spec: {containers: [{name: main, image: i}]}}"
}

func inSpec(fields string) string {
	return "{spec: {containers: [{name: main, image: i}], " + fields + "}}"
}

func inContainer(fields string) string {
	return "{spec: {containers: [{name: main, image: i, " + fields + "}]}}"
}

func inSecurityContext(fields string) string {
	return inContainer("securityContext: {" + fields + "}")
}

func inInitContainer(fields string) string {
	return inSpec("initContainers: [{name: init, image: i, " + fields + "}]")
}

func inVolume(fields string) string {
	return inSpec("volumes: [{name: v, " + fields + "}]")
}

// list returns n times the item, with commas.
func list(n int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+", ", n), ", ")
}

// The following are the errors that a row expects.

func invalid(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: path, Detail: detail}
}

func required(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeRequired, Field: path, Detail: detail}
}

func forbidden(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: detail}
}

func notSupported(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeNotSupported, Field: path, Detail: detail}
}

func notFound(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeNotFound, Field: path, Detail: detail}
}

func tooLong(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeTooLong, Field: path, Detail: detail}
}

func tooMany(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeTooMany, Field: path, Detail: detail}
}

func duplicate(path string) *field.Error {
	return &field.Error{Type: field.ErrorTypeDuplicate, Field: path}
}
