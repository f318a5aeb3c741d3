package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// badExample is a rule's bad example; that of the size limit is too large to print.
func badExample(r finding.Rule) string {
	if r.Name == RuleDocumentSize {
		return goodTemplate + strings.Repeat("#", MaxTemplateBytes)
	}
	return r.Bad
}

func TestBadExamplesFireTheirRule(t *testing.T) {
	for _, r := range Rules() {
		got := findings([]byte(badExample(r)))
		if r.Source == finding.Deployment {
			got = Deployable(spec(t, r.Bad), Profile{})
		}
		if !slices.Contains(rulesOf(got), r.Name) {
			t.Errorf("%s: its bad example yields %v", r.Name, got)
		}
		for _, v := range got {
			if v.Rule == r.Name && r.Name != RuleOwnedPathAncestor && (v.Severity != r.Severity || v.Source != r.Source) {
				t.Errorf("%s: %s of source %s, want %s of %s", r.Name, v.Severity, v.Source, r.Severity, r.Source)
			}
		}
	}
}

func TestGoodExamplesFireNothing(t *testing.T) {
	for _, r := range Rules() {
		if got := findings([]byte(r.Good)); len(got) > 0 {
			t.Errorf("%s: its good example yields %v", r.Name, got)
		}
	}
}

func TestRulesAreDescribed(t *testing.T) {
	names := map[string]bool{}
	last := ""
	for _, r := range Rules() {
		if names[r.Name] || r.Name < last {
			t.Errorf("%s stands twice or out of order", r.Name)
		}
		names[r.Name], last = true, r.Name
		for what, text := range map[string]string{
			"title": r.Title, "group": r.Group, "source": string(r.Source), "severity": string(r.Severity),
			"description": r.Description, "remedy": r.Remedy, "bad": r.Bad, "good": r.Good,
		} {
			if text == "" {
				t.Errorf("%s has no %s", r.Name, what)
			}
		}
	}
}

// TestMessages keeps what a person reads in one file, for review.
func TestMessages(t *testing.T) {
	var b strings.Builder
	for _, text := range messageExamples() {
		for _, v := range findings([]byte(text)) {
			fmt.Fprintf(&b, "%s: %d:%d-%d:%d %v\n  %s\n  %s\n", v.Rule, v.Place.Start.Line, v.Place.Start.Column,
				v.Place.End.Line, v.Place.End.Column, v.Path, v.Detail, v.Remedy)
		}
	}
	golden(t, "messages.txt", b.String())
}

func messageExamples() []string {
	var out []string
	for _, r := range Rules() {
		out = append(out, badExample(r))
	}
	for _, row := range rejected {
		out = append(out, row.text)
	}
	for _, row := range refused {
		if len(row.text) > 10_000 {
			continue
		}
		out = append(out, row.text)
	}
	return out
}
