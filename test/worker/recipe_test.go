package worker

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// file returns a file of the recipe.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recipe, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// template reads the recipe's template.
func template(t *testing.T) *compose.Template {
	t.Helper()
	parsed, violations := compose.ParseTemplate([]byte(file(t, "pod-template.yaml")))
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	return parsed
}

// matches returns the first two groups of each match, the second by the first.
func matches(expression, text string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// TestReadmeExplainsFindings: what kandev-podlint says of the template is what the README explains, no more and no less.
func TestReadmeExplainsFindings(t *testing.T) {
	results, err := lint.New(lint.Options{}).Bytes(t.Context(), "pod-template.yaml", []byte(file(t, "pod-template.yaml")), true)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range results[0].Findings {
		found[f.Rule] = string(f.Severity)
		if f.Severity == finding.Error {
			t.Errorf("%s: %s", f.Rule, f.Message)
		}
	}
	explained := matches(`(?m)^\| \[([a-z-]+)\]\([^)]*\) \| (\w+) \| .`, file(t, "README.md"))
	if diff := cmp.Diff(found, explained); diff != "" {
		t.Errorf("-found +explained\n%s", diff)
	}
}

// TestPlaceholders: the template names images that nothing deploys, and nothing else keeps it from being deployed.
func TestPlaceholders(t *testing.T) {
	parsed := template(t)
	var found []string
	for _, v := range compose.Deployable(parsed.Spec, compose.Profile{}) {
		found = append(found, v.Rule+" "+v.Container)
	}
	if diff := cmp.Diff([]string{"image-placeholder kandev-agent", "image-placeholder docker-engine"}, found); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for i := range parsed.Spec.Spec.Containers {
		c := &parsed.Spec.Spec.Containers[i]
		if c.Name == "docker-engine" && c.Image != pins(t)["DAEMON_IMAGE"] {
			t.Errorf("the template's engine is %s, and that of pins.env %s", c.Image, pins(t)["DAEMON_IMAGE"])
		}
		c.Image = strings.Replace(c.Image, compose.PlaceholderDigest, "sha256:"+strings.Repeat("0f", 32), 1)
	}
	if _, err := compose.NewSnapshot(parsed.Spec, compose.Profile{}); err != nil {
		t.Error(err)
	}
}

func pins(t *testing.T) map[string]string {
	t.Helper()
	return matches(`(?m)^([A-Z0-9_]+)=(.+)$`, file(t, "pins.env"))
}

// TestPins: every pin is an argument of the Dockerfile and every argument a pin, and each has the form of what it pins.
func TestPins(t *testing.T) {
	all := pins(t)
	var arguments []string
	for line := range strings.Lines(file(t, "Dockerfile")) {
		if rest, ok := strings.CutPrefix(line, "ARG "); ok {
			arguments = append(arguments, strings.Fields(rest)...)
		}
	}
	slices.Sort(arguments)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return name == "DAEMON_IMAGE" })
	if diff := cmp.Diff(names, arguments); diff != "" {
		t.Errorf("-pins.env +Dockerfile\n%s", diff)
	}
	for name, value := range all {
		form := map[string]string{
			"IMAGE": `\S+@` + compose.PlaceholderDigest + `|\S+@sha256:[0-9a-f]{64}`, "MIRROR": `http://\S+/\d{8}T\d{6}Z`, "SHA256": `[0-9a-f]{64}`,
			"VERSION": `\d+(\.\d+)+`, "SUM": `h1:[A-Za-z0-9+/]{43}=`, "INTEGRITY": `sha512-[A-Za-z0-9+/]{86}==`,
		}[name[strings.LastIndex(name, "_")+1:]]
		if !regexp.MustCompile(`^(`+form+`)$`).MatchString(value) || form == "" {
			t.Errorf("%s=%s", name, value)
		}
	}
}

// TestVersions: the same versions wherever they stand.
func TestVersions(t *testing.T) {
	all := pins(t)
	want := map[string]string{
		"go": all["GO_VERSION"], "golangci-lint": all["GOLANGCI_LINT_VERSION"], "node": all["NODE_VERSION"], "pnpm": all["PNPM_VERSION"],
		"npm:playwright-core": all["PLAYWRIGHT_VERSION"], "python": all["PYTHON_VERSION"], "rust": all["RUST_VERSION"],
	}
	if diff := cmp.Diff(want, matches(`(?m)^"?([a-z:-]+)"? = "([0-9.]+)"$`, file(t, "mise.toml"))); diff != "" {
		t.Errorf("-pins.env +mise.toml\n%s", diff)
	}
	// This repository is one that the image has to fit.
	if sums := file(t, "../../../tools/go.sum"); !strings.Contains(sums, "github.com/golangci/golangci-lint/v2 v"+all["GOLANGCI_LINT_VERSION"]+" "+all["GOLANGCI_LINT_SUM"]+"\n") {
		t.Error("tools/go.sum has another golangci-lint")
	}
}
