package policy

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

var update = flag.Bool("update", false, "write the files that are generated from the rules' METADATA")

// TestCatalogue holds the generated files against the METADATA of the rules; with -update it writes them.
func TestCatalogue(t *testing.T) {
	rules := annotatedRules(t)
	for name, want := range map[string][]byte{
		"catalogue_generated.go":   catalogueGo(t, rules),
		"conftest/severities.rego": severitiesRego(rules),
	} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the rules' METADATA says: run go generate ./policy", name)
		}
	}
}

// annotatedRule is a rule and the keys of which a document must hold one for the rule to find anything in it.
type annotatedRule struct {
	finding.Rule
	needs []string
}

// annotatedRules reads the rules from their METADATA, ordered by group and name.
func annotatedRules(t *testing.T) []annotatedRule {
	t.Helper()
	var rules []annotatedRule
	for _, name := range ruleFiles(t) {
		module, err := ast.ParseModuleWithOpts(name, readPack(t, name), ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, ruleOf(t, name, module))
	}
	slices.SortFunc(rules, func(a, b annotatedRule) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	return rules
}

// ruleFiles lists the pack's rules: rules/GROUP/NAME/NAME.rego.
func ruleFiles(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(pack, "rules/*/*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, isTest)
}

func readPack(t *testing.T, name string) string {
	t.Helper()
	source, err := pack.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// ruleOf reads one rule from the annotation of its package, and demands each part.
func ruleOf(t *testing.T, file string, module *ast.Module) annotatedRule {
	t.Helper()
	parts := module.Package.Path
	name := string(parts[len(parts)-1].Value.(ast.String))
	if want := fmt.Sprintf("data.kandev.rules.%s", name); parts.String() != want || path.Base(file) != name+".rego" || path.Base(path.Dir(file)) != name {
		t.Fatalf("%s holds package %s: file, folder and package must have one name", file, parts)
	}
	if len(module.Annotations) != 1 || module.Annotations[0].Scope != "package" {
		t.Fatalf("%s needs one METADATA block, above its package", file)
	}
	annotation := module.Annotations[0]
	text := func(key string) string {
		value, _ := annotation.Custom[key].(string)
		if strings.TrimSpace(value) == "" {
			t.Errorf("%s: METADATA lacks %s", file, key)
		}
		return strings.TrimSuffix(value, "\n")
	}
	rule := finding.Rule{
		Name: ruleName(name), Title: annotation.Title, Description: annotation.Description,
		Group: text("group"), Source: finding.Policy, Severity: finding.Severity(text("severity")),
		Remedy: text("remedy"), Bad: text("bad") + "\n", Good: text("good") + "\n", FalsePositives: text("false_positives"),
	}
	for _, related := range annotation.RelatedResources {
		rule.References = append(rule.References, related.Ref.String())
	}
	if pss, ok := annotation.Custom["pss"].(map[string]any); ok {
		rule.PSS = &finding.PSS{Level: pss["level"].(string), Check: pss["check"].(string)}
	}
	parameters, _ := annotation.Custom["parameters"].([]any)
	for _, parameter := range parameters {
		fields, _ := parameter.(map[string]any)
		name, _ := fields["name"].(string)
		description, _ := fields["description"].(string)
		if name == "" || description == "" {
			t.Errorf("%s: a parameter in METADATA lacks name or description", file)
		}
		rule.Parameters = append(rule.Parameters, finding.Parameter{Name: name, Description: description})
	}
	switch {
	case rule.Title == "", rule.Description == "", len(rule.References) == 0:
		t.Errorf("%s: METADATA lacks title, description or related_resources", file)
	case rule.Group != path.Base(path.Dir(path.Dir(file))):
		t.Errorf("%s: the group is %q but the folder another", file, rule.Group)
	case rule.Severity.Rank() == 0 || rule.Severity == finding.Error:
		t.Errorf("%s: severity %q; the pack warns or informs", file, rule.Severity)
	}
	annotated := annotatedRule{Rule: rule}
	keys, _ := annotation.Custom["needs"].([]any)
	for _, key := range keys {
		annotated.needs = append(annotated.needs, key.(string))
	}
	return annotated
}

// catalogueGo writes the rules as Go.
func catalogueGo(t *testing.T, rules []annotatedRule) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from the rules' METADATA by go generate; DO NOT EDIT.\n\npackage policy\n\n")
	b.WriteString("import \"github.com/kandev/kandev-podlint/pkg/compose/finding\"\n\nvar catalogue = []finding.Rule{\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "{\nName: %q,\nTitle: %q,\nGroup: %q,\nSource: finding.Policy,\nSeverity: %s,\nDescription: %q,\nRemedy: %q,\nBad: %s,\nGood: %s,\nFalsePositives: %q,\n",
			r.Name, r.Title, r.Group, map[finding.Severity]string{finding.Warning: "finding.Warning", finding.Info: "finding.Info"}[r.Severity],
			r.Description, r.Remedy, "`"+r.Bad+"`", "`"+r.Good+"`", r.FalsePositives)
		if r.PSS != nil {
			fmt.Fprintf(&b, "PSS: &finding.PSS{Level: %q, Check: %q},\n", r.PSS.Level, r.PSS.Check)
		}
		b.WriteString("References: []string{\n")
		for _, reference := range r.References {
			fmt.Fprintf(&b, "%q,\n", reference)
		}
		b.WriteString("},\n")
		if len(r.Parameters) > 0 {
			fmt.Fprintf(&b, "Parameters: %#v,\n", r.Parameters)
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n\n// needs lists, by a rule's package, keys of which a document must hold one for the rule to find anything in it.\n")
	b.WriteString("var needs = map[string][]string{\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "%q: {", strings.ReplaceAll(r.Name, "-", "_"))
		for _, key := range r.needs {
			fmt.Fprintf(&b, "%q, ", key)
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	source, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// severitiesRego writes the rules' severities for OPA and conftest, which read no METADATA.
func severitiesRego(rules []annotatedRule) []byte {
	var b bytes.Buffer
	b.WriteString("# Code generated from the rules' METADATA by go generate; DO NOT EDIT.\npackage kandev\n\nseverities := {\n")
	sorted := slices.Clone(rules)
	slices.SortFunc(sorted, func(a, b annotatedRule) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range sorted {
		fmt.Fprintf(&b, "\t%q: %q,\n", r.Name, r.Severity)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
