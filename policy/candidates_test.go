package policy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for i := range e.candidates.always {
		e.candidates.always[i] = true
	}
	return e
}

// documents are the benchmark's Pod, every rule's examples, and real Pod specs where they are to be had, by name.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
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
	return documents
}

// TestCandidates demands that leaving rules out by the keys that they need never loses a finding: over every rule's
// examples, and over real Pod specs where they are to be had.
func TestCandidates(t *testing.T) {
	chosen, err := Default(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	every := everyRule(t)
	for name, data := range documents(t) {
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

// TestCandidatesByNeed holds the kinds of need, and those of a user, against documents.
func TestCandidatesByNeed(t *testing.T) {
	c := newCandidates(map[string]*ast.Location{"mine": nil})
	asked := func(spec map[string]any, unset ...*ast.Term) []string {
		s := c.of(map[string]any{"spec": spec})
		if !s.plain {
			t.Errorf("%v is not plain", spec)
		}
		var names []string
		c.list(s.found, map[string]any{"unset": map[string]any{"dropAll": ast.NewArray(unset...)}}).Foreach(func(rule *ast.Term) { names = append(names, string(rule.Value.(ast.String))) })
		return names
	}
	always := asked(nil)
	if !slices.Contains(always, "mine") || !slices.Contains(always, "session_unbounded") {
		t.Errorf("always asked are %v", always)
	}
	for _, unset := range [][]*ast.Term{nil, {ast.InternedEmptyObject}} {
		if got := slices.Contains(asked(nil, unset...), "capabilities_not_dropped"); got != (unset != nil) {
			t.Errorf("capabilities_not_dropped is asked about %v: %t", unset, got)
		}
	}
	for _, c := range []struct {
		spec map[string]any
		rule string
		want bool
	}{
		{map[string]any{"volumes": []any{map[string]any{"hostPath": nil}}}, "host_path", true},
		{map[string]any{"hostPID": true}, "host_namespace", true},
		{map[string]any{"hostPID": "true"}, "host_namespace", false},
		{map[string]any{"volumes": []any{map[string]any{"name": "kube-api-access-x"}}}, "kube_api_access_volume", true},
		{map[string]any{"volumes": []any{map[string]any{"name": "x-kube-api-access-"}}}, "kube_api_access_volume", false},
		{map[string]any{"volumes": []any{map[string]any{"name": true}}}, "kube_api_access_volume", false},
		{map[string]any{"x": map[string]any{"seccomp.security.alpha.kubernetes.io/pod": 1}}, "seccomp_annotation", true},
		{map[string]any{"seccomp.security.alpha.kubernetes.io": 1}, "seccomp_annotation", false},
	} {
		if got := slices.Contains(asked(c.spec), c.rule); got != c.want {
			t.Errorf("%s is asked about %v: %t", c.rule, c.spec, got)
		}
	}
}

// TestListsOfTheReading demands that every list that a rule needs is one of the reading: nobody would ask a rule that needs another.
func TestListsOfTheReading(t *testing.T) {
	session := map[string]any{}
	if err := addReview(session, map[string]any{}, defaultMainContainer, ""); err != nil {
		t.Fatal(err)
	}
	for _, use := range newCandidates(nil).byList {
		var at any = session
		for _, key := range use.path {
			at, _ = at.(map[string]any)[key]
		}
		if _, ok := at.(*ast.Array); !ok {
			t.Errorf("a rule needs kandev.%s, which is %T in the reading", strings.Join(use.path, "."), at)
		}
	}
}

// TestOtherValues evaluates documents whose values are of other kinds than a JSON reader gives.
func TestOtherValues(t *testing.T) {
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type spec struct {
		HostPID bool `json:"hostPID"`
	}
	for _, object := range []any{
		map[string]any{"spec": spec{true}},
		map[string]any{"spec": map[string]bool{"hostPID": true}},
		struct {
			Spec spec `json:"spec"`
		}{spec{true}},
	} {
		if got := about(findingsOf(t, e, Input{Object: object}), "host-namespace"); len(got) != 1 {
			t.Errorf("%T: %v", object, got)
		}
	}
}
