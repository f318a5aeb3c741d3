package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// fromViolation puts a violation of a rule of pkg/compose in the form that is reported.
func fromViolation(v compose.Violation, d *compose.Document) finding.Finding {
	f := finding.Finding{
		Rule: v.Rule, Severity: v.Severity, Source: v.Source,
		Message: v.Detail, Remediation: v.Remedy, Container: v.Container,
	}
	if v.Path != nil {
		f.Path = v.Path.String()
	}
	at := v.Place
	if at.IsZero() && d != nil {
		at = d.Locate(f.Path)
	}
	setPlace(&f, at)
	return f
}

func setPlace(f *finding.Finding, r compose.Range) {
	f.Line, f.Column = r.Start.Line, r.Start.Column
	f.EndLine, f.EndColumn = r.End.Line, r.End.Column
}

// fingerprints gives every finding of one template a fingerprint that stays when lines or list
// positions move: rule and path, list items named rather than counted, and a number where both repeat.
func fingerprints(fs []finding.Finding, object map[string]any) {
	seen := map[string]int{}
	for i := range fs {
		key := fs[i].Rule + "\x00" + namedPath(fs[i].Path, object)
		n := seen[key]
		seen[key] = n + 1
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n)))
		fs[i].Fingerprint = hex.EncodeToString(sum[:16])
	}
}

// namedPath replaces each index of a path by the name of the item that it selects, where it has one.
func namedPath(path string, object map[string]any) string {
	var out strings.Builder
	var at any = object
	for path != "" {
		step := nextStep(path)
		path = path[len(step):]
		at, step = follow(at, step)
		out.WriteString(step)
	}
	return out.String()
}

// nextStep returns the first step of a path: ".name", "name" or "[...]".
func nextStep(path string) string {
	if path[0] == '[' {
		if end := strings.IndexByte(path, ']'); end >= 0 {
			return path[:end+1]
		}
		return path
	}
	if end := strings.IndexAny(path[1:], ".["); end >= 0 {
		return path[:end+1]
	}
	return path
}

// follow takes one step into a value and returns what is there and how to write the step.
func follow(at any, step string) (any, string) {
	name := strings.Trim(step, ".[]")
	switch at := at.(type) {
	case map[string]any:
		return at[name], step
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(at) {
			return nil, step
		}
		if m, ok := at[i].(map[string]any); ok {
			if s, ok := m["name"].(string); ok {
				return m, fmt.Sprintf("[%s]", s)
			}
		}
		return at[i], step
	}
	return nil, step
}
