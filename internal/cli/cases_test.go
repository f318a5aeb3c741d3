package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// pod is a template whose Pod has more fields, written from column 5 of line 5 on; the first container is kandev-agent,
// and more fields of it may follow at column 7.
func pod(fields, mainFields string) string {
	if fields != "" {
		fields = "    " + fields + "\n"
	}
	if mainFields != "" {
		mainFields = "      " + mainFields + "\n"
	}
	return "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec:\n" + fields +
		"    securityContext: {runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}\n" +
		"    containers:\n    - name: kandev-agent\n      image: registry.example/agent@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70\n" +
		"      resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}}\n" + mainFields
}

// hardened is what a container of a good template has.
const hardened = "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"

// The rows of the public reports, "Documents" and "Pod specs", through the command line. Each names the report that it
// comes from. Findings are written line:column severity rule; infos are left out unless a row is about one.
func TestCases(t *testing.T) {
	doublings := "a0: &a0 [x, x]\n"
	for i := 1; i <= 9; i++ {
		doublings += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimRight(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	for _, c := range []struct {
		report, name, input string
		want                []string
		code                int
	}{
		{"kubernetes #103185", "second document after --- and a comment", pod("", hardened) + "--- # comment\nkind: Pod\n", []string{"12:1 error document-multiple"}, 1},
		{"conftest, kube-score", "second document after --- and a blank", pod("", hardened) + "--- \nkind: Pod\n", []string{"12:1 error document-multiple"}, 1},
		{"document splitters", "first document CRLF, second LF", strings.ReplaceAll(pod("", hardened), "\n", "\r\n") + "---\r\n" + pod("", hardened), []string{"12:1 error document-multiple"}, 1},
		{"kubernetes-sigs/yaml", "an object after the end of the document", pod("", hardened) + "...\nkind: Pod\n", []string{"12:1 error document-multiple"}, 1},
		{"kubernetes #64612", "wrong case of a field", pod("HostNetwork: true", hardened), []string{"5:5 error document-unknown-field"}, 1},
		{"kubernetes #82296", "number for a string", pod("", hardened+"\n      env: [{name: A, value: 8080}]"), []string{"11:23 error document-wrong-type"}, 1},
		{"kube-linter #136", "boolean for a string", "apiVersion: v1\nkind: PodTemplate\nmetadata: {labels: {a: yes}}\n" + strings.SplitN(pod("", hardened), "\n", 3)[2], []string{"3:21 error document-wrong-type"}, 1},
		{"go-yaml #410", "merge key that collides", pod("", "securityContext: {runAsUser: 1000, <<: {runAsUser: 0}}"), []string{"10:7 warning agent-not-confined", "10:25 error document-merge-collision"}, 1},
		{"yq #2110", "merge key without a collision", pod("", "securityContext: {allowPrivilegeEscalation: false, <<: {capabilities: {drop: [ALL]}}}"), nil, 0},
		{"spruce #259", "the keys 1 and \"1\"", pod("nodeSelector: {1: x, \"1\": y}", hardened), []string{"5:26 error document-duplicate-key"}, 1},
		{"go-yaml #222", "booleans of YAML 1.1", pod("hostPID: y", "securityContext: {allowPrivilegeEscalation: true, capabilities: {drop: [ALL]}, privileged: on}"), []string{
			"5:5 warning host-namespace", "5:14 warning document-boolean", "11:25 warning privilege-escalation", "11:86 warning privileged-container", "11:98 warning document-boolean",
		}, 0},
		{"kubernetes #83253", "nine levels of alias doubling", doublings + pod("", hardened), []string{"10:10 error document-aliases"}, 1},
		{"helm #6081", "byte order mark", "\ufeff" + pod("hostPID: true", hardened), []string{"5:5 warning host-namespace"}, 0},
		{"kubesec #120", "empty file", "", []string{"1:1 error document-empty"}, 2},
		{"kubeconform #228", "comments only", "# nothing\n", []string{"1:1 error document-empty"}, 2},
		{"seen", "null list item", "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec:\n    containers:\n    - name: kandev-agent\n      image: a@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70\n    -\n", []string{"6:7 warning agent-not-confined", "8:5 error document-null-item"}, 1},
		{"kube-linter #605", "misspelt suppression", pod("hostPID: true # kandev-podlint:ignore host-namespce x", hardened), []string{"5:5 warning host-namespace", "5:19 error suppression-unknown-rule"}, 1},
		{"kube-linter #1180", "suppression of what does not fire", pod("priority: 1 # kandev-podlint:ignore host-namespace x", hardened), []string{"5:17 warning suppression-unused"}, 0},

		{"vcluster #2169", "mountPath /workspace/", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n      volumeMounts: [{name: v, mountPath: /workspace/}]"), []string{"12:32 error owned-path"}, 1},
		{"jupyter-k8s #468", "mountPath workspace", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n      volumeMounts: [{name: v, mountPath: workspace}]"), []string{"12:32 error owned-path"}, 1},
		{"vcluster #2169", "mountPath /x/../workspace", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n      volumeMounts: [{name: v, mountPath: /x/../workspace}]"), []string{"12:32 error owned-path"}, 1},
		{"mvm #2805", "mount at an ancestor", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n      volumeMounts: [{name: v, mountPath: /run}]"), []string{"12:32 warning owned-path-ancestor"}, 0},
		{"kubernetes #47107", "hostPath //etc/", pod("volumes: [{name: v, hostPath: {path: //etc/}}]", hardened), []string{"5:36 warning sensitive-host-path"}, 0},
		{"kubernetes #47107", "hostPath with ..", pod("volumes: [{name: v, hostPath: {path: /var/run/../run/docker.sock}}]", hardened), []string{"5:36 error api-volume", "5:36 warning sensitive-host-path"}, 1},
		{"kubernetes #119568", "capability with the prefix CAP_", pod("", "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [CAP_SYS_ADMIN]}}"), []string{"10:7 error api-security", "10:92 warning added-capability"}, 1},
		{"kubernetes #131336", "capability in lower case", pod("", "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [sys_admin]}}"), []string{"10:92 warning added-capability"}, 0},
		{"regolibrary #709", "ephemeral containers", pod("ephemeralContainers: [{name: e, image: i}]", hardened), []string{"5:5 error ephemeral-containers"}, 1},
		{"keel #772", "native sidecar with a probe", pod("initContainers: [{name: s, image: i, restartPolicy: Always, livenessProbe: {exec: {command: [x]}}}]", hardened), nil, 0},
		{"keel #772", "native sidecar with a grant", pod("initContainers: [{name: s, image: i, restartPolicy: Always, volumeMounts: [{name: kandev-workspace, mountPath: /workspace}]}]", hardened), []string{"5:81 error workspace-grant-recipient"}, 1},
		{"kubernetes #132157", "procMount without hostUsers", pod("", "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, procMount: Unmasked}"), []string{"10:87 error api-security", "10:87 warning unmasked-proc"}, 1},
		{"kubernetes #132157", "procMount with hostUsers", pod("hostUsers: false", "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, procMount: Unmasked}"), nil, 0},
		{"mvm #2805", "mount at an ancestor beside a grant", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n    - {name: c, image: i@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70, volumeMounts: [{name: kandev-workspace, mountPath: /workspace}, {name: v, mountPath: /}]}"), []string{"12:173 error workspace-grant-overlap"}, 1},
		{"kics #7967", "AppArmor annotation beside a differing field", "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/kandev-agent: unconfined}}\n" + strings.SplitN(pod("", "securityContext: {appArmorProfile: {type: RuntimeDefault}}"), "\n", 4)[3], []string{"4:28 warning apparmor-unconfined", "11:7 warning agent-not-confined", "11:43 error api-security"}, 1},
		{"kics #7967", "AppArmor annotation of no container", "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/nobody: runtime/default}}\n" + strings.SplitN(pod("", hardened), "\n", 4)[3], []string{"4:28 error api-metadata"}, 1},
		{"kubernetes PR #114947", "only the old seccomp annotation", "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default}}\n" + strings.SplitN(pod("", hardened), "\n", 4)[3], []string{"4:28 warning seccomp-annotation"}, 0},
		{"seen", "a projected token without automount", pod("automountServiceAccountToken: false\n    volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]", hardened), []string{"6:48 warning projected-service-account-token"}, 0},
		{"seen", "subPathExpr that leaves the volume", pod("volumes: [{name: v, emptyDir: {}}]", hardened+"\n      env: [{name: P, value: ../../etc}]\n      volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(P)}]"), []string{"13:47 warning sub-path-expansion"}, 0},
		{"seen", "a volume like the API server's own", pod("volumes: [{name: kube-api-access-x, emptyDir: {}}]", hardened), []string{"5:16 warning kube-api-access-volume"}, 0},
		{"seen", "image with :latest and a digest", pod("", hardened+"\n    - {name: c, image: \"i:latest@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70\"}"), nil, 0},
		{"website #44315", "hostPort 0", pod("", hardened+"\n      ports: [{containerPort: 80, hostPort: 0}]"), nil, 0},
	} {
		t.Run(c.report+": "+c.name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"t.yaml": c.input}), "t.yaml")
			start := time.Now()
			got, code := findings(t, "lint", file)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
		})
	}
}

// findings lints and returns the findings but infos as "line:column severity rule", and the exit status.
func findings(t *testing.T, args ...string) ([]string, int) {
	t.Helper()
	r := run(t, "", append(args, "--format", "json")...)
	var report struct{ Findings []finding.Finding }
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	var out []string
	for _, f := range report.Findings {
		if f.Severity != finding.Info {
			out = append(out, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Severity, f.Rule))
		}
	}
	return out, r.code
}

// kube-linter PR #209: one broken file among good ones; polaris #1110: the path as given.
func TestCasesBrokenAmongGood(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": good, "b.yaml": "kind: [\n", "c.yaml": strings.Replace(good, "  spec:\n", "  spec:\n    hostPID: true\n", 1)})
	t.Chdir(dir)
	r := run(t, "", "lint", "./")
	for _, want := range []string{"./b.yaml:1:1: error: not YAML or JSON", "./c.yaml:5:5: warning: the Pod sets hostPID", "2 templates, 1 error, 1 warning"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("missing %q in\n%s", want, r.out)
		}
	}
	if r.code != ExitFindings {
		t.Errorf("exit status %d", r.code)
	}
	if err := os.Remove("a.yaml"); err != nil {
		t.Fatal(err)
	}
}

// kubesec #120, kubeconform #228: empty standard input, as of a failed command upstream.
func TestCasesEmptyStdin(t *testing.T) {
	r := run(t, "", "lint", "-")
	if r.code != ExitUnusable || !strings.Contains(r.out, "<stdin>:1:1: error: the file holds no document") {
		t.Errorf("%+v", r)
	}
}
