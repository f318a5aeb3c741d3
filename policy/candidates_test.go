package policy

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// everyRule returns an evaluator that asks every rule about every document.
func everyRule(t *testing.T) *Evaluator {
	t.Helper()
	e, err := New(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := &candidates{}
	for name := range needs {
		all.always = append(all.always, ast.StringTerm(name))
	}
	e.candidates = all
	return e
}

// TestCandidates demands that leaving rules out by the keys that they need never loses a finding: over every rule's
// examples, and over real Pod specs where they are to be had.
func TestCandidates(t *testing.T) {
	chosen, err := Default(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	every := everyRule(t)
	documents := map[string][]byte{"composed": []byte(composedPod)}
	for _, r := range Catalogue() {
		documents[r.Name+" bad"], documents[r.Name+" good"] = []byte(r.Bad), []byte(r.Good)
	}
	files, err := filepath.Glob(filepath.Join(corpusDir(), "raw", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if documents[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range documents {
		var in Input
		if err := yaml.Unmarshal(data, &in.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, got := findingsOf(t, every, in), findingsOf(t, chosen, in)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -every rule +candidates\n%s", name, diff)
		}
	}
}

func findingsOf(t *testing.T, e *Evaluator, in Input) []finding.Finding {
	t.Helper()
	findings, err := e.Eval(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// TestCandidatesOfOtherValues asks every rule where the keys cannot be seen.
func TestCandidatesOfOtherValues(t *testing.T) {
	c := newCandidates(map[string]*ast.Location{"mine": nil})
	object := map[string]any{"spec": struct {
		HostPID bool `json:"hostPID"`
	}{true}}
	if got, want := c.of(object).Value.(*ast.Array).Len(), len(needs)+1; got != want {
		t.Errorf("%d rules are asked about a document of other types, want all %d", got, want)
	}
}
