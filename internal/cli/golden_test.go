package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// What a person sees, word by word, for each command over testdata/. `go test ./internal/cli -update` writes the files
// anew; read them before you keep them.
func TestGolden(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	dir, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../testdata")
	for _, c := range []struct{ name, line string }{
		{"help", "--help"},
		{"lint-help", "lint --help"},
		{"render-help", "render --help"},
		{"diff-help", "diff --help"},
		{"probe-help", "probe --help"},
		{"session-help", "session --help"},
		{"session-start-help", "session start --help"},
		{"session-list-help", "session list --help"},
		{"session-show-help", "session show --help"},
		{"session-exec-help", "session exec --help"},
		{"session-forward-help", "session forward --help"},
		{"session-logs-help", "session logs --help"},
		{"session-stop-help", "session stop --help"},
		{"session-resume-help", "session resume --help"},
		{"session-delete-help", "session delete --help"},
		{"session-doctor-help", "session doctor --help"},
		{"rules-help", "rules --help"},
		{"policy-test-help", "policy test --help"},
		{"policy-export-help", "policy export --help"},
		{"lint-templates", "lint templates"},
		{"lint-broken", "lint broken"},
		{"lint-broken-quiet", "lint -q broken templates"},
		{"lint-profiles", "lint profiles"},
		{"lint-verbose", "lint -v -q --fail-on never ."},
		{"lint-colour", "lint --color always broken/grant.yaml"},
		{"lint-deployable", "lint --deployable ../docs/examples/unresolved.yaml"},
		{"lint-main-container", "lint --main-container coder templates/minimal.yaml"},
		{"lint-missing", "lint nowhere.yaml templates/minimal.yaml"},
		{"lint-json", "lint --format json broken/grant.yaml"},
		{"render-minimal", "render templates/minimal.yaml"},
		{"render-owned", "render --show-owned templates/docker.yaml"},
		{"render-json", "render --format json templates/minimal.yaml --workspace-mode empty_dir --platform linux/arm64"},
		{"render-claim", "render templates/minimal.yaml --claim-name work --name session-7 --verbose"},
		{"render-broken", "render broken/grant.yaml"},
		{"render-placeholder", "render ../docs/examples/unresolved.yaml --workspace-mode empty_dir"},
		{"render-images", "render ../docs/examples/unresolved.yaml --set-image kandev-agent=registry.example/agent:1.4@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70"},
		{"diff-mesh", "diff --all --requested requested.yaml --admitted admitted/mesh.yaml"},
		{"diff-tampered", "diff --requested requested.yaml --admitted admitted/tampered.yaml"},
		{"rules-one", "rules workspace-grant-shape"},
		{"rules-unknown", "rules workspace-grants-shape"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, "", strings.Fields(c.line)...)
			got := fmt.Sprintf("$ kandev-podlint %s\n%s", c.line, r.out)
			if r.err != "" {
				got += "--- standard error\n" + r.err
			}
			got = scrub(t, fmt.Sprintf("%s--- exit status %d\n", got, r.code))
			file := filepath.Join(dir, c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(t, file), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// scrub puts words in place of what changes with every build and of the bootstrap script, which has tests of its own.
func scrub(t *testing.T, text string) string {
	t.Helper()
	script := bootstrap.Command(bootstrap.Options{})[2]
	var inYAML strings.Builder
	for line := range strings.Lines(script) {
		inYAML.WriteString("      " + line)
	}
	var inJSON strings.Builder
	enc := json.NewEncoder(&inJSON)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(script); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		inYAML.String(), "      SCRIPT\n", strings.TrimSpace(inJSON.String()), `"SCRIPT"`, toolVersion(), "VERSION",
	).Replace(text)
}

// Two runs print the same bytes in every format.
func TestSameBytesTwice(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml", "sarif", "junit", "github", "gitlab", "checkstyle", "tap", "html"} {
		first := run(t, "", "lint", "--format", format, "../../testdata")
		if second := run(t, "", "lint", "--format", format, "../../testdata"); first != second {
			t.Errorf("%s: %s", format, cmp.Diff(first.out, second.out))
		}
	}
}
