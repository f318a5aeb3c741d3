package pss

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	psa "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"
)

// fixture is one Pod of k8s.io/pod-security-admission: test/testdata/LEVEL/v1.MINOR/pass|fail/CHECKn.yaml.
type fixture struct {
	name  string
	level psa.Level
	minor int
	pass  bool
	check string // in lower case; empty for those of no check
	pod   map[string]any
}

// fixtures reads all of them, from where go keeps that module.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/pod-security-admission").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "test", "testdata")
	files, err := filepath.Glob(filepath.Join(root, "*", "v1.*", "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures below %s: %v", root, err)
	}
	all := make([]fixture, 0, len(files))
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(filepath.ToSlash(name), "/")
		f := fixture{
			name: name, level: psa.Level(parts[0]), pass: parts[2] == "pass",
			check: strings.TrimRight(strings.TrimSuffix(parts[3], ".yaml"), "0123456789"),
		}
		if _, err := fmt.Sscanf(parts[1], "v1.%d", &f.minor); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := yaml.UnmarshalStrict(source, &f.pod); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, f)
	}
	return all
}

// TestFixtures compares every fixture at its own version. Those of versions older than kandev-podlint knows are
// compared at the oldest that it knows, without the verdict of their folder, which may be another one there.
func TestFixtures(t *testing.T) {
	c := newComparison(t)
	verdicts := 0
	for _, f := range fixtures(t) {
		minor := max(f.minor, oldestMinor)
		found := c.compare(t, f.name, f.pod, fmt.Sprintf("1.%d", minor))
		if minor > f.minor {
			continue
		}
		verdicts++
		if c.allows(f.level, minor, found) != f.pass {
			t.Errorf("%s: the pack says otherwise: %v", f.name, found)
		}
		if !f.pass && !names(found, f.check) {
			t.Errorf("%s: no finding names the check: %v", f.name, found)
		}
	}
	t.Logf("%d verdicts of folders\n%s", verdicts, c)
}

// TestFixturesAtEveryVersion compares each distinct fixture at every version that kandev-podlint knows.
func TestFixturesAtEveryVersion(t *testing.T) {
	c, seen := newComparison(t), map[string]bool{}
	for _, f := range fixtures(t) {
		text := show(f.pod)
		if seen[text] {
			continue
		}
		seen[text] = true
		for minor := oldestMinor; minor <= newestMinor(c.checks); minor++ {
			c.compare(t, f.name, f.pod, fmt.Sprintf("1.%d", minor))
		}
	}
	t.Log(c)
}

// names reports whether a finding names a check, in lower case as the fixtures do.
func names(found found, check string) bool {
	for pss := range found {
		if strings.EqualFold(pss.Check, check) {
			return true
		}
	}
	return false
}
