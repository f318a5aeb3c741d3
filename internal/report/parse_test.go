package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// runs are what each format must survive.
func runs() map[string][]lint.FileResult {
	return map[string][]lint.FileResult{"empty": nil, "sample": sample(), "nasty": nasty()}
}

// listed returns the findings that a run should print, as a format that keeps every character has them.
func listed(files []lint.FileResult) []finding.Finding {
	valid := func(s string) string { return strings.ToValidUTF8(s, "") }
	out := []finding.Finding{}
	for _, r := range files {
		for _, f := range r.Findings {
			if f.File == "" {
				f.File = r.File
			}
			f.Message, f.Remediation, f.Path = valid(f.Message), valid(f.Remediation), valid(f.Path)
			f.Container, f.File = valid(f.Container), valid(f.File)
			out = append(out, f)
		}
	}
	return out
}

type document struct {
	SchemaVersion int               `json:"schemaVersion"`
	Summary       lint.Summary      `json:"summary"`
	Findings      []finding.Finding `json:"findings"`
}

// clean drops the replacement characters that stand for bytes which are not UTF-8.
func clean(fs []finding.Finding) []finding.Finding {
	for i := range fs {
		for _, s := range []*string{&fs[i].Message, &fs[i].Remediation, &fs[i].Path, &fs[i].Container, &fs[i].File} {
			*s = strings.ReplaceAll(*s, "\ufffd", "")
		}
	}
	return fs
}

func checkDocument(t testing.TB, data []byte, files []lint.FileResult) {
	t.Helper()
	var got document
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var want lint.Summary
	for _, f := range files {
		want.Add(f)
	}
	if diff := cmp.Diff(document{1, want, listed(files)}, document{got.SchemaVersion, got.Summary, clean(got.Findings)}); diff != "" {
		t.Error(diff)
	}
}

func TestJSONLosesNothing(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			out := run(t, "json", options(), files...)
			harmless(t, out)
			checkDocument(t, []byte(out), files)
		})
	}
}

func TestYAMLLosesNothing(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			out := run(t, "yaml", options(), files...)
			harmless(t, out)
			data, err := sigsyaml.YAMLToJSONStrict([]byte(out))
			if err != nil {
				t.Fatal(err)
			}
			checkDocument(t, data, files)
		})
	}
}

// sarifLog is what GitHub reads of a log.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct{ ID, HelpURI string }
			}
		}
		Results []struct {
			RuleID              string
			RuleIndex           int
			Level               string
			Message             struct{ Text string }
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
				}
			}
		}
	}
}

func TestSARIFResults(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			out := run(t, "sarif", options(), files...)
			harmless(t, out)
			var log sarifLog
			if err := json.Unmarshal([]byte(out), &log); err != nil {
				t.Fatal(err)
			}
			got, want := log.Runs[0], listed(files)
			if len(got.Results) != len(want) {
				t.Fatalf("%d results of %d", len(got.Results), len(want))
			}
			for i, r := range got.Results {
				if id := got.Tool.Driver.Rules[r.RuleIndex].ID; id != r.RuleID || id != want[i].Rule {
					t.Errorf("result %d: rule %s, its index names %s, want %s", i, r.RuleID, id, want[i].Rule)
				}
				if strings.Contains(r.Message.Text, "](") {
					t.Errorf("link in %q", r.Message.Text)
				}
				if r.PartialFingerprints["kandevPodlint/v1"] == "" {
					t.Errorf("result %d has no fingerprint", i)
				}
				if region := r.Locations[0].PhysicalLocation.Region; region.StartLine != want[i].Line || region.EndColumn != want[i].EndColumn {
					t.Errorf("result %d: region %+v", i, region)
				}
			}
		})
	}
}

