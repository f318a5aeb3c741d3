package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// FuzzLint holds that any bytes are linted without a panic, and the findings sorted, complete, in the file, and the same twice.
func FuzzLint(f *testing.F) {
	files, err := filepath.Glob("../../testdata/*/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{
		template("hostPID: true # kandev-podlint:ignore host-namespace x"), twoContainers, "pod_template_yaml: |\n  " + indent(twoContainers),
		"\ufeffkind: PodTemplate\r\n---\n", `{"kind":"PodTemplate","template":{"spec":{"containers":[null]}}}`,
		"# kandev-podlint:ignore x\nkind: PodTemplate\ntemplate: {spec: {containers: [{}]}}\n", "config: {pod_template_file: x}",
	} {
		f.Add([]byte(text))
	}
	l := New(Options{Config: &Config{}})
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := l.Bytes(t.Context(), "f.yaml", slices.Clone(data), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range first {
			checkFindings(t, r, data)
		}
		second, err := l.Bytes(t.Context(), "f.yaml", data, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if diff := cmp.Diff(first[i].Findings, second[i].Findings); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func checkFindings(t *testing.T, r FileResult, data []byte) {
	t.Helper()
	sorted := slices.Clone(r.Findings)
	finding.Sort(sorted)
	if diff := cmp.Diff(sorted, r.Findings); diff != "" {
		t.Fatalf("not sorted: %s", diff)
	}
	lines := bytes.Split(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
	for _, f := range r.Findings {
		if f.Remediation == "" || f.Message == "" || f.Fingerprint == "" || f.Severity.Rank() == 0 {
			t.Fatalf("incomplete: %+v", f)
		}
		if f.Line < 1 || f.EndLine < f.Line || f.EndLine > len(lines) || f.EndLine == f.Line && f.EndColumn < f.Column {
			t.Fatalf("no place: %+v", f)
		}
		if f.Column < 1 || f.Column > utf8.RuneCount(lines[f.Line-1])+1 || f.EndColumn < 1 || f.EndColumn > utf8.RuneCount(lines[f.EndLine-1])+1 {
			t.Fatalf("outside its line: %+v", f)
		}
	}
}
