package compose

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Violation is one broken rule.
type Violation struct {
	Rule      string // a name of Rules
	Severity  finding.Severity
	Source    finding.Source
	Path      *field.Path // below the template document, "template.spec..."; nil for the whole document
	Container string      // the container's name, where there is one
	Detail    string      // one sentence: what and where
	Remedy    string      // what to do in this case
	// Place is set where Path cannot say it: in a document that could not be decoded, and for a key.
	Place Range
}

// String puts the violation on one line.
func (v Violation) String() string {
	if v.Path == nil {
		return fmt.Sprintf("%s [%s]", v.Detail, v.Rule)
	}
	return fmt.Sprintf("%s: %s [%s]", v.Path, v.Detail, v.Rule)
}

// violation starts a Violation with what the rule's catalogue entry says.
func violation(rule string, at *field.Path, container, detail, remedy string) Violation {
	r := ruleByName()[rule]
	return Violation{
		Rule: rule, Severity: r.Severity, Source: r.Source,
		Path: at, Container: container, Detail: detail, Remedy: remedy,
	}
}

// documentViolation is a Violation at a place in the text.
func documentViolation(rule string, place Range, detail, remedy string) Violation {
	v := violation(rule, nil, "", detail, remedy)
	v.Place = place
	return v
}
