package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// compileSchema reads a schema under a name of its own, so that nothing is looked up.
func compileSchema(t testing.TB, file string) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, output string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

const findingsSchema = "../../docs/schema/findings.schema.json"

func TestJSONMeetsItsSchema(t *testing.T) {
	s := compileSchema(t, findingsSchema)
	for name, files := range map[string][]lint.FileResult{"empty": nil, "sample": sample(), "nasty": nasty()} {
		if err := validate(t, s, run(t, "json", options(), files...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRefusesWrongOutput(t *testing.T) {
	s := compileSchema(t, findingsSchema)
	first := func(doc map[string]any) map[string]any { return doc["findings"].([]any)[0].(map[string]any) }
	for name, spoil := range map[string]func(doc map[string]any){
		"another version":        func(doc map[string]any) { doc["schemaVersion"] = 2 },
		"an unknown key":         func(doc map[string]any) { doc["extra"] = 1 },
		"no tool version":        func(doc map[string]any) { delete(doc["tool"].(map[string]any), "version") },
		"another tool":           func(doc map[string]any) { doc["tool"].(map[string]any)["name"] = "other" },
		"no count":               func(doc map[string]any) { delete(doc["summary"].(map[string]any), "infos") },
		"a negative count":       func(doc map[string]any) { doc["summary"].(map[string]any)["infos"] = -1 },
		"null findings":          func(doc map[string]any) { doc["findings"] = nil },
		"no rule":                func(doc map[string]any) { delete(first(doc), "rule") },
		"a rule of other shape":  func(doc map[string]any) { first(doc)["rule"] = "No Kebab" },
		"an unknown severity":    func(doc map[string]any) { first(doc)["severity"] = "fatal" },
		"an unknown source":      func(doc map[string]any) { first(doc)["source"] = "kube" },
		"no file":                func(doc map[string]any) { delete(first(doc), "file") },
		"an empty message":       func(doc map[string]any) { first(doc)["message"] = "" },
		"line 0":                 func(doc map[string]any) { first(doc)["line"] = 0 },
		"a column without line":  func(doc map[string]any) { delete(first(doc), "line"); delete(first(doc), "endLine") },
		"an end without start":   func(doc map[string]any) { delete(first(doc), "endLine") },
		"docs that are no URL":   func(doc map[string]any) { first(doc)["docs"] = "no url" },
		"an unknown level":       func(doc map[string]any) { first(doc)["pss"] = map[string]any{"level": "privileged", "check": "x"} },
		"an unknown finding key": func(doc map[string]any) { first(doc)["code"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			var doc map[string]any
			if err := json.Unmarshal([]byte(run(t, "json", options(), sample()...)), &doc); err != nil {
				t.Fatal(err)
			}
			spoil(doc)
			spoiled, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if validate(t, s, string(spoiled)) == nil {
				t.Error("accepted")
			}
		})
	}
}

// TestSARIFMeetsItsSchema checks against the schema that OASIS publishes.
func TestSARIFMeetsItsSchema(t *testing.T) {
	s := compileSchema(t, "testdata/sarif-schema-2.1.0.json")
	for name, files := range map[string][]lint.FileResult{"empty": nil, "sample": sample(), "nasty": nasty()} {
		if err := validate(t, s, run(t, "sarif", options(), files...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if validate(t, s, `{"version":"2.1.0","runs":[{"results":[]}]}`) == nil {
		t.Error("a run without a tool is accepted")
	}
}

// nastyTexts stand for what a template's author may write into names, values and file names.
var nastyTexts = []string{
	"\x1b[31mred\x1b[0m", "\u009b2J", "a\r\nb\nc\rd", "::error file=x::y", "\n::error::y", "##[error]z", "100%: a, b",
	"<script>alert(1)</script>", `"quoted" 'single' & <b>`, "]]>", "<!--", "{{.}} ${x} `y`", "\xff\xfe", "\x00\x07\x7f",
	"\u202eevil\u2066", "\ufffe\uffff\ufeff", "🚀 名 e\u0301", "# TODO", `back\slash \# \n`, "[link](javascript:alert(1))", "a\tb", " - x: y", "\u2028\u0085", "../up", "~", "yes", "1e3", "!!binary x", "&a *a",
}

// nasty puts each of them in every place.
func nasty() []lint.FileResult {
	var files []lint.FileResult
	for _, s := range nastyTexts {
		f := finding.Finding{
			Rule: "nasty", Severity: finding.Error, Source: finding.User, Message: s, Remediation: s, Path: s, Container: s,
			Line: 1, Column: 1, EndLine: 1, EndColumn: 3,
		}
		warning := f
		warning.Severity, warning.Line, warning.Column, warning.EndLine, warning.EndColumn = finding.Warning, 0, 0, 0, 0
		files = append(files,
			lint.FileResult{File: s, Content: []byte(s), Templates: 1, Findings: []finding.Finding{f, f}},
			lint.FileResult{File: s, Content: []byte(s), Templates: 1, Findings: []finding.Finding{warning}},
		)
	}
	return files
}
