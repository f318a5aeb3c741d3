package compose

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	nodes "go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// checkPlace holds a violation's place against the text: it lies in the text, and what stands there is the
// key or value that the path names, or the nearest parent that the document holds.
func checkPlace(data []byte, v Violation) error {
	text, err := slice(data, v.Place)
	if err != nil || v.Path == nil {
		return err
	}
	switch v.Rule {
	case RuleDocumentKey, RuleDocumentBoolean, RuleDocumentSyntax, RuleDocumentAliases: // these stand at a key or value that the path does not end in
		return nil
	}
	if text == "" && v.Path != nil && !strings.HasSuffix(v.Path.String(), "]") && len(data) > 0 {
		return fmt.Errorf("%v stands at nothing, %v", v, v.Place)
	}
	if names(text, v.Path.String()) || text != "" && strings.Contains(v.Detail, text) {
		return nil
	}
	return fmt.Errorf("%v stands at %q", v, text)
}

// names reports whether a piece of a document is what a path, or the path of a parent, names.
func names(text, path string) bool {
	key := keyIn(text)
	for path != "" {
		last := lastName(path)
		if strings.HasPrefix(last, "[") {
			if inner := strings.Trim(last, "[]"); inner == key || isDigits(inner) {
				return true // a list item can be anything
			}
		}
		if last == key || strings.HasSuffix(last, "["+key+"]") {
			return true
		}
		if i := strings.IndexByte(last, '['); i > 0 {
			return true
		}
		path = strings.TrimSuffix(strings.TrimSuffix(path, last), ".")
	}
	return false
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// keyIn is the key that a piece of a document starts with, or the whole piece where it is one word.
func keyIn(text string) string {
	text = strings.ReplaceAll(text, ": *", ": ")
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err == nil && len(m) == 1 {
		for k := range m {
			return k
		}
	}
	// A value that JSON or block style does not allow (.inf, -) still has a key.
	var n nodes.Node
	if err := nodes.Unmarshal([]byte("{"+text+"}"), &n); err == nil && len(n.Content[0].Content) == 2 && n.Content[0].Content[1].Value != "" {
		return n.Content[0].Content[0].Value
	}
	var s any
	if err := yaml.Unmarshal([]byte(text), &s); err == nil {
		return fmt.Sprint(s)
	}
	return text
}

// examples are the bad and good examples of every rule, and the templates of the reports.
func examples() map[string]string {
	out := map[string]string{}
	for _, r := range Rules() {
		out[r.Name+"/bad"], out[r.Name+"/good"] = r.Bad, r.Good
	}
	files, _ := filepath.Glob(filepath.Join("testdata", "places", "*.yaml"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil {
			out[filepath.Base(f)] = string(data)
		}
	}
	return out
}

// rewrites turn a template into another text with the same content.
var rewrites = map[string]func(string) string{
	"as it stands": func(s string) string { return s },
	"BOM":          func(s string) string { return string(utf8BOM) + s },
	"CRLF":         func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"CR":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	"NEL":          func(s string) string { return strings.ReplaceAll(s, "\n", "\u0085") },
	"LS":           func(s string) string { return strings.ReplaceAll(s, "\n", "\u2028") },
	"comments": func(s string) string {
		return "# é😀: &a *b 'x\n" + strings.ReplaceAll(s, "\n", " # e\u0301 \"😀\n\n    # y: z\n")
	},
	"after a wide key": func(s string) string { return "metadata: {annotations: {\"é😀\": \"ü\"}}\n" + s },
	"separator":        func(s string) string { return "%YAML 1.1\n--- # template\n" + s },
	"JSON":             func(s string) string { return asJSON(s, "") },
	"indented JSON":    func(s string) string { return asJSON(s, "\t") },
	"wide JSON": func(s string) string {
		return strings.Replace(asJSON(s, ""), "{", `{"metadata":{"annotations":{"é😀":"ü"}},`, 1)
	},
}

// asJSON converts a text that is one YAML object; any other stays as it is.
func asJSON(s, indent string) string {
	b, err := yaml.YAMLToJSONStrict([]byte(s))
	if err != nil || !strings.HasPrefix(string(b), "{") {
		return s
	}
	if indent != "" {
		var v any
		if json.Unmarshal(b, &v) == nil {
			b, _ = json.MarshalIndent(v, "", indent)
		}
	}
	return string(b)
}

func TestPlacesInExamples(t *testing.T) {
	for rewrite, f := range rewrites {
		for name, text := range examples() {
			if name == RuleDocumentSize+"/bad" || name == RuleDocumentEmpty+"/bad" {
				continue // rewritten, they are no templates at all
			}
			data := []byte(f(text))
			for _, v := range findings(data) {
				if err := checkPlace(data, v); err != nil {
					t.Errorf("%s, %s: %v", name, rewrite, err)
				}
			}
		}
	}
}

func TestRewritesKeepTheFindings(t *testing.T) {
	for name, text := range examples() {
		if strings.HasPrefix(name, "document-") || strings.HasPrefix(name, "profile-") {
			continue
		}
		want := fmt.Sprint(rulesOf(findings([]byte(text))))
		for rewrite, f := range rewrites {
			if got := fmt.Sprint(rulesOf(findings([]byte(f(text))))); got != want {
				t.Errorf("%s, %s: %s, want %s", name, rewrite, got, want)
			}
		}
	}
}

func TestPlacesInRandomDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(drawDocument(t))
		for _, v := range findings(data) {
			if err := checkPlace(data, v); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			if v.Detail == "" || v.Remedy == "" || v.Severity == "" {
				t.Fatalf("%q: %+v lacks something", data, v)
			}
		}
	})
}