func TestSARIFURIs(t *testing.T) {
	for file, want := range map[string][2]string{
		"a/b.yaml":      {"a/b.yaml", "%SRCROOT%"},
		"./a//b.yaml":   {"a/b.yaml", "%SRCROOT%"},
		"../b.yaml":     {"../b.yaml", "%SRCROOT%"},
		"a b#c%?.yaml":  {"a%20b%23c%25%3F.yaml", "%SRCROOT%"},
		"x:y.yaml":      {"./x:y.yaml", "%SRCROOT%"},
		"名.yaml":        {"%E5%90%8D.yaml", "%SRCROOT%"},
		"\xff.yaml":     {"%FF.yaml", "%SRCROOT%"},
		"<stdin>":       {"%3Cstdin%3E", "%SRCROOT%"},
		"/abs/a b.yaml": {"file:///abs/a%20b.yaml", ""},
		"C:/abs/a.yaml": {"file:///C:/abs/a.yaml", ""},
		"":              {"", "%SRCROOT%"},
	} {
		var log sarifLog
		out := run(t, "sarif", report.Options{}, lint.FileResult{File: file, Findings: []finding.Finding{{Rule: "r", Message: "m"}}})
		if err := json.Unmarshal([]byte(out), &log); err != nil {
			t.Fatal(err)
		}
		got := log.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation
		if got.URI != want[0] || got.URIBaseID != want[1] {
			t.Errorf("%q: got %v, want %v", file, got, want)
		}
		if _, err := url.Parse(got.URI); err != nil {
			t.Error(err)
		}
	}
}

func TestSARIFRuleWithoutPage(t *testing.T) {
	o := report.Options{ToolVersion: "devel", Rules: func(string) (finding.Rule, bool) { return finding.Rule{}, true }}
	f := finding.Finding{Rule: "r", Message: "m", Docs: "javascript:alert(1)"}
	out := run(t, "sarif", o, lint.FileResult{File: "f", Findings: []finding.Finding{f}})
	for _, absent := range []string{"javascript", "helpUri", `"help"`, "shortDescription", "semanticVersion"} {
		if strings.Contains(out, absent) {
			t.Errorf("%s in %s", absent, out)
		}
	}
}

func TestGitLabIssues(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			out := run(t, "gitlab", options(), files...)
			harmless(t, out)
			var issues []struct {
				Description, Fingerprint, Severity string
				Location                           struct {
					Path  string
					Lines struct{ Begin, End int }
				}
			}
			if err := json.Unmarshal([]byte(out), &issues); err != nil {
				t.Fatal(err)
			}
			if want := len(listed(files)); len(issues) != want {
				t.Fatalf("%d issues of %d", len(issues), want)
			}
			seen := map[string]bool{}
			for _, issue := range issues {
				if issue.Description == "" || issue.Location.Lines.Begin < 1 || issue.Location.Lines.End < issue.Location.Lines.Begin {
					t.Errorf("bad issue %+v", issue)
				}
				if seen[issue.Fingerprint] {
					t.Errorf("fingerprint twice: %+v", issue)
				}
				seen[issue.Fingerprint] = true
			}
		})
	}
}

// elements reads a document to its end and counts its elements by name.
func elements(t testing.TB, out string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(out))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return seen
		}
		if err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if e, ok := token.(xml.StartElement); ok {
			seen[e.Name.Local]++
		}
	}
}

func TestXMLIsWellFormed(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			want := len(listed(files))
			out := run(t, "checkstyle", options(), files...)
			harmless(t, out)
			if got := elements(t, out)["error"]; got != want {
				t.Errorf("%d checkstyle errors, want %d", got, want)
			}
			out = run(t, "junit", options(), files...)
			harmless(t, out)
			if got := strings.Count(out, "[nasty]"); name == "nasty" && got != want {
				t.Errorf("%d findings in junit, want %d", got, want)
			}
			elements(t, out)
		})
	}
}

