package report_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// catalogue is the two rules of the sample that a catalogue would hold; its third is a user's own.
func catalogue(name string) (finding.Rule, bool) {
	r, ok := map[string]finding.Rule{
		"workspace-grant-shape": {
			Name: "workspace-grant-shape", Title: "A grant is all of /workspace", Group: "Workspace",
			Source: finding.Grant, Severity: finding.Error,
			Description: "Kandev shares the workspace as a whole.",
			Remedy:      "Remove subPath.",
			Bad:         "volumeMounts:\n- name: kandev-workspace\n  subPath: build\n",
			Good:        "volumeMounts:\n- name: kandev-workspace\n",
			References:  []string{"https://kubernetes.io/docs/concepts/storage/volumes/#using-subpath"},
		},
		"privileged": {
			Name: "privileged", Title: "Privileged container", Group: "Privileges",
			Source: finding.Policy, Severity: finding.Warning,
			Description: "A privileged container is root on the node.",
			Remedy:      "Set privileged: false.",
			PSS:         &finding.PSS{Level: "baseline", Check: "privileged"},
		},
	}[name]
	return r, ok
}

const dockerTemplate = `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
    - name: docker-engine
      securityContext: {privileged: true}
      volumeMounts:
      - name: kandev-workspace
        mountPath: /workspace
        subPath: build
`

// sample is a run with all that a format can show: findings with and without a place, two of one rule,
// a user's rule, a finding in another file, a clean file and a skipped one.
func sample() []lint.FileResult {
	privileged := finding.Finding{
		Rule: "privileged", Severity: finding.Warning, Source: finding.Policy,
		Message: `container "docker-engine" is privileged`, Remediation: "set privileged: false",
		Path: "template.spec.containers[1].securityContext.privileged", Container: "docker-engine",
		Line: 8, Column: 25, EndLine: 8, EndColumn: 41,
		Docs: "https://example.com/rules/privileged.md", PSS: &finding.PSS{Level: "baseline", Check: "privileged"},
		Fingerprint: "1f0c",
	}
	grant := finding.Finding{
		Rule: "workspace-grant-shape", Severity: finding.Error, Source: finding.Grant,
		Message:     `companion "docker-engine" takes the workspace through a subPath; a grant is all of /workspace`,
		Remediation: "remove subPath; for a private directory mount a volume of your own at another path",
		Path:        "template.spec.containers[1].volumeMounts[0].subPath", Container: "docker-engine",
		Line: 12, Column: 9, EndLine: 12, EndColumn: 23,
		Fingerprint: "9ab3",
	}
	user := finding.Finding{
		Rule: "team-label", Severity: finding.Info, Source: finding.User,
		Message: "template has no label team", Path: "template.metadata", File: "policies/shared.yaml", Line: 3, Column: 1,
	}
	unreadable := finding.Finding{
		Rule: "file-unreadable", Severity: finding.Error, Source: finding.Document,
		Message: "permission denied", Remediation: "let the linter read the file",
	}
	mount := grant
	mount.Message = `companion "docker-engine" asks for the workspace twice`
	mount.Path, mount.Line, mount.Column, mount.EndLine, mount.EndColumn, mount.Fingerprint = "template.spec.containers[1].volumeMounts[0]", 10, 7, 12, 23, "77de"
	return []lint.FileResult{
		{File: "templates/docker.yaml", Content: []byte(dockerTemplate), Templates: 1, Findings: []finding.Finding{privileged, mount, grant, user}},
		{File: "templates/good.yaml", Content: []byte("kind: PodTemplate\n"), Templates: 2, Suppressed: 1},
		{File: "templates/secret #1.yaml", Findings: []finding.Finding{unreadable}},
		{File: "templates/README.yaml", Skipped: true},
	}
}

func options() report.Options {
	return report.Options{ToolVersion: "v1.2.3", Rules: catalogue}
}

// run prints a whole run.
func run(t testing.TB, format string, o report.Options, files ...lint.FileResult) string {
	t.Helper()
	var b bytes.Buffer
	if err := printTo(&b, format, o, files...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func printTo(w io.Writer, format string, o report.Options, files ...lint.FileResult) error {
	p, err := report.New(format, w, o)
	if err != nil {
		return err
	}
	var s lint.Summary
	for _, f := range files {
		s.Add(f)
		if err := p.File(f); err != nil {
			return err
		}
	}
	return p.Close(s)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	for _, format := range report.Formats() {
		t.Run(format, func(t *testing.T) {
			golden(t, "sample."+format, run(t, format, options(), sample()...))
			golden(t, "empty."+format, run(t, format, options()))
		})
	}
	color := options()
	color.Color = true
	golden(t, "sample.color.text", run(t, "text", color, sample()...))
}

func TestOutputIsTheSameEachTime(t *testing.T) {
	for _, format := range report.Formats() {
		if a, b := run(t, format, options(), sample()...), run(t, format, options(), sample()...); a != b {
			t.Errorf("%s differs between two runs", format)
		}
	}
}

func TestPrintersLeaveTheFindingsAlone(t *testing.T) {
	files, want := sample(), sample()
	for _, format := range report.Formats() {
		run(t, format, options(), files...)
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%s changed its input:\n%s", format, diff)
		}
	}
}

func TestUnknownFormatListsTheKnown(t *testing.T) {
	_, err := report.New("xml", io.Discard, report.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range append(report.Formats(), `"xml"`) {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

// failAfter accepts n bytes and then fails as a closed pipe does.
type failAfter struct{ n int }

func (w *failAfter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		n := w.n
		w.n = 0
		return n, io.ErrClosedPipe
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriteErrorsReachTheCaller(t *testing.T) {
	for _, format := range report.Formats() {
		t.Run(format, func(t *testing.T) {
			size := len(run(t, format, options(), sample()...))
			for n := 0; n < size; n += max(size/40, 1) {
				err := printTo(&failAfter{n}, format, options(), sample()...)
				if !errors.Is(err, io.ErrClosedPipe) {
					t.Fatalf("after %d of %d bytes: error %v", n, size, err)
				}
			}
			if err := printTo(&failAfter{size}, format, options(), sample()...); err != nil {
				t.Errorf("with room for all: %v", err)
			}
		})
	}
}
