package policy

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// evalYAML evaluates the pack over a document, as the command line would.
func evalYAML(t *testing.T, in Input, document string) []finding.Finding {
	t.Helper()
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(document), &in.Object); err != nil {
		t.Fatal(err)
	}
	findings, err := e.Eval(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// about returns the findings of one rule.
func about(findings []finding.Finding, rule string) []finding.Finding {
	var found []finding.Finding
	for _, f := range findings {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	return found
}

func TestExamples(t *testing.T) {
	for _, rule := range Catalogue() {
		t.Run(rule.Name, func(t *testing.T) {
			fired := about(evalYAML(t, Input{}, rule.Bad), rule.Name)
			if len(fired) == 0 {
				t.Fatal("the bad example passes")
			}
			for _, f := range fired {
				if f.Severity != rule.Severity || f.Source != finding.Policy || f.Message == "" || f.Remediation == "" || f.Path == "" {
					t.Errorf("incomplete finding %+v", f)
				}
				if (f.PSS == nil) != (rule.PSS == nil) {
					t.Errorf("PSS is %v, the rule's %v", f.PSS, rule.PSS)
				}
			}
			if fired := about(evalYAML(t, Input{}, rule.Good), rule.Name); len(fired) > 0 {
				t.Errorf("the good example fails: %+v", fired)
			}
		})
	}
}

// eachModule calls f for every Rego file of this folder, those for opa and conftest too.
func eachModule(t *testing.T, f func(name, source string)) {
	t.Helper()
	here := os.DirFS(".")
	err := fs.WalkDir(here, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".rego" {
			return err
		}
		source, err := fs.ReadFile(here, name)
		f(name, string(source))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPackIsFormatted(t *testing.T) {
	eachModule(t, func(name, source string) {
		want, err := format.SourceWithOpts(name, []byte(source), format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != source {
			t.Errorf("%s is not as opa fmt writes it", name)
		}
	})
}

func TestEveryRuleHasTests(t *testing.T) {
	for _, name := range ruleFiles(t) {
		if _, err := fs.Stat(pack, strings.TrimSuffix(name, ".rego")+"_test.rego"); err != nil {
			t.Errorf("%s has no tests beside it: %v", name, err)
		}
	}
}

// Hot paths neither walk the whole document nor match regular expressions, and nothing reaches outside. Beside a Docker
// engine, which few Pods have, an expression over its command line is cheaper than taking the line apart.
func TestPackCallsNothingSlowOrUnsafe(t *testing.T) {
	banned := regexp.MustCompile(`\b(walk|regex\.\w+|glob\.\w+|http\.send|opa\.runtime|time\.\w+|rand\.\w+)\(`)
	eachModule(t, func(name, source string) {
		call := banned.FindString(source)
		if docker := strings.Contains(name, "docker"); docker && strings.HasPrefix(call, "regex.") {
			return
		}
		if call != "" && isEvaluated(name) {
			t.Errorf("%s calls %s", name, call)
		}
	})
}

// The pack is compiled without the checks of provenStages; here they are made, strictly.
func TestPackCompilesStrictly(t *testing.T) {
	for _, wanted := range []func(string) bool{isEvaluated, func(string) bool { return true }} {
		modules, err := packModules(wanted)
		if err != nil {
			t.Fatal(err)
		}
		compiler := ast.NewCompiler().WithStrict(true).WithUnsafeBuiltins(unsafeBuiltins()) //nolint:staticcheck // a capability left out is only "undefined"; this says that the built-in is unsafe
		if compiler.Compile(modules); compiler.Failed() {
			t.Fatal(compiler.Errors)
		}
	}
}

// withoutComments leaves the same module at the same places.
func TestWithoutCommentsKeepsTheModule(t *testing.T) {
	eachModule(t, func(name, source string) {
		whole := ast.MustParseModuleWithOpts(source, ast.ParserOptions{RegoVersion: ast.RegoV1})
		bare := ast.MustParseModuleWithOpts(withoutComments([]byte(source)), ast.ParserOptions{RegoVersion: ast.RegoV1})
		if !whole.Equal(bare) {
			t.Errorf("%s differs without its comments", name)
		}
		for i, rule := range whole.Rules {
			if at := bare.Rules[i].Location; rule.Location.Row != at.Row || rule.Location.Col != at.Col {
				t.Errorf("%s: rule %d has moved from %v to %v", name, i, rule.Location, at)
			}
		}
	})
}
