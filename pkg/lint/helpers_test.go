package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// good is a template without errors; HOLE stands where a test puts more fields of the Pod's spec.
const good = `apiVersion: v1
kind: PodTemplate
template:
  spec:
    HOLE
    securityContext:
      runAsNonRoot: true
      runAsUser: 1000
      fsGroup: 1000
      seccompProfile: {type: RuntimeDefault}
    containers:
    - name: kandev-agent
      image: registry.example/agent@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70
      resources:
        requests: {cpu: 500m, memory: 1Gi}
        limits: {cpu: "2", memory: 4Gi, ephemeral-storage: 10Gi}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities: {drop: [ALL]}
`

// template is good with lines in its hole, which starts at line 5, column 5.
func template(lines ...string) string {
	return strings.Replace(good, "HOLE", strings.Join(lines, "\n    "), 1)
}

// indent sets the lines of a text after its first back by two.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// write puts files, named by slash paths, into a new directory.
func write(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// paths lints paths and returns every result.
func paths(tb testing.TB, o Options, paths ...string) []FileResult {
	tb.Helper()
	var out []FileResult
	err := New(o).Paths(tb.Context(), paths, func(r FileResult) error { out = append(out, r); return nil })
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// lintText lints a text under a name.
func lintText(tb testing.TB, o Options, name, text string) []FileResult {
	tb.Helper()
	rs, err := New(o).Bytes(tb.Context(), name, []byte(text), true)
	if err != nil {
		tb.Fatal(err)
	}
	return rs
}

// brief writes findings as "line:column severity rule".
func brief(rs ...FileResult) []string {
	out := []string{}
	for _, r := range rs {
		for _, f := range r.Findings {
			out = append(out, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Severity, f.Rule))
		}
	}
	return out
}

// names lists the results' files below a directory, with a mark for what they are.
func names(dir string, rs []FileResult) []string {
	var out []string
	for _, r := range rs {
		name := strings.TrimPrefix(r.File, dir+string(filepath.Separator))
		switch {
		case r.Skipped:
			name += " skipped"
		case r.Unusable:
			name += " unusable"
		}
		out = append(out, filepath.ToSlash(name))
	}
	return out
}

func rule(fs []finding.Finding, name string) *finding.Finding {
	for i := range fs {
		if fs[i].Rule == name {
			return &fs[i]
		}
	}
	return nil
}
