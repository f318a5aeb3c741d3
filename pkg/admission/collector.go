package admission

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	metadataRoot = field.NewPath("metadata")
	specRoot     = field.NewPath("spec")
)

// collector gathers the violations of one comparison.
type collector struct {
	violations []Violation
	covered    []string // paths whose differences are not to be listed as accepted
}

// add records a violation. The two values are printed by show; also names further fields of which the violation
// says everything, such as the place from which something was moved.
func (c *collector) add(rule string, at *field.Path, message string, requested, admitted any, also ...*field.Path) {
	v := Violation{Rule: rule, Path: at.String(), Message: message}
	v.Requested, v.Admitted = show(requested, admitted)
	for _, known := range c.violations {
		if known.Rule == v.Rule && known.Path == v.Path {
			return
		}
	}
	c.violations = append(c.violations, v)
	c.covered = append(c.covered, v.Path)
	for _, p := range also {
		c.covered = append(c.covered, p.String())
	}
}

// same records a violation unless both values are equal.
func same[T comparable](c *collector, rule string, at *field.Path, message string, requested, admitted T) {
	if requested != admitted {
		c.add(rule, at, message, requested, admitted)
	}
}
