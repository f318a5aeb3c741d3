package policy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// write makes a directory of files, given as name and content in turn.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// evalUser evaluates policies over a Pod with one container and returns their findings, without the pack's.
func evalUser(t *testing.T, paths ...string) ([]finding.Finding, error) {
	t.Helper()
	e, err := New(t.Context(), Options{Policies: paths})
	if err != nil {
		return nil, err
	}
	findings, err := e.Eval(t.Context(), Input{MainContainer: "agent", Object: map[string]any{
		"spec": map[string]any{"hostPID": true, "containers": []any{map[string]any{"name": "agent", "image": "x"}}},
	}})
	if err == nil && len(about(findings, "host-namespace")) != 1 {
		t.Error("the pack was not evaluated beside the user's policies")
	}
	return slices.DeleteFunc(findings, func(f finding.Finding) bool { return f.Source != finding.User }), err
}

func TestUserPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  []finding.Finding
	}{
		"strings": {
			[]string{"a.rego", "package main\n\ndeny contains \"no\"\nviolation_x contains \"never\"\nwarn contains \"careful\""},
			[]finding.Finding{
				{Rule: "deny", Severity: finding.Error, Message: "no"},
				{Rule: "violation-x", Severity: finding.Error, Message: "never"},
				{Rule: "warn", Severity: finding.Warning, Message: "careful"},
			},
		},
		"objects": {
			[]string{"a.rego", `package main
deny contains {"msg": "image", "path": "spec.containers[0].image", "rule": "pinned-images", "remediation": "pin it", "container": c.name, "details": {}, 1: 2} if {
	some c in input.spec.containers
	c.name == input.kandev.mainContainer
}
deny contains {"message": "so so", "severity": "info"}`},
			[]finding.Finding{
				{Rule: "deny", Severity: finding.Info, Message: "so so"},
				{Rule: "pinned-images", Severity: finding.Error, Message: "image", Path: "spec.containers[0].image", Remediation: "pin it", Container: "agent"},
			},
		},
		"the pack's own shape and library": {
			[]string{"a.rego", `package kandev.rules.own_images
import data.kandev.lib.paths
findings contains {"message": sprintf("image %s", [paths.clean(input.kandev.specs[c.path].image)]), "path": sprintf("%s.image", [c.path])} if some c in input.kandev.containers`},
			[]finding.Finding{{Rule: "own-images", Severity: finding.Warning, Message: "image /x/", Path: "spec.containers[0].image"}},
		},
		"an array, a data file, a library, a test and a hidden directory": {
			[]string{
				"a.rego", "package main\nimport data.words\nimport data.company.names\nwarn := [sprintf(\"%s %s\", [words.w, names.n])]",
				"lib/names.rego", "package company.names\nn := \"n\"",
				"words/data.yaml", "w: w",
				"other.yaml", "broken: [",
				"a_test.rego", "package main\ndeny contains \"from a test\"",
				".git/x.rego", "broken",
			},
			[]finding.Finding{{Rule: "warn", Severity: finding.Warning, Message: "w n"}},
		},
		"an undefined rule": {[]string{"a.rego", "package main\ndeny contains \"x\" if input.absent\nwarn := 7 if input.absent"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := evalUser(t, write(t, c.files...))
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.want {
				c.want[i].Source = finding.User
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestUserPolicyFileAndSeveralPlaces(t *testing.T) {
	one := filepath.Join(write(t, "a.rego", "package main\nwarn contains \"a\""), "a.rego")
	two := write(t, "deep/er/b.rego", "package main\nwarn contains \"b\"")
	if got, err := evalUser(t, one, two); err != nil || len(got) != 2 {
		t.Errorf("got %v %v", got, err)
	}
}

func TestBrokenPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  []string // within each problem, in order
	}{
		"syntax":           {[]string{"a.rego", "package main\n\ndeny contains {"}, []string{"a.rego:3:", "a.rego:3:"}},
		"two files":        {[]string{"a.rego", "package main\ndeny[", "b.rego", "pakcage main"}, []string{"a.rego:2:", "a.rego:2:", "b.rego:1:", "b.rego:1:"}},
		"old syntax":       {[]string{"a.rego", "package main\ndeny[msg] { msg := \"x\" }"}, []string{"a.rego:2:1: `contains` keyword is required", "a.rego:2:1: `if` keyword is required"}},
		"unknown function": {[]string{"a.rego", "package main\ndeny contains f(1)"}, []string{"a.rego:2:15: undefined function f"}},
		"unsafe variable":  {[]string{"a.rego", "package main\ndeny contains x"}, []string{"a.rego:2:"}},
		"type":             {[]string{"a.rego", "package main\ndeny contains upper(7)"}, []string{"a.rego:2:"}},
		"network":          {[]string{"a.rego", "package main\ndeny contains http.send({}).body"}, []string{"a.rego:2:15: unsafe built-in function calls in expression: http.send"}},
		"environment":      {[]string{"a.rego", "package main\ndeny contains opa.runtime().env.HOME"}, []string{"opa.runtime"}},
		"chance":           {[]string{"a.rego", "package main\ndeny contains uuid.rfc4122(\"x\")"}, []string{"uuid.rfc4122"}},
		"schema":           {[]string{"a.rego", "package main\ndeny contains \"x\" if json.match_schema(input, {})"}, []string{"json.match_schema"}},
		"recursion":        {[]string{"a.rego", "package main\ndeny contains x if some x in deny"}, []string{"a.rego:2:"}},
		"the pack's rule":  {[]string{"a.rego", "package kandev.rules.host_path\nfindings contains 1"}, []string{"a.rego:1:1: package kandev.rules.host_path is the pack's own; choose another name"}},
		"the pack's lib":   {[]string{"a.rego", "package kandev.lib.paths\nx := 1"}, []string{"package kandev.lib.paths is the pack's own"}},
		"no Rego":          {[]string{"a.txt", "x"}, []string{"no Rego policy here"}},
		"tests only":       {[]string{"a_test.rego", "package main\ndeny contains 1"}, []string{"no Rego policy here"}},
		"no entry point":   {[]string{"a.rego", "package main\nwarning contains 1"}, []string{"no policy here yields a finding"}},
		"other package":    {[]string{"a.rego", "package mine\ndeny contains 1"}, []string{"no policy here yields a finding"}},
		"broken data":      {[]string{"a.rego", "package main\ndeny contains 1", "data.json", "{"}, []string{"data.json: "}},
		"data and rules":   {[]string{"a.rego", "package main\ndeny contains 1", "main/data.json", `{"deny": 1}`}, []string{"a.rego:2:1: "}},
	} {
		t.Run(name, func(t *testing.T) { wantProblems(t, write(t, c.files...), c.want) })
	}
}

// Faults that only show when policies are evaluated.
func TestFailingPolicies(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"conflict":          {"package main\nx := 1 if input.spec\nx := 2 if input.spec\ndeny contains sprintf(\"%d\", [x])", "a.rego:3:1: rule data.main.x produced conflicting values"},
		"number":            {"package main\n\ndeny contains 7", "a.rego:3:1: a finding is a number; it must be a string or an object with msg"},
		"boolean":           {"package main\n\ndeny := true", "a.rego:3:1: the rule is a boolean; it must be a set of findings"},
		"object":            {"package main\n\ndeny := {\"msg\": \"x\"}", "a.rego:3:1: the rule is an object; it must be a set of findings"},
		"no message":        {"package main\n\ndeny contains {\"path\": \"spec\"}", "a.rego:3:1: a finding has no message: give it msg"},
		"message of a kind": {"package main\n\ndeny contains {\"msg\": null}", "a.rego:3:1: a finding's msg is null; it must be a string"},
		"severity":          {"package main\n\ndeny contains {\"msg\": \"x\", \"severity\": \"fatal\"}", `a.rego:3:1: a finding's severity is "fatal"; it must be error, warning or info`},
		"pack's shape":      {"package kandev.rules.mine\n\nfindings contains 7", "a.rego:1:1: a finding is a number"},
	} {
		t.Run(name, func(t *testing.T) { wantProblems(t, write(t, "a.rego", c.source), []string{c.want}) })
	}
}

func TestMissingPolicies(t *testing.T) {
	wantProblems(t, filepath.Join(t.TempDir(), "absent"), []string{"absent"})
	wantProblems(t, t.TempDir(), []string{"no Rego policy here"})
}

// wantProblems evaluates policies and holds the problems against what each is to say.
func wantProblems(t *testing.T, path string, want []string) {
	t.Helper()
	_, err := evalUser(t, path)
	policyErr, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("no *Error but %v", err)
	}
	if policyErr.Error() == "" || len(policyErr.Problems) != len(want) {
		t.Fatalf("%d problems, want %d: %v", len(policyErr.Problems), len(want), err)
	}
	for i, problem := range policyErr.Problems {
		if !strings.Contains(problem.String(), want[i]) {
			t.Errorf("problem %q says nothing of %q", problem, want[i])
		}
	}
}

