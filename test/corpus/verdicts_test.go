package corpus

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// verdict is what the API server said of one spec.
type verdict struct {
	rejected bool
	fields   []string // the fields that it names; empty where it names none
	text     string
}

// disagreements are the specs on which the linter and the API server may differ, each with its reason.
var disagreements = map[string]string{}

// TestVerdicts demands that what the API server refuses is an error at a field that the server names, or
// at its parent or child, and that what it accepts has no error of the API server's or the document's.
func TestVerdicts(t *testing.T) {
	verdicts := readVerdicts(t)
	l := lint.New(lint.Options{WithoutPolicies: true})
	var rejected, found, accepted, clean int
	for _, file := range specs(t, "adapted") {
		name := filepath.Base(file)
		v, ok := verdicts[name]
		if !ok {
			t.Errorf("%s has no verdict", name)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		errs := errorsOf(lintFile(t, l, name, data))
		var agree bool
		if v.rejected {
			rejected++
			agree = namesOneOf(errs, v)
			found += count(agree)
		} else {
			accepted++
			agree = !hasServerError(errs)
			clean += count(agree)
		}
		if reason, known := disagreements[name]; agree == known {
			t.Errorf("%s: rejected %v: %s\nthe linter says: %s\nknown disagreement: %q", name, v.rejected, v.text, list(errs), reason)
		}
	}
	t.Logf("rejected by the API server: %d, of which an error at the server's field: %d", rejected, found)
	t.Logf("accepted by the API server: %d, of which without an error of source api or document: %d", accepted, clean)
	t.Logf("known disagreements: %d", len(disagreements))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func errorsOf(r lint.FileResult) []finding.Finding {
	var out []finding.Finding
	for _, f := range r.Findings {
		if f.Severity == finding.Error {
			out = append(out, f)
		}
	}
	return out
}

func hasServerError(errs []finding.Finding) bool {
	for _, f := range errs {
		if f.Source == finding.API || f.Source == finding.Document {
			return true
		}
	}
	return false
}

// namesOneOf reports whether an error stands at a field that the server names, or at its parent or child.
func namesOneOf(errs []finding.Finding, v verdict) bool {
	for _, f := range errs {
		path := strings.TrimPrefix(f.Path, "template.")
		for _, field := range v.fields {
			if related(path, field) || related(withoutIndices(path), field) {
				return true
			}
		}
		if len(v.fields) == 0 && (f.Source == finding.API || f.Source == finding.Document) {
			return true
		}
	}
	return false
}

func related(a, b string) bool { return within(a, b) || within(b, a) }

// within reports whether a path is another, or lies below it.
func within(path, around string) bool {
	rest, ok := strings.CutPrefix(path, around)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

var index = regexp.MustCompile(`\[\d+\]`)

func withoutIndices(path string) string { return index.ReplaceAllString(path, "") }

func list(errs []finding.Finding) string {
	var out []string
	for _, f := range errs {
		out = append(out, f.Path+" ("+string(f.Source)+"): "+f.Message)
	}
	return strings.Join(out, "; ")
}

// readVerdicts reads oracle.tsv: a file, a verdict, and the causes as JSON or as the server's text.
func readVerdicts(t *testing.T) map[string]verdict {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir(t), "oracle.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	out := map[string]verdict{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		cells := strings.SplitN(lines.Text(), "\t", 3)
		if strings.HasPrefix(cells[0], "#") || len(cells) < 3 {
			continue
		}
		out[cells[0]] = verdict{rejected: cells[1] == "reject", fields: fieldsOf(cells[2]), text: cells[2]}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)
	structField  = regexp.MustCompile(`Go struct field [A-Za-z]+\.(\S+) of type`)
)

// fieldsOf lists the fields in a rejection's causes.
func fieldsOf(causes string) []string {
	var parsed [][]string
	if json.Unmarshal([]byte(causes), &parsed) == nil {
		var fields []string
		for _, c := range parsed {
			fields = append(fields, c[0])
		}
		return fields
	}
	var fields []string
	for _, m := range unknownField.FindAllStringSubmatch(causes, -1) {
		fields = append(fields, m[1])
	}
	for _, m := range structField.FindAllStringSubmatch(causes, -1) {
		fields = append(fields, m[1])
	}
	return fields
}
