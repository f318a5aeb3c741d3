package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// accept lints files and keeps their findings in a baseline file, which it reads back.
func accept(t *testing.T, file string, lint ...string) *Baseline {
	t.Helper()
	b := NewBaseline(file)
	for _, r := range paths(t, Options{}, lint...) {
		b.Accept(&r)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := ReadBaseline(file)
	if err != nil {
		t.Fatal(err)
	}
	if read.Len() != b.Len() {
		t.Errorf("%d entries written, %d read", b.Len(), read.Len())
	}
	return read
}

const twoContainers = `apiVersion: v1
kind: PodTemplate
template:
  spec:
    restartPolicy: Never
    containers:
    - name: kandev-agent
      image: registry.example/agent:1
    - name: db
      image: registry.example/db:1
      securityContext: {privileged: true}
`

// The same findings after lines have moved, containers changed places and the run another directory.
const movedContainers = `# a comment
apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: db

      image: registry.example/db:1
      securityContext: {privileged: true}
    - image: registry.example/agent:1
      name: kandev-agent
    restartPolicy: Never
`

func TestBaseline(t *testing.T) {
	dir := write(t, map[string]string{"t/a.yaml": twoContainers, "keep": ""})
	b := accept(t, filepath.Join(dir, "baseline.json"), filepath.Join(dir, "t"))
	if b.Len() < 6 {
		t.Errorf("only %d findings accepted", b.Len())
	}
	if err := os.WriteFile(filepath.Join(dir, "t", "a.yaml"), []byte(movedContainers), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "t"))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"a.yaml", filepath.Join("..", "t", "a.yaml"), filepath.Join(link, "t", "a.yaml")} {
		for _, baseline := range []string{filepath.Join("..", "baseline.json"), filepath.Join(link, "baseline.json")} {
			b, err := ReadBaseline(baseline)
			if err != nil {
				t.Fatal(err)
			}
			rs := paths(t, Options{Baseline: b}, file)
			if diff := cmp.Diff([]string{"13:5 error owned-restart-policy"}, brief(rs...)); diff != "" {
				t.Errorf("%s with %s: -want +got\n%s", file, baseline, diff)
			}
			if rs[0].Suppressed != b.Len() {
				t.Errorf("%d suppressed of %d", rs[0].Suppressed, b.Len())
			}
		}
	}
}

// A finding that is new stays, even of the same rule at the same place beside one that a comment takes out.
func TestBaselineBesideSuppression(t *testing.T) {
	text := template("hostPID: true # kandev-podlint:ignore host-namespace x", "hostIPC: true")
	dir := write(t, map[string]string{"t.yaml": text})
	b := accept(t, filepath.Join(dir, "b"), filepath.Join(dir, "t.yaml"))
	rs := paths(t, Options{Baseline: b}, filepath.Join(dir, "t.yaml"))
	if len(rs[0].Findings) != 0 || rs[0].Suppressed != 2 {
		t.Error(brief(rs...), rs[0].Suppressed)
	}
}

func TestBaselineRefusesInvariants(t *testing.T) {
	dir := write(t, map[string]string{"t.yaml": twoContainers})
	file := filepath.Join(dir, "t.yaml")
	fingerprint := rule(paths(t, Options{}, file)[0].Findings, "owned-restart-policy").Fingerprint
	forged := `{"schemaVersion": 1, "findings": [{"file": "t.yaml", "rule": "owned-restart-policy", "fingerprint": "` + fingerprint + `"}]}`
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if rs := paths(t, Options{Baseline: b}, file); rule(rs[0].Findings, "owned-restart-policy") == nil {
		t.Error("a forged baseline took an invariant out")
	}
}

func TestReadBaselineFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "not a baseline: EOF",
		"[]":                                   "not a baseline",
		`{"schemaVersion": 1} {}`:              "content after its end",
		`{"schemaVersion": 2, "findings": []}`: "schema version 2; this version reads 1",
		`{"schemaVersion": 1, "finding": []}`:  `unknown field "finding"`,
	} {
		file := filepath.Join(write(t, map[string]string{"b": text}), "b")
		if _, err := ReadBaseline(file); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadBaseline(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a missing file was read")
	}
}
