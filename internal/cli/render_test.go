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

// TestRenderImages: images named on the command line stand in the Pod, and one that cannot be deployed is refused wherever
// it comes from.
func TestRenderImages(t *testing.T) {
	const digest = "@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	withInit := with("initContainers: [{name: setup, image: a@sha256:unresolved}]")
	for _, c := range []struct {
		name, template string
		images         []string
		want           string // in the Pod; otherwise on standard error
		code           int
	}{
		{"one", good, []string{"kandev-agent=a:2" + digest}, "    image: a:2" + digest + "\n    name: kandev-agent\n", 0},
		{"an init container", withInit, []string{"setup=a" + digest, "kandev-agent=b" + digest}, "  - image: a" + digest + "\n    name: setup\n", 0},
		{"a placeholder", good, []string{"kandev-agent=a@sha256:unresolved"}, "which has a placeholder for its digest [image-placeholder]", 2},
		{"a tag", good, []string{"kandev-agent=a:2"}, "which names no digest [image-mutable]", 2},
		{"no reference", good, []string{"kandev-agent=a@sha256:2c26"}, "which is no reference to an image [image-mutable]", 2},
		{"another container's placeholder", withInit, []string{"kandev-agent=a" + digest}, `init container "setup" has the image a@sha256:unresolved`, 2},
		{"no container of the name", good, []string{"docker-engine=a" + digest}, `--set-image: the template has no container "docker-engine"`, 2},
		{"twice", good, []string{"kandev-agent=a" + digest, "kandev-agent=b" + digest}, `--set-image: container "kandev-agent" is named twice`, 2},
		{"no name", good, []string{"a" + digest}, "--set-image takes NAME=IMAGE@DIGEST, not \"a" + digest + "\"", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"render", "-"}
			for _, image := range c.images {
				args = append(args, "--set-image", image)
			}
			r := run(t, c.template, args...)
			got := r.out
			if c.code != 0 {
				got = r.err
			}
			if r.code != c.code || !strings.Contains(got, c.want) || (c.code != 0) != (r.out == "") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestRenderImagesCompletion(t *testing.T) {
	t.Chdir(write(t, map[string]string{"t.yaml": with("initContainers: [{name: setup, image: a}]"), "bad.yaml": "kind: [\n"}))
	for args, want := range map[string]string{
		"render t.yaml --set-image ":   "setup=\nkandev-agent=\n:6\n",
		"render bad.yaml --set-image ": ":6\n",
		"render --set-image ":          ":6\n",
	} {
		if r := run(t, "", append([]string{"__complete"}, strings.Split(args, " ")...)...); r.out != want {
			t.Errorf("%s: %q", args, r.out)
		}
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
