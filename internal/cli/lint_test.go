package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/lint"
)

// with is good with a line in its Pod's spec.
func with(line string) string {
	return strings.Replace(good, "  spec:\n", "  spec:\n    "+line+"\n", 1)
}

func TestExitStatus(t *testing.T) {
	dir := write(t, map[string]string{
		"good.yaml": good, "warning.yaml": with("hostPID: true"), "error.yaml": with("restartPolicy: Never"), "broken.yaml": "kind: [\n",
		"other.yaml": "kind: ConfigMap\n", "empty.yaml": "", "none/other.yaml": "a: b\n", "nothing/x": "", "info.yaml": strings.Replace(good, "      runAsNonRoot: true\n", "", 1),
		"bad.json": "[]", "cfg.yaml": "ruls: {}\n", "profile.yaml": "platform: x\n", "noprofile.yaml": "a: b\n",
	})
	t.Chdir(dir)
	for _, c := range []struct {
		line string
		code int
	}{
		{"lint good.yaml", 0},
		{"lint warning.yaml", 0},
		{"lint warning.yaml --fail-on warning", 1},
		{"lint warning.yaml --fail-on info", 1},
		{"lint good.yaml --fail-on info", 0},
		{"lint info.yaml --fail-on warning", 0},
		{"lint info.yaml --fail-on info", 1},
		{"lint error.yaml", 1},
		{"lint error.yaml --fail-on never", 0},
		{"lint broken.yaml", 1},
		{"lint broken.yaml --fail-on never", 2}, // no template was checked
		{"lint broken.yaml good.yaml --fail-on never", 0},
		{"lint other.yaml", 2},
		{"lint other.yaml good.yaml error.yaml", 2},
		{"lint empty.yaml", 2},
		{"lint none", 2},
		{"lint nothing", 2},
		{"lint nowhere", 2},
		{"lint nowhere --fail-on never", 2},
		{"lint *.nope", 2},
		{"lint --platform windows", 2},
		{"lint --fail-on fatal", 2},
		{"lint --kube-version 2.0", 2},
		{"lint --color blue", 2},
		{"lint --format xml", 2},
		{"lint --format json=", 2},
		{"lint --format json --format yaml", 2},
		{"lint --format json=a --format yaml=a", 2},
		{"lint --format json=a --output b", 2},
		{"lint good.yaml --write-baseline", 2},
		{"lint good.yaml --baseline bad.json", 2},
		{"lint good.yaml --config cfg.yaml", 2},
		{"lint good.yaml --profile profile.yaml", 2},
		{"lint good.yaml --profile noprofile.yaml", 2},
		{"lint good.yaml --profile nowhere", 2},
		{"lint good.yaml --main-container A_B", 2},
		{"lint good.yaml --claim-name A_B", 2},
		{"lint good.yaml --claim-name a --workspace-mode empty_dir", 2},
		{"lint good.yaml --workspace-mode existing_claim", 0},
		{"lint good.yaml --policy nowhere", 2},
		{"lint warning.yaml --fail-on warning --skip host-namespace", 0},
		{"lint warning.yaml --fail-on warning --only host-namespace,host-path", 1},
		{"lint warning.yaml --fail-on warning --only host-path", 0},
		{"lint warning.yaml --fail-on warning --group privilege", 0},
		{"lint warning.yaml --fail-on warning --group privilege,host", 1},
		{"lint error.yaml --group privilege", 1},
		{"lint good.yaml --skip owned-restart-policy", 2},
		{"lint good.yaml --only nothing", 2},
		{"lint good.yaml --group nothing", 2},
		{"lint --nothing", 2},
		{"nothing", 2},
		{"", 0},
		{"render good.yaml", 0},
		{"render error.yaml", 1},
		{"render broken.yaml", 1},
		{"render nowhere", 2},
		{"render .", 2},
		{"render none", 2},
		{"render good.yaml warning.yaml", 2},
		{"render good.yaml --show-owned --format json", 2},
		{"render good.yaml --show-owned --format xml", 2},
		{"render good.yaml --workspace-mode existing_claim", 2},
		{"render good.yaml --name A_B", 2},
		{"render good.yaml --nonce", 0},
		{"render warning.yaml", 0},
		{"rules nothing", 2},
		{"rules a b", 2},
		{"rules --format json", 0},
		{"rules root-user --format json", 0},
		{"version x", 2},
		{"policy nothing", 2},
		{"policy", 0},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := run(t, "", strings.Fields(c.line)...)
			if r.code != c.code {
				t.Errorf("exit status %d, want %d\n%s%s", r.code, c.code, r.out, r.err)
			}
			if r.code == ExitUnusable && r.err == "" && !strings.Contains(r.out, "error:") {
				t.Error("nothing was said")
			}
		})
	}
	if got := entries(t, dir); len(got) != 13 {
		t.Errorf("left behind: %v", got)
	}
}

