package cli

import (
	"fmt"
	"strings"

	"github.com/kandev/kandev-podlint/policy"
)

// testsView is what policy test prints as JSON. Durations are left out: two runs print the same bytes.
type testsView struct {
	SchemaVersion int            `json:"schemaVersion"`
	Passed        bool           `json:"passed"`
	Summary       testsSummary   `json:"summary"`
	Tests         []testView     `json:"tests"`
	Coverage      []coverageView `json:"coverage"`
}

type testsSummary struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errors  int `json:"errors"`
	Skipped int `json:"skipped"`
}

type testView struct {
	Package string         `json:"package"`
	Name    string         `json:"name"`
	File    string         `json:"file"`
	Line    int            `json:"line"`
	Verdict policy.Verdict `json:"verdict"`
	Message string         `json:"message,omitempty"`
	Output  string         `json:"output,omitempty"`
}

type coverageView struct {
	File    string `json:"file"`
	Covered int    `json:"covered"`
	Missed  []int  `json:"missed,omitempty"`
}

func viewTests(r *policy.TestReport) testsView {
	v := testsView{SchemaVersion: 1, Passed: r.Passed(), Tests: []testView{}, Coverage: []coverageView{}}
	for _, t := range r.Tests {
		v.Summary.add(t.Verdict)
		v.Tests = append(v.Tests, testView{t.Package, t.Name, t.File, t.Line, t.Verdict, t.Message, t.Output})
	}
	for _, c := range r.Coverage {
		v.Coverage = append(v.Coverage, coverageView{c.File, c.Covered, c.Missed})
	}
	return v
}

func (s *testsSummary) add(v policy.Verdict) {
	s.Tests++
	switch v {
	case policy.Pass:
		s.Passed++
	case policy.Fail:
		s.Failed++
	case policy.Errored:
		s.Errors++
	case policy.Skipped:
		s.Skipped++
	}
}

// String is the last line of the text: "12 tests: 10 passed, 1 failed, 1 skipped".
func (s testsSummary) String() string {
	parts := []string{fmt.Sprintf("%d passed", s.Passed)}
	for _, c := range []struct {
		n    int
		what string
	}{{s.Failed, "failed"}, {s.Errors, "could not be evaluated"}, {s.Skipped, "skipped"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	noun := "tests"
	if s.Tests == 1 {
		noun = "test"
	}
	return fmt.Sprintf("%d %s: %s", s.Tests, noun, strings.Join(parts, ", "))
}