func TestJUnitCounts(t *testing.T) {
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suite    struct {
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Output  *string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	warned := lint.FileResult{File: "w", Findings: []finding.Finding{{Rule: "r", Severity: finding.Warning, Message: "m"}}}
	for _, c := range []struct {
		failOn finding.Severity
		failed bool
	}{{"", false}, {finding.Error, false}, {finding.Warning, true}, {finding.Info, true}, {"never", false}} {
		o := report.Options{FailOn: c.failOn}
		if err := xml.Unmarshal([]byte(run(t, "junit", o, warned, lint.FileResult{File: "good"})), &suites); err != nil {
			t.Fatal(err)
		}
		first := suites.Suite.Cases[0]
		if suites.Tests != 2 || (suites.Failures == 1) != c.failed || (first.Failure != nil) != c.failed || (first.Output == nil) != c.failed {
			t.Errorf("fail on %q: %+v", c.failOn, suites)
		}
		verdict := map[bool]string{true: "not ok 1 - w\n", false: "\nok 1 - w\n"}[c.failed]
		if out := run(t, "tap", o, warned); !strings.Contains(out, verdict) {
			t.Errorf("fail on %q: %s", c.failOn, out)
		}
		suites.Suite.Cases = nil
	}
}

var githubLine = regexp.MustCompile(`^::(error|warning|notice) (title=[^,:]*,file=[^,:]*(?:,(?:line|endLine|col|endColumn)=\d+)*)::(.*)$`)

func TestGitHubCommands(t *testing.T) {
	for name, files := range runs() {
		t.Run(name, func(t *testing.T) {
			out := run(t, "github", options(), files...)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if want := len(listed(files)); want != len(lines) && out != "" {
				t.Fatalf("%d lines, want %d", len(lines), want)
			}
			for _, line := range lines {
				if out != "" && !githubLine.MatchString(line) {
					t.Errorf("not one command: %q", line)
				}
			}
		})
	}
}

func TestGitHubEscapesAndPlaces(t *testing.T) {
	for want, f := range map[string]finding.Finding{
		"::error title=r,file=a%2Cb%3Ac%25.yaml::m: 1, 100%25%0Ado":    {File: "./a,b:c%.yaml", Message: "m: 1, 100%", Remediation: "do"},
		"::error title=r,file=f,line=3::m":                             {Line: 3},
		"::error title=r,file=f,line=3,endLine=3,col=2,endColumn=2::m": {Line: 3, Column: 2},
		"::error title=r,file=f,line=3,endLine=3,col=2,endColumn=4::m": {Line: 3, Column: 2, EndLine: 3, EndColumn: 5},
		"::error title=r,file=f,line=3,endLine=5::m":                   {Line: 3, Column: 2, EndLine: 5, EndColumn: 4},
		"::error title=r,file=f,line=3,endLine=4::m":                   {Line: 3, Column: 2, EndLine: 5, EndColumn: 1},
		"::error title=r,file=f,line=3,endLine=3,col=7,endColumn=7::m": {Line: 3, Column: 7, EndLine: 4, EndColumn: 1},
	} {
		f.Rule, f.Severity = "r", finding.Error
		if f.Message == "" {
			f.Message = "m"
		}
		out := run(t, "github", report.Options{}, lint.FileResult{File: "f", Findings: []finding.Finding{f}})
		if diff := cmp.Diff(want+"\n", out); diff != "" {
			t.Error(diff)
		}
	}
}

var (
	tapPoint     = regexp.MustCompile(`^(ok|not ok) (\d+) - ((?:[^#\\]|\\#|\\\\)*)$`)
	tapPlan      = regexp.MustCompile(`^1\.\.(\d+)$`)
	tapDiagnosis = regexp.MustCompile(`^# `)
)

// checkTAP reads a stream as the grammar of version 13 has it and returns the number of test points.
func checkTAP(t testing.TB, out string) int {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if lines[0] != "TAP version 13" {
		t.Fatalf("first line %q", lines[0])
	}
	points, plan := 0, -1
	for i := 1; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "  ---":
			end := i + 1
			for lines[end] != "  ..." {
				end++
			}
			var block struct{ Findings []map[string]string }
			if err := yaml.Unmarshal([]byte(strings.Join(lines[i+1:end], "\n")), &block); err != nil || len(block.Findings) == 0 {
				t.Errorf("block of point %d: %v", points, err)
			}
			i = end
		case tapPoint.MatchString(line):
			points++
			if n := tapPoint.FindStringSubmatch(line)[2]; n != fmt.Sprint(points) {
				t.Errorf("point %s, want %d", n, points)
			}
		case tapPlan.MatchString(line):
			_, _ = fmt.Sscanf(line, "1..%d", &plan)
		case !tapDiagnosis.MatchString(line):
			t.Errorf("line %q is not TAP", line)
		}
	}
	if plan != points {
		t.Errorf("plan %d, points %d", plan, points)
	}
	return points
}