func TestSuggestions(t *testing.T) {
	for line, want := range map[string]string{
		"lnt":                   `unknown command "lnt"; did you mean "lint"?`,
		"policy tst":            `unknown command "tst"; did you mean "test"?`,
		"zzzzzz":                "kandev-podlint: unknown command \"zzzzzz\"\n",
		"lint --fromat json":    "unknown flag: --fromat; did you mean --format?",
		"lint --work x":         "unknown flag: --work; did you mean --workspace-mode?",
		"lint --zzzz":           "kandev-podlint: unknown flag: --zzzz\n",
		"lint -z":               "unknown shorthand flag: 'z' in -z\n",
		"rules work-user":       `no rule is named "work-user"; did you mean root-user?`,
		"version x":             "kandev-podlint version takes no arguments, not 1\nkandev-podlint: see kandev-podlint version --help\n",
		"render":                "takes exactly 1 TEMPLATE, not 0",
		"rules a b":             "takes at most 1 RULE, not 2",
		"lint --format jsn":     `unknown format "jsn": use one of text, json, yaml`,
		"lint --platform x":     "must be one of linux/amd64, linux/arm64",
		"lint --kube-version x": "must be a version from 1.",
	} {
		if r := run(t, "", strings.Fields(line)...); !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %s%s", line, r.err, r.out)
		}
	}
}

func TestOutputFiles(t *testing.T) {
	dir := write(t, map[string]string{"t.yaml": with("hostPID: true"), "old.json": "old", "kept.json": "old", "dir/x": ""})
	t.Chdir(dir)
	for link, target := range map[string]string{"link.json": "old.json", "dangling.json": "dir/new.json", "circle": "circle"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod("old.json", 0o640); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "lint", "t.yaml", "--format", "text", "--format", "json=link.json", "--format=sarif=dangling.json", "--format", "yaml=-")
	if r.code != ExitUnusable || read(t, "old.json") != "old" {
		t.Errorf("two formats for standard output: %+v", r)
	}
	r = run(t, "", "lint", "t.yaml", "--format", "json=link.json", "--format=sarif=dangling.json")
	if r.code != 0 || r.out != "" || r.err != "" {
		t.Errorf("%+v", r)
	}
	info, err := os.Lstat("link.json")
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(read(t, "old.json"), `"schemaVersion": 1`) {
		t.Error("the file behind the link was not replaced")
	}
	if info, err := os.Stat("old.json"); err != nil || info.Mode().Perm() != 0o640 {
		t.Error("the file's mode was not kept")
	}
	if !strings.Contains(read(t, "dir/new.json"), "sarif") {
		t.Error("the file that a dangling link names was not made")
	}
	for output, want := range map[string]string{
		"dir":       "dir is a directory, not a file to write",
		"nowhere/x": "nowhere/x cannot be written: no such file or directory",
		"circle":    "circle cannot be written: its symbolic links go round in circles",
		"t.yaml/x":  "t.yaml/x cannot be written: not a directory",
	} {
		if r := run(t, "", "lint", "t.yaml", "--output", output); r.code != ExitUnusable || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", output, r)
		}
	}
	// The old file stays where the run fails, whatever was opened before.
	r = run(t, "", "lint", "t.yaml", "--format", "json=kept.json", "--format", "yaml=nowhere/x")
	if r.code != ExitUnusable || read(t, "kept.json") != "old" {
		t.Errorf("%+v", r)
	}
	r = run(t, "", "lint", "t.yaml", "--policy", "nowhere", "--output", "kept.json")
	if r.code != ExitUnusable || read(t, "kept.json") != "old" {
		t.Errorf("%+v", r)
	}
	// An input that cannot be used is part of the report.
	r = run(t, "", "lint", "nowhere", "--output", "kept.json")
	if r.code != ExitUnusable || !strings.Contains(read(t, "kept.json"), "nowhere: error:") {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(entries(t, "."), " "); got != "circle dangling.json dir kept.json link.json old.json t.yaml" {
		t.Errorf("left behind: %s", got)
	}
}

func TestQuiet(t *testing.T) {
	dir := write(t, map[string]string{"t.yaml": with("hostPID: true"), "e.yaml": with("restartPolicy: Never\n    hostPID: true")})
	t.Chdir(dir)
	if r := run(t, "", "lint", "-q", "t.yaml"); r != (result{}) {
		t.Errorf("%+v", r)
	}
	r := run(t, "", "lint", "-q", "--format", "json", ".")
	var report struct {
		Summary  lint.Summary
		Findings []any
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lint.Summary{Files: 2, Templates: 2, Errors: 1}, report.Summary); diff != "" || len(report.Findings) != 1 || r.code != 1 {
		t.Errorf("the summary counts what is printed: -want +got\n%s", diff)
	}
}

