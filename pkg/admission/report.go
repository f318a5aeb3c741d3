package admission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// schemaVersion names the shape of Report; docs/schema/diff.schema.json describes it.
const schemaVersion = 1

// Report is what a comparison found. No list is nil, and each is in an order that does not depend on the
// order of lists in the objects.
type Report struct {
	SchemaVersion int               `json:"schemaVersion"`
	Compatible    bool              `json:"compatible"` // there is no violation
	Grants        []Grant           `json:"grants"`
	Violations    []Violation       `json:"violations"`
	Escalations   []finding.Finding `json:"escalations"`
	Accepted      []Change          `json:"accepted"`
}

// Violation is one thing that admission may not have done.
type Violation struct {
	Rule string `json:"rule"` // a name of Rules or of compose.Rules
	// Path is the field, with the names of list items instead of their positions:
	// spec.containers[tools].volumeMounts[/workspace].readOnly
	Path    string `json:"path"`
	Message string `json:"message"` // one sentence: what and where
	// Requested and Admitted are the two values; empty where the field is absent, and for a larger value only
	// the parts that differ.
	Requested string `json:"requested"`
	Admitted  string `json:"admitted"`
}

// Change is one accepted difference.
type Change struct {
	Path string     `json:"path"`
	Kind ChangeKind `json:"kind"`
}

// ChangeKind says what became of a field.
type ChangeKind string

// The kinds of change.
const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
)

// report sums a comparison up.
func (c *collector) report(grants []Grant, escalations []finding.Finding, changes []difference) Report {
	slices.SortStableFunc(c.violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	return Report{
		SchemaVersion: schemaVersion,
		Compatible:    len(c.violations) == 0,
		Grants:        notNil(grants),
		Violations:    notNil(c.violations),
		Escalations:   notNil(escalations),
		Accepted:      c.accepted(changes),
	}
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// accepted lists the differences that no violation speaks of.
func (c *collector) accepted(changes []difference) []Change {
	out := []Change{}
	for _, d := range changes {
		path := d.at.String()
		if !slices.ContainsFunc(c.covered, func(violation string) bool { return covers(violation, path) }) {
			out = append(out, Change{Path: path, Kind: d.kind})
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// covers reports whether a violation says all that there is to say about a difference: it names the
// same field or one around it, or the part of it that matters. A container is more than its part: that
// one was added is said as well.
func covers(violation, difference string) bool {
	if within(difference, violation) {
		return true
	}
	return within(violation, difference) && !isContainer(difference)
}

// within reports whether a path is another, or lies below it.
func within(path, around string) bool {
	rest, ok := strings.CutPrefix(path, around)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// isContainer reports whether a path names a whole container.
func isContainer(path string) bool {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		name, ok := strings.CutPrefix(path, "spec."+list+"[")
		if ok && strings.IndexByte(name, ']') == len(name)-1 {
			return true
		}
	}
	return false
}