// profileStyles embed a template in a profile.
var profileStyles = map[string]func(string) string{
	"literal": func(s string) string { return "platform: linux/amd64\npod_template_yaml: |\n" + indented(s, "  ") },
	"literal strip": func(s string) string {
		return "pod_template_yaml: |- # c\n" + indented(s, " ") + "platform: linux/amd64\n"
	},
	"literal 2": func(s string) string { return "config:\n  pod_template_yaml: |2\n" + indented(s, "    ") },
	"CRLF": func(s string) string {
		return strings.ReplaceAll("pod_template_yaml: |\n"+indented(s, "  "), "\n", "\r\n")
	},
	"anchored": func(s string) string { return "x: &t |\n" + indented(s, "  ") + "pod_template_yaml: *t\n" },
	"folded": func(s string) string {
		return "pod_template_yaml: >\n" + indented(strings.ReplaceAll(s, "\n", "\n\n"), "  ")
	},
}

// quotedProfiles embed a template with its characters changed.
var quotedProfiles = map[string]func(string) string{
	"double": func(s string) string { return "pod_template_yaml: " + asciiQuote(s) },
	"lines": func(s string) string {
		return "pod_template_yaml: \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\n\\\n  \\").Replace(strings.ReplaceAll(s, "\n ", "\n\u00A0")) + "\"\n"
	},
	"single": func(s string) string {
		return "pod_template_yaml: '" + strings.ReplaceAll(strings.ReplaceAll(s, "'", "''"), "\n", "\n\n\n") + "'\n"
	},
	"json": func(s string) string {
		b, _ := json.MarshalIndent(map[string]any{"config": map[string]string{"pod_template_yaml": s}}, "", "\t")
		return string(b)
	},
}

func TestPlacesInProfiles(t *testing.T) {
	for name, text := range examples() {
		if strings.HasPrefix(name, "profile-") || name == RuleDocumentEmpty+"/bad" || name == RuleDocumentEncoding+"/bad" {
			continue
		}
		want := findings([]byte(text))
		for style, f := range profileStyles {
			data := []byte(f(text))
			got := findings(data)
			if fmt.Sprint(rulesOf(got)) != fmt.Sprint(rulesOf(want)) {
				t.Errorf("%s, %s: %v, want %v", name, style, got, want)
				continue
			}
			for i, v := range got {
				where, err := slice(data, v.Place)
				alone, _ := slice([]byte(text), want[i].Place)
				if err != nil || where != alone {
					t.Errorf("%s, %s: %v stands at %q, want %q (%v)", name, style, v, where, alone, err)
				}
			}
		}
		for style, f := range quotedProfiles {
			data := []byte(f(text))
			for _, v := range findings(data) {
				if where, err := slice(data, v.Place); err != nil {
					t.Errorf("%s, %s: %v stands at %q: %v", name, style, v, where, err)
				}
			}
		}
	}
}

func TestEveryViolationHasAPlace(t *testing.T) {
	for name, text := range examples() {
		for _, v := range findings([]byte(text)) {
			if v.Place.IsZero() || v.Severity != finding.Error && v.Severity != finding.Warning {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}