func TestBaseline(t *testing.T) {
	dir := write(t, map[string]string{
		"t/warning.yaml": with("hostPID: true"), "t/error.yaml": with("restartPolicy: Never"), "other.yaml": "a: b\n", "dir/x": "",
	})
	t.Chdir(dir)
	r := run(t, "", "lint", "t", "--fail-on", "info", "--baseline", "b.json", "--write-baseline")
	if r.code != ExitFindings || r.err != "b.json: 1 findings accepted\n" || !strings.Contains(r.out, "owned-restart-policy") || strings.Contains(r.out, "host-namespace") {
		t.Errorf("%+v", r)
	}
	want := read(t, "b.json")
	if strings.Contains(want, "owned-restart-policy") {
		t.Error("an invariant entered the baseline")
	}
	t.Chdir("t")
	if r := run(t, "", "lint", "warning.yaml", "--fail-on", "info", "--baseline", "../b.json"); r.code != 0 || !strings.Contains(r.out, "1 suppressed") {
		t.Errorf("%+v", r)
	}
	r = run(t, "", "lint", filepath.Join(dir, "t", "warning.yaml"), "--baseline", filepath.Join(dir, "c.json"), "--write-baseline", "-q")
	if r.code != 0 || read(t, "../c.json") != want {
		t.Errorf("%+v\n%s", r, read(t, "../c.json"))
	}
	// A run that could not use its input accepts nothing.
	for _, path := range []string{"../other.yaml", "nowhere"} {
		if r := run(t, "", "lint", path, "--baseline", "../new.json", "--write-baseline"); r.code != ExitUnusable {
			t.Errorf("%+v", r)
		}
	}
	if r := run(t, "", "lint", "warning.yaml", "--baseline", "../dir", "--write-baseline"); r.code != ExitUnusable || !strings.Contains(r.err, "is a directory") {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(entries(t, ".."), " "); got != "b.json c.json dir other.yaml t" {
		t.Errorf("left behind: %s", got)
	}
}

func TestConfigFlag(t *testing.T) {
	dir := write(t, map[string]string{"t.yaml": with("hostPID: true"), "c.yaml": "rules: {host-namespace: error}\n", ".kandev-podlint.yaml": "rules: {host-namespace: off}\n"})
	t.Chdir(dir)
	for line, code := range map[string]int{"lint t.yaml --fail-on info": 0, "lint t.yaml --config c.yaml": 1} {
		if r := run(t, "", strings.Fields(line)...); r.code != code {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

func TestPrintable(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("a\x1b[31m\nb.yaml", []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "lint", "-v", ".")
	if r.err != `a\x1b[31m\nb.yaml: 0 findings, 0 suppressed`+"\n" {
		t.Errorf("%q", r.err)
	}
	if r := run(t, "", "lint", "--profile", "x\x1b\"y"); r.err != `kandev-podlint: --profile: open x\x1b"y: no such file or directory`+"\n" {
		t.Errorf("%q", r.err)
	}
}

// TestDeployable: nothing takes a finding about deployment out, and without the flag there is none.
func TestDeployable(t *testing.T) {
	pinned := good[strings.Index(good, "@sha256:"):strings.Index(good, "\n      resources:")]
	comment := " # kandev-podlint:ignore image-placeholder the registry is not there yet"
	dir := write(t, map[string]string{
		"good.yaml":                     good,
		"placeholder.yaml":              strings.Replace(good, pinned, "@sha256:unresolved", 1),
		"mutable.yaml":                  strings.Replace(good, pinned, ":1", 1),
		"suppressed.yaml":               strings.Replace(good, pinned, "@sha256:unresolved"+comment, 1),
		"excluded/template.yaml":        strings.Replace(good, pinned, "@sha256:unresolved", 1),
		"excluded/.kandev-podlint.yaml": "exclude:\n- rules: [image-placeholder]\n  reason: the registry is not there yet\n",
	})
	t.Chdir(dir)
	for _, c := range []struct {
		args string
		want []string
		code int
	}{
		{"good.yaml --deployable", nil, 0},
		{"placeholder.yaml", nil, 0},
		{"placeholder.yaml --deployable", []string{"12:7 error image-placeholder"}, 1},
		{"mutable.yaml --deployable --skip image-not-pinned", []string{"12:7 error image-mutable"}, 1},
		{"suppressed.yaml --deployable", []string{"12:7 error image-placeholder", "12:55 error suppression-forbidden"}, 1},
	} {
		if got, code := findings(t, append([]string{"lint"}, strings.Fields(c.args)...)...); code != c.code || !cmp.Equal(c.want, got) {
			t.Errorf("%s: exit status %d, %q", c.args, code, got)
		}
	}
	if r := run(t, "", "lint", "--deployable", "excluded"); r.code != ExitUnusable || !strings.Contains(r.out, "image-placeholder cannot be excluded: it was asked whether the template can be deployed") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"lint --format ":         "sarif",
		"lint --fail-on ":        "warning",
		"lint --color ":          "always",
		"lint --platform ":       "linux/arm64",
		"lint --workspace-mode ": "existing_claim",
		"render --format ":       "json",
		"diff --format ":         "yaml",
		"rules ":                 "workspace-grant-shape",
		"":                       "render\tShow the Pod",
		"policy ":                "test\tRun the unit tests",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if r := run(t, "", args...); !strings.Contains(r.out, want) {
			t.Errorf("%q: %s", line, r.out)
		}
	}
	if r := run(t, "", "__complete", "rules", "root-user", ""); strings.Contains(r.out, "root") {
		t.Error(r.out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := run(t, "", "completion", shell); r.code != 0 || !strings.Contains(r.out, "kandev-podlint") {
			t.Errorf("%s: %+v", shell, r)
		}
	}
}
