package policy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/rego"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// The folder as it stands is a policy for `opa eval -d policy` and `conftest test --policy policy`: every file loads,
// generated and test files too, and the verdicts are those of the evaluator.
func TestFolderStandsAlone(t *testing.T) {
	loaded, err := loader.NewFileLoader().WithRegoVersion(ast.RegoV1).WithProcessAnnotation(true).All([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := loaded.Compiler()
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(query string, input any) []any {
		result, err := rego.New(rego.Query(query), rego.Compiler(compiler), rego.Input(input)).Eval(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return result[0].Expressions[0].Value.([]any)
	}
	documents := []string{composedPod}
	for _, rule := range Catalogue() {
		documents = append(documents, rule.Bad, rule.Good)
	}
	for _, document := range documents {
		var input any
		if err := yaml.Unmarshal([]byte(document), &input); err != nil {
			t.Fatal(err)
		}
		var want, warnings, got, messages []string
		for _, f := range evalYAML(t, Input{}, document) {
			want = append(want, fmt.Sprint(f.Rule, f.Severity, f.Path, f.Container, f.Message, f.Remediation))
			if f.Severity == finding.Warning {
				warnings = append(warnings, fmt.Sprintf("%s: %s [%s]", f.Path, f.Message, f.Rule))
			}
		}
		for _, element := range evaluate("data.kandev.findings", input) {
			f := element.(map[string]any)
			got = append(got, fmt.Sprint(f["rule"], f["severity"], f["path"], f["container"], f["message"], f["remediation"]))
		}
		for _, element := range evaluate("data.main.warn", input) {
			messages = append(messages, element.(map[string]any)["msg"].(string))
		}
		for _, list := range [][]string{want, warnings, got, messages} {
			slices.Sort(list)
		}
		if !slices.Equal(got, want) {
			t.Errorf("opa sees %q, the evaluator %q", got, want)
		}
		if !slices.Equal(messages, warnings) {
			t.Errorf("conftest sees %q, the evaluator %q", messages, warnings)
		}
		if failures := evaluate("data.main.deny", input); len(failures) > 0 {
			t.Errorf("conftest fails on %v", failures)
		}
	}
}
