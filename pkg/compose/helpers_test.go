package compose

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// errorsOf keeps the errors among violations.
func errorsOf(violations []Violation) []Violation {
	var out []Violation
	for _, v := range violations {
		if v.Severity == finding.Error {
			out = append(out, v)
		}
	}
	return out
}

func rulesOf(violations []Violation) []string {
	out := []string{}
	for _, v := range violations {
		out = append(out, v.Rule)
	}
	return out
}

// findings reads a template or profile as the linter does, and returns everything that it breaks.
func findings(data []byte) []Violation {
	kind, _, violations := Recognize(data)
	if kind != KindProfile {
		tmpl, violations := ParseTemplate(data)
		return everything(tmpl, violations, Profile{})
	}
	p, more := ParseProfile(data)
	violations = append(violations, more...)
	if p == nil || p.Template == nil {
		return violations
	}
	tmpl, more := p.Template.Template()
	return everything(tmpl, append(violations, more...), p.Profile)
}

func everything(t *Template, violations []Violation, p Profile) []Violation {
	if t == nil {
		return violations
	}
	for _, v := range append(t.Style, t.Validate(p)...) {
		if v.Place.IsZero() {
			v.Place = t.Document.Locate(v.Path.String())
		}
		violations = append(violations, v)
	}
	return violations
}

// slice returns the text of a range, as an editor counts.
func slice(data []byte, r Range) (string, error) {
	lines := strings.SplitAfter(string(trimBOM(data)), "\n")
	offset := func(p Place) (int, error) {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 {
			return 0, fmt.Errorf("no place %v", p)
		}
		at := 0
		for _, l := range lines[:p.Line-1] {
			at += len(l)
		}
		line := []rune(strings.TrimSuffix(lines[p.Line-1], "\n"))
		if p.Column > len(line)+1 {
			return 0, fmt.Errorf("place %v is past its line", p)
		}
		return at + len(string(line[:p.Column-1])), nil
	}
	start, err := offset(r.Start)
	if err != nil {
		return "", err
	}
	end, err := offset(r.End)
	if err != nil {
		return "", err
	}
	if end < start {
		return "", fmt.Errorf("range %v ends before it starts", r)
	}
	return string(trimBOM(data))[start:end], nil
}

func trimBOM(data []byte) []byte {
	return []byte(strings.TrimPrefix(string(data), string(utf8BOM)))
}
