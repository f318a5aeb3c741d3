package executor

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

var update = flag.Bool("update", false, "rewrite the generated files")

// TestManifests holds k8s/rbac against Rules: a file a workspace mode.
func TestManifests(t *testing.T) {
	for _, mode := range compose.WorkspaceModes() {
		file := filepath.Join("..", "..", "k8s", "rbac", string(mode)+".yaml")
		want := manifest(mode)
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s, which go test ./pkg/executor -run Manifests -update rewrites:\n%s", file, diff)
		}
	}
}

// manifest is the file of one workspace mode.
func manifest(mode compose.WorkspaceMode) string {
	var rules strings.Builder
	for _, r := range Rules(mode) {
		rules.WriteString("- apiGroups: [\"\"]\n  resources: [" + strings.Join(r.Resources, ", ") + "]\n  verbs: [" + strings.Join(r.Verbs, ", ") + "]\n")
	}
	return `# The executor's identity for sessions with workspace mode ` + string(mode) + `, made from pkg/executor Rules.
# The sessions' namespace is kandev. The account is in another one, kandev-system: whoever may create Pods in a
# namespace may run them as any account in it. It is no account for sessions; theirs is the template's to name.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: kandev-executor
  namespace: kandev-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: kandev-executor
  namespace: kandev
rules:
` + rules.String() + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: kandev-executor
  namespace: kandev
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: kandev-executor
subjects:
- kind: ServiceAccount
  name: kandev-executor
  namespace: kandev-system
`
}
