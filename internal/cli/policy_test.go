package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPolicyTest(t *testing.T) {
	const rules = "package main\ndeny contains \"no\" if input.kind == \"Pod\"\n"
	dir := write(t, map[string]string{
		"pass/x.rego": rules, "pass/x_test.rego": "package main_test\nimport data.main\ntest_no if main.deny with input as {\"kind\": \"Pod\"}\n",
		"fail/x.rego": rules, "fail/x_test.rego": "package main_test\nimport data.main\ntest_no if {\n\tprint(\"seen\", input)\n\tcount(main.deny) == 2 with input as {\"kind\": \"Pod\"}\n}\ntodo_test_later if false\n",
		"none/x.rego":                 rules,
		"broken/x.rego":               "package main\ndeny contains if\n",
		"empty/x":                     "",
		"here/.kandev-podlint.yaml":   "policies: [../pass]\n",
		"faulty/.kandev-podlint.yaml": "policies: [nowhere]\n",
	})
	t.Chdir(dir)
	for _, c := range []struct {
		line string
		want result
	}{
		{"policy test pass", result{0, "1 test: 1 passed\n", ""}},
		{"policy test pass -q", result{0, "", ""}},
		{"policy test pass -v", result{0, "pass/x_test.rego:3: PASS main_test.test_no\npass/x.rego: 100 % covered\n1 test: 1 passed\n", ""}},
		{"policy test none", result{2, "", "kandev-podlint: no unit test found in none: a test is a rule test_NAME in a file NAME_test.rego\n"}},
		{"policy test nowhere", result{2, "", "kandev-podlint: nowhere: no such file or directory\n"}},
		{"policy test empty", result{2, "", "kandev-podlint: empty: no Rego policy here\n"}},
	} {
		if diff := cmp.Diff(c.want, run(t, "", strings.Fields(c.line)...), cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.line, diff)
		}
	}
	r := run(t, "", "policy", "test", "fail")
	for _, want := range []string{"fail/x_test.rego:3: FAIL main_test.test_no\n  fail/x_test.rego:5:", "not true: count(main.deny) == 2", "  seen ", "1 failed"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("missing %q in\n%s", want, r.out)
		}
	}
	if r.code != ExitFindings || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := run(t, "", "policy", "test", "broken"); r.code != ExitUnusable || !strings.Contains(r.err, "broken/x.rego:2") {
		t.Errorf("%+v", r)
	}
}

// Without a directory, the pack's own tests and those that the configuration here names.
func TestPolicyTestHere(t *testing.T) {
	dir := write(t, map[string]string{
		"pass/x.rego": "package main\ndeny contains \"no\" if input.kind == \"Pod\"\n", "pass/x_test.rego": "package main_test\nimport data.main\ntest_no if main.deny with input as {\"kind\": \"Pod\"}\n",
		"here/.kandev-podlint.yaml": "policies: [../pass]\n", "faulty/.kandev-podlint.yaml": "policies: [nowhere]\n", "alone/.kandev-podlint.yaml": "",
	})
	count := func(where string) int {
		t.Chdir(dir)
		t.Chdir(where)
		r := run(t, "", "policy", "test", "--format", "json")
		var view testsView
		if err := json.Unmarshal([]byte(r.out), &view); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		if !view.Passed || r.code != 0 || view.Summary.Passed != len(view.Tests) || len(view.Coverage) == 0 {
			t.Errorf("%+v", view.Summary)
		}
		return len(view.Tests)
	}
	if alone, here := count("alone"), count("here"); alone < 20 || here != alone+1 {
		t.Errorf("%d tests in the pack, %d with the configuration's", alone, here)
	}
	t.Chdir(dir)
	t.Chdir("faulty")
	if r := run(t, "", "policy", "test"); r.code != ExitUnusable || !strings.Contains(r.err, ".kandev-podlint.yaml:1:12: policies[0]: nowhere") {
		t.Errorf("%+v", r)
	}
	t.Chdir("../alone")
	if r := run(t, "", "policy", "test", "--format", "yaml", "../pass"); r.code != 0 || !strings.Contains(r.out, "passed: true") {
		t.Errorf("%+v", r)
	}
}

func TestTestsSummary(t *testing.T) {
	s := testsSummary{}
	for range 2 {
		s.add("pass")
		s.add("fail")
		s.add("error")
		s.add("skip")
	}
	if got := s.String(); got != "8 tests: 2 passed, 2 failed, 2 could not be evaluated, 2 skipped" {
		t.Error(got)
	}
	if missed([]int{1, 2}) != ", not lines 1 2" {
		t.Error(missed([]int{1, 2}))
	}
}
