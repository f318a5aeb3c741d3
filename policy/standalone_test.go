package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// The folder as it stands is a policy for `opa eval -d policy` and `conftest test --policy policy`: every file loads,
// generated and test files too, and the verdicts of both programs are those of the evaluator.
func TestFolderStandsAlone(t *testing.T) {
	opa, conftest := buildTools(t)
	dir := t.TempDir()
	documents := map[string]string{}
	add := func(name, document string) {
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		documents[file] = document
	}
	add("composed", composedPod)
	for _, rule := range Catalogue() {
		add(rule.Name+"-bad", rule.Bad)
		add(rule.Name+"-good", rule.Good)
	}
	warned := runConftest(t, conftest, dir)
	if len(warned) != len(documents) {
		t.Errorf("conftest tested %d of %d documents", len(warned), len(documents))
	}
	for file, document := range documents {
		var want, warnings []string
		for _, f := range evalYAML(t, Input{}, document) {
			want = append(want, fmt.Sprint(f.Rule, f.Severity, f.Path, f.Container, f.Message, f.Remediation))
			if f.Severity == finding.Warning {
				warnings = append(warnings, fmt.Sprintf("%s: %s [%s]", f.Path, f.Message, f.Rule))
			}
		}
		slices.Sort(want)
		slices.Sort(warnings)
		if got := runOPA(t, opa, file); !slices.Equal(got, want) {
			t.Errorf("%s: opa sees %q, the evaluator %q", filepath.Base(file), got, want)
		}
		if got := warned[file]; !slices.Equal(got, warnings) {
			t.Errorf("%s: conftest sees %q, the evaluator %q", filepath.Base(file), got, warnings)
		}
	}
}

// buildTools builds opa and conftest from their modules, at the versions of tools/rego.
func buildTools(t *testing.T) (opa, conftest string) {
	t.Helper()
	if testing.Short() {
		t.Skip("building opa and conftest takes minutes at first")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-modfile", filepath.Join("..", "tools", "rego", "go.mod"), "-o", dir+string(filepath.Separator),
		"github.com/open-policy-agent/opa", "github.com/open-policy-agent/conftest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "opa"), filepath.Join(dir, "conftest")
}

// runOPA returns what opa finds in a file, a line each, sorted.
func runOPA(t *testing.T, opa, file string) []string {
	t.Helper()
	var output struct {
		Result []struct {
			Expressions []struct {
				Value []finding.Finding `json:"value"`
			} `json:"expressions"`
		} `json:"result"`
	}
	runJSON(t, &output, opa, "eval", "-d", ".", "-i", file, "data.kandev.findings")
	var found []string
	for _, f := range output.Result[0].Expressions[0].Value {
		found = append(found, fmt.Sprint(f.Rule, f.Severity, f.Path, f.Container, f.Message, f.Remediation))
	}
	slices.Sort(found)
	return found
}

// runConftest returns what conftest warns of in each file of a directory, sorted. Nothing may fail.
func runConftest(t *testing.T, conftest, dir string) map[string][]string {
	t.Helper()
	type result struct {
		Msg string `json:"msg"`
	}
	var output []struct {
		Filename string   `json:"filename"`
		Warnings []result `json:"warnings"`
		Failures []result `json:"failures"`
	}
	runJSON(t, &output, conftest, "test", "--policy", ".", "--output", "json", dir)
	warned := map[string][]string{}
	for _, file := range output {
		if len(file.Failures) > 0 {
			t.Errorf("conftest fails on %v", file.Failures)
		}
		warned[file.Filename] = []string{}
		for _, w := range file.Warnings {
			warned[file.Filename] = append(warned[file.Filename], w.Msg)
		}
		slices.Sort(warned[file.Filename])
	}
	return warned
}

// runJSON runs a program and decodes what it prints.
func runJSON(t *testing.T, into any, name string, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.Command(name, args...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(name), err, out, &stderr)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s printed no JSON: %v\n%s", filepath.Base(name), err, out)
	}
}
