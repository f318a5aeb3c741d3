package compose

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// templateRoot is where a template's Pod starts in its document.
var templateRoot = field.NewPath("template")

// Validate returns every rule that a template breaks when it is used with a profile, in the order of
// the Pod's fields: Kandev's own rules, the workspace grant's, and those of the newest API server known.
func Validate(t *corev1.PodTemplateSpec, p Profile) []Violation { return validate(t, p, 0) }

// validate is Validate for the API server of a Kubernetes minor, 0 for the newest.
func validate(t *corev1.PodTemplateSpec, p Profile, minor int) []Violation {
	v := validateOwned(t, p)
	v.apiServer(t, minor)
	return v.violations
}

// validateOwned checks Kandev's own rules and the workspace grant's.
func validateOwned(t *corev1.PodTemplateSpec, p Profile) *validator {
	v := &validator{profile: p.WithDefaults()}
	v.metadata(t)
	v.pod(&t.Spec)
	v.mainContainer(&t.Spec)
	v.containers(&t.Spec)
	return v
}

// ownedLabels are the labels that every composed Pod has. Which ones there are is known without an identity.
var ownedLabels = Identity{}.Labels()

// validator collects the violations of one template.
type validator struct {
	profile    Profile
	violations []Violation
}

func (v *validator) add(rule string, at *field.Path, container, detail, remedy string) {
	v.violations = append(v.violations, violation(rule, at, container, detail, remedy))
}

// apiServer adds what the API server would refuse, unless the field is in a violation already.
func (v *validator) apiServer(t *corev1.PodTemplateSpec, minor int) {
	errs := podrules.Validate(t, templateRoot, podrules.Options{KnownVolumes: OwnedVolumes(), KnownLabels: ownedLabels, Minor: minor})
	if len(errs) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, x := range v.violations {
		if x.Severity == finding.Error {
			seen[x.Path.String()] = true
		}
	}
	for _, err := range errs {
		if !seen[err.Field] {
			v.violations = append(v.violations, apiViolation(err, t))
		}
	}
}

// checkTemplate returns what keeps a template and a profile, its defaults filled in, from being used for a create request.
func checkTemplate(t *corev1.PodTemplateSpec, p Profile) []Violation {
	return append(checkPreview(t, p), placeholders(t, p)...)
}

// checkPreview returns what keeps them from being composed at all.
func checkPreview(t *corev1.PodTemplateSpec, p Profile) []Violation {
	out := profileViolations(p.Validate())
	for _, v := range Validate(t, p) {
		if v.Severity == finding.Error {
			out = append(out, v)
		}
	}
	return out
}