func TestUserTests(t *testing.T) {
	dir := write(t,
		"a.rego", "package main\n\ndeny contains \"x\" if input.a\n\ndeny contains \"y\" if {\n\tinput.b\n}\n",
		"a_test.rego", `package main_test

import data.kandev.lib.fixtures
import data.main

test_a if "x" in main.deny with input as {"a": true}

test_wrong if {
	print("deny is", main.deny)
	main.deny == {"z"}
}

test_conflict if f(1) == 1

f(1) := 1
f(x) := 2 if x == 1

todo_test_later if false
`)
	report, err := Test(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, result := range report.Tests {
		message, _, _ := strings.Cut(strings.TrimPrefix(result.Message, dir+"/"), "\n")
		got = append(got, strings.Join([]string{result.Name, string(result.Verdict), message, result.Output}, "|"))
	}
	want := []string{
		"test_a|pass||",
		"test_wrong|fail|a_test.rego:10:2: not true: main.deny == {\"z\"}|deny is set()\n",
		"test_conflict|error|a_test.rego:16:1: function data.main_test.f produced conflicting values for the same inputs:|",
		"todo_test_later|skip|skipped|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if report.Passed() {
		t.Error("passed")
	}
	if len(report.Coverage) != 1 || !slices.Equal(report.Coverage[0].Missed, []int{5, 6}) || report.Coverage[0].Percent() <= 0 || report.Coverage[0].Percent() >= 100 {
		t.Errorf("coverage %+v", report.Coverage)
	}
}

func TestBrokenTests(t *testing.T) {
	for _, files := range [][]string{
		{"a.rego", "package main\ndeny["},
		{"a_test.rego", "package main\ntest_x if f(1)"},
		{"a.rego", "package kandev.rules.host_path"},
		{},
	} {
		if _, err := Test(t.Context(), write(t, files...)); err == nil {
			t.Errorf("%v: no error", files)
		} else if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%v: no *Error but %T", files, err)
		}
	}
}

