package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRenderInputs(t *testing.T) {
	profile := "main_container: kandev-agent\nplatform: linux/arm64\nworkspace: {mode: empty_dir}\npod_template_file: t.yaml\n"
	dir := write(t, map[string]string{
		"t.yaml": good, "profile.yaml": profile, "two/a.yaml": good, "two/b.yaml": good, "one/a.yaml": good, "one/b.yaml": "a: b\n",
		"noisy.yaml": with("hostPID: true # kandev-podlint:ignore host-namespace"),
	})
	t.Chdir(dir)
	if r := run(t, "", "render", "profile.yaml"); !strings.Contains(r.out, "kubernetes.io/arch: arm64") || strings.Contains(r.out, "PersistentVolumeClaim") {
		t.Errorf("the profile does not count: %+v", r)
	}
	if r := run(t, "", "render", "t.yaml", "--profile", "profile.yaml", "--platform", "linux/amd64"); !strings.Contains(r.out, "kubernetes.io/arch: amd64") || strings.Contains(r.out, "PersistentVolumeClaim") {
		t.Errorf("the flag does not win over the profile: %+v", r)
	}
	if r := run(t, "", "render", "two"); r.code != ExitUnusable || r.err != "kandev-podlint: two holds more than one template, "+filepath.Join("two", "a.yaml")+" and "+filepath.Join("two", "b.yaml")+": name one\n" {
		t.Errorf("%+v", r)
	}
	if r := run(t, "", "render", "one"); r.code != 0 || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := run(t, "", "render", "noisy.yaml"); r.code != 0 || r.err != "" {
		t.Errorf("suppressions and warnings are none of render's business: %+v", r)
	}
	if r := run(t, "", "render", "t.yaml", "--profile", "nowhere"); r.code != ExitUnusable {
		t.Errorf("%+v", r)
	}
}

func TestRenderNonce(t *testing.T) {
	nonce := regexp.MustCompile(`kandev\.ai/create-nonce: "?([0-9a-f]{64})`)
	if got := nonce.FindAllString(rendered(t), -1); len(got) != 0 {
		t.Error(got)
	}
	got := nonce.FindAllStringSubmatch(rendered(t, "--nonce"), -1)
	if len(got) != 2 || got[0][1] == got[1][1] {
		t.Errorf("each object has a nonce of its own: %v", got)
	}
}

// FuzzRender holds that a template without errors renders, the same twice, as YAML, JSON and with marks.
func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("../../testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(good)
	f.Add("pod_template_yaml: |\n  " + strings.ReplaceAll(good, "\n", "\n  "))
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "t.yaml") // standard input may not name another file
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		linted, first := run(t, "", "lint", "-q", file), run(t, "", "render", file)
		if linted.code == ExitOK && first.code != ExitOK {
			t.Fatalf("lints and does not render: %+v", first)
		}
		if second := run(t, "", "render", file); first != second {
			t.Fatalf("renders otherwise: %+v\n%+v", first, second)
		}
		marked := run(t, "", "render", "--show-owned", file)
		if marked.code != first.code || strings.ReplaceAll(marked.out, ownedMark+"\n", "\n") != strings.ReplaceAll(first.out, ownedMark+"\n", "\n") {
			t.Fatalf("marks change more than lines' ends:\n%s\n%s", marked.out, first.out)
		}
		if again := run(t, "", "render", "--format", "json", file); again.code != first.code {
			t.Fatalf("%+v", again)
		}
	})
}