func TestTAPGrammar(t *testing.T) {
	for name, want := range map[string]int{"empty": 0, "sample": 3, "nasty": 2 * len(nastyTexts)} {
		t.Run(name, func(t *testing.T) {
			out := run(t, "tap", options(), runs()[name]...)
			harmless(t, out)
			if got := checkTAP(t, out); got != want {
				t.Errorf("%d points, want %d", got, want)
			}
		})
	}
}

func TestHTMLHoldsNothingForeign(t *testing.T) {
	out := run(t, "html", options(), append(sample(), nasty()...)...)
	harmless(t, out)
	for _, absent := range []string{"<script", "<b>", "src=", "<link", "@import", "url(", `href="javascript`} {
		if strings.Contains(out, absent) {
			t.Errorf("%s in the page", absent)
		}
	}
	if got, want := strings.Count(out, "<article"), len(listed(append(sample(), nasty()...))); got != want {
		t.Errorf("%d articles, want %d", got, want)
	}
}

func TestHTMLFiltersOnlyWhereThereIsAChoice(t *testing.T) {
	one := lint.FileResult{File: "f", Findings: []finding.Finding{{Rule: "r", Severity: finding.Error, Message: "m", Docs: "javascript:x"}}}
	if out := run(t, "html", report.Options{}, one); strings.Contains(out, "<input") || strings.Contains(out, "href") {
		t.Error("a filter for one severity, or a link that is none of the web's")
	}
	if out := run(t, "html", options(), sample()...); strings.Count(out, "<input") != 3 {
		t.Error("no filter for each of three severities")
	}
}

// TestAnyInput prints generated runs in every format and reads back those that have a reader.
func TestAnyInput(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom(nastyTexts), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	place := rapid.IntRange(-2, 12)
	findings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) finding.Finding {
		return finding.Finding{
			Rule: text.Draw(t, "rule"), Severity: rapid.SampledFrom([]finding.Severity{"error", "warning", "info", "odd"}).Draw(t, "severity"),
			Message: text.Draw(t, "message"), Remediation: text.Draw(t, "help"), Path: text.Draw(t, "path"), Docs: text.Draw(t, "docs"),
			Line: place.Draw(t, "line"), Column: place.Draw(t, "column"), EndLine: place.Draw(t, "endLine"), EndColumn: place.Draw(t, "endColumn"),
		}
	}), 0, 3)
	rapid.Check(t, func(rt *rapid.T) {
		r := lint.FileResult{File: text.Draw(rt, "file"), Content: []byte(text.Draw(rt, "content")), Findings: findings.Draw(rt, "findings")}
		o := report.Options{Width: rapid.IntRange(-1, 60).Draw(rt, "width")}
		for _, format := range report.Formats() {
			out := run(t, format, o, r)
			if format != "github" {
				harmless(t, out)
			}
			switch format {
			case "json", "sarif", "gitlab":
				if !json.Valid([]byte(out)) {
					rt.Fatalf("%s: %s", format, out)
				}
			case "yaml":
				if _, err := sigsyaml.YAMLToJSONStrict([]byte(out)); err != nil {
					rt.Fatalf("%v: %s", err, out)
				}
			case "junit", "checkstyle":
				elements(t, out)
			case "tap":
				checkTAP(t, out)
			}
		}
	})
}