func TestUserTestsOfOneNameAndWithCases(t *testing.T) {
	report, err := Test(t.Context(), write(t,
		"a.rego", "package main\n\ndeny := set()\n",
		"a_test.rego", `package a_test

test_same if 1 == 2

test_same if 1 == 1

test_cases[name] if some name in ["a", "b"]

test_cases[name] if name := "c"

test_no_cases[name] if some name in []

test_undefined := input.absent
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, result := range report.Tests {
		got = append(got, result.Name+" "+string(result.Verdict))
	}
	want := []string{"test_same fail", "test_same#01 pass", "test_cases pass", "test_no_cases fail", "test_undefined fail"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTestsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Test(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDataOfSeveralPlaces(t *testing.T) {
	policy := "package main\nwarn contains sprintf(\"%v\", [data.team])"
	one := write(t, "a.rego", policy, "data.yaml", "team: {a: 1}", "team/data.json", `{"b": 2}`)
	two := write(t, "b.rego", "package b", "team/data.yml", "c: 3")
	got, err := evalUser(t, one, two)
	if err != nil || len(got) != 1 || got[0].Message != `{"a": 1, "b": 2, "c": 3}` {
		t.Errorf("got %v %v", got, err)
	}
	three := write(t, "c.rego", "package c", "team/data.yml", "a: {x: 1}")
	if _, err := evalUser(t, one, three); err == nil || !strings.Contains(err.Error(), "data.a is set twice") && !strings.Contains(err.Error(), "a is set twice") {
		t.Errorf("got %v", err)
	}
}
