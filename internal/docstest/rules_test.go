package docstest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// catalogue is every rule that has a page: those of linting, and those that only a comparison can break.
func catalogue() []finding.Rule {
	rules := lint.Rules()
	for _, r := range admission.Rules() {
		if _, known := lint.Rule(r.Name); !known {
			rules = append(rules, r)
		}
	}
	return rules
}

// compared reports whether only a comparison can break a rule, so that no template can be its example.
func compared(r finding.Rule) bool { return r.Group == "Admission" }

// TestRulePages holds docs/rules against the rules.
func TestRulePages(t *testing.T) {
	const dir = "docs/rules"
	want := map[string]string{"README.md": report.Index(catalogue())}
	for _, r := range catalogue() {
		want[r.Name+".md"] = report.Page(r)
	}
	for name, text := range want {
		same(t, filepath.Join(dir, name), []byte(text))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want[f.Name()] != "" {
			continue
		}
		if !*update {
			t.Errorf("%s/%s is of no rule", dir, f.Name())
		} else if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			t.Error(err)
		}
	}
}

// TestRuleTexts holds every rule to what its page needs.
func TestRuleTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range catalogue() {
		if seen[r.Name] {
			t.Errorf("%s: two rules of one name", r.Name)
		}
		seen[r.Name] = true
		for what, text := range map[string]string{"title": r.Title, "group": r.Group, "description": r.Description, "remedy": r.Remedy} {
			if text == "" || text != strings.TrimSpace(text) {
				t.Errorf("%s: the %s is empty or has space around it: %q", r.Name, what, text)
			}
		}
		if strings.HasSuffix(r.Title, ".") {
			t.Errorf("%s: the title is no sentence of a text: %q", r.Name, r.Title)
		}
		if !strings.HasSuffix(r.Description, ".") || !strings.HasSuffix(r.Remedy, ".") {
			t.Errorf("%s: description and remedy end with a full stop", r.Name)
		}
		page := report.Page(r)
		for _, heading := range headings(r) {
			if !strings.Contains(page, "\n## "+heading+"\n") {
				t.Errorf("%s: the page has no %q", r.Name, heading)
			}
		}
	}
}

// headings are those that a rule's page has at least.
func headings(r finding.Rule) []string {
	if compared(r) {
		return []string{"Why", "How to fix", "How to suppress"}
	}
	return []string{"Why", "Avoid", "Prefer", "How to fix", "How to suppress"}
}

// withoutExample are the rules whose example no file can hold.
var withoutExample = map[string]bool{
	compose.RuleDocumentSize: true, // TestLargeDocument
	lint.RuleUnreadable:      true, // TestUnreadableFile
	lint.RulePolicyFailed:    true, // TestFailingPolicy
}

// TestExamples lints each rule's examples: Avoid breaks the rule, Prefer does not and has no error either.
func TestExamples(t *testing.T) {
	for _, r := range catalogue() {
		if compared(r) {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			good := lintExample(t, r, r.Good)
			if has(good, r.Name) {
				t.Errorf("Prefer breaks the rule:\n%s", r.Good)
			}
			for _, f := range good {
				if f.Severity == finding.Error {
					t.Errorf("Prefer has an error: %s [%s]", f.Message, f.Rule)
				}
			}
			if !withoutExample[r.Name] && !has(lintExample(t, r, r.Bad), r.Name) {
				t.Errorf("Avoid does not break the rule:\n%s", r.Bad)
			}
		})
	}
}

// lintExample lints an example: a template, or a configuration with a template below it.
func lintExample(t *testing.T, r finding.Rule, example string) []finding.Finding {
	t.Helper()
	if !strings.HasPrefix(example, "# "+configName+"\n") {
		l := linter
		if r.Source == finding.Deployment {
			l = lint.New(lint.Options{Deployable: true})
		}
		return lintBytes(t, l, "example.yaml", []byte(example))
	}
	host, _ := lint.Rule("host-namespace")
	dir := t.TempDir()
	write(t, filepath.Join(dir, configName), example)
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tools", "template.yaml")
	write(t, file, host.Bad)
	return lintPath(t, linter, file)
}

func TestLargeDocument(t *testing.T) {
	r, _ := lint.Rule(compose.RuleDocumentSize)
	pad := strings.Repeat("# padding\n", compose.MaxTemplateBytes/10+1)
	if !has(lintBytes(t, linter, "large.yaml", []byte(r.Good+pad)), r.Name) {
		t.Error("a large template does not break the rule")
	}
}

func TestUnreadableFile(t *testing.T) {
	if !has(lintPath(t, linter, filepath.Join(t.TempDir(), "absent.yaml")), lint.RuleUnreadable) {
		t.Error("a file that is not there does not break the rule")
	}
}

func TestFailingPolicy(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "policy.rego"), `package main

image(name) := "a" if startswith(name, "kandev")

image(name) := "b" if endswith(name, "agent")

deny contains image(c.name) if some c in input.template.spec.containers
`)
	file := filepath.Join(dir, "template.yaml")
	r, _ := lint.Rule(lint.RulePolicyFailed)
	write(t, file, r.Good)
	if !has(lintPath(t, lint.New(lint.Options{Policies: []string{dir}}), file), r.Name) {
		t.Error("a policy that fails does not break the rule")
	}
}

// lintBytes lints a named file's content.
func lintBytes(t *testing.T, l *lint.Linter, name string, content []byte) []finding.Finding {
	t.Helper()
	results, err := l.Bytes(t.Context(), name, content, true)
	if err != nil {
		t.Fatal(err)
	}
	return findings(results)
}

func lintPath(t *testing.T, l *lint.Linter, path string) []finding.Finding {
	t.Helper()
	var results []lint.FileResult
	err := l.Paths(t.Context(), []string{path}, func(r lint.FileResult) error {
		results = append(results, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return findings(results)
}

// linter lints every example, so that the pack is compiled once.
var linter = lint.New(lint.Options{})

func findings(results []lint.FileResult) []finding.Finding {
	var out []finding.Finding
	for _, r := range results {
		out = append(out, r.Findings...)
	}
	return out
}

func has(fs []finding.Finding, rule string) bool {
	return slices.ContainsFunc(fs, func(f finding.Finding) bool { return f.Rule == rule })
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
