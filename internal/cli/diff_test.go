package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/admission"
)

// rendered is what render prints of a good template.
func rendered(t *testing.T, args ...string) string {
	t.Helper()
	r := run(t, good, append([]string{"render", "-"}, args...)...)
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	return r.out
}

func TestDiff(t *testing.T) {
	requested := rendered(t)
	claim, pod, _ := strings.Cut(requested, "---\n")
	scheduled := pod + "status: {conditions: [{type: PodScheduled, status: \"True\"}]}\n"
	scheduled = strings.Replace(scheduled, "spec:\n", "spec:\n  nodeName: node-1\n", 1)
	escalated := strings.Replace(pod, "spec:\n", "spec:\n  hostPID: true\n", 1)
	list := rendered(t, "--format", "json")
	dir := write(t, map[string]string{
		"requested.yaml": requested, "pod.yaml": pod, "claim.yaml": claim, "list.json": list, "scheduled.yaml": scheduled,
		"early.yaml": strings.Replace(pod, "spec:\n", "spec:\n  nodeName: node-1\n", 1), "escalated.yaml": escalated,
		"moved.yaml": strings.Replace(requested, "mountPath: /workspace", "mountPath: /work", 1),
		"size.yaml":  strings.Replace(requested, "storage: 10Gi", "storage: 20Gi", 1),
		"two.yaml":   pod + "---\n" + pod, "claims.yaml": requested + "---\n" + claim, "other.yaml": "kind: ConfigMap\n", "broken.yaml": "[\n",
		"unknown.yaml": strings.Replace(pod, "spec:\n", "spec:\n  newField: x\n", 1), "typed.yaml": "kind: [x]\n", "duplicate.yaml": "kind: Pod\nkind: Pod\n",
		"profile.yaml": "main_container: other\n", "empty.yaml": "",
	})
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "empty.yaml"))
	for _, c := range []struct {
		requested, admitted, args string
		code                      int
		want                      string
	}{
		{"requested.yaml", "requested.yaml", "", 0, "✓ compatible"},
		{"requested.yaml", "list.json", "", 0, "✓ compatible"},
		{"requested.yaml", "requested.yaml", "-q", 0, ""},
		{"requested.yaml", "pod.yaml", "", 0, "pod.yaml holds no PersistentVolumeClaim, so the one in requested.yaml is not compared"},
		{"requested.yaml", "pod.yaml", "-v", 0, "main container kandev-agent, compared as seen at create"},
		{"pod.yaml", "scheduled.yaml", "-v", 0, "compared as seen after scheduling"},
		{"pod.yaml", "early.yaml", "", 1, "nodeName"},
		{"pod.yaml", "escalated.yaml", "", 1, "escalation: the Pod sets hostPID"},
		{"requested.yaml", "moved.yaml", "", 1, "/work"},
		{"requested.yaml", "moved.yaml", "-q", 1, "/work"},
		{"requested.yaml", "size.yaml", "", 1, "claim."},
		{"pod.yaml", "requested.yaml", "", 2, "requested.yaml holds a PersistentVolumeClaim, pod.yaml none"},
		{"two.yaml", "pod.yaml", "", 2, "two.yaml: more than one Pod"},
		{"claims.yaml", "pod.yaml", "", 2, "claims.yaml: more than one PersistentVolumeClaim"},
		{"claim.yaml", "pod.yaml", "", 2, "claim.yaml holds no Pod"},
		{"empty.yaml", "pod.yaml", "", 2, "empty.yaml holds no Pod"},
		{"other.yaml", "pod.yaml", "", 2, `other.yaml: a "ConfigMap" is neither a Pod nor a PersistentVolumeClaim`},
		{"broken.yaml", "pod.yaml", "", 2, "broken.yaml:1:1: not YAML or JSON"},
		{"duplicate.yaml", "pod.yaml", "", 2, "duplicate.yaml:2:1:"},
		{"typed.yaml", "pod.yaml", "", 2, "typed.yaml: "},
		{"pod.yaml", "unknown.yaml", "", 2, `unknown.yaml: unknown field "spec.newField"`},
		{"nowhere", "pod.yaml", "", 2, "open nowhere: no such file or directory"},
		{"pod.yaml", "nowhere", "", 2, "open nowhere: no such file or directory"},
		{"-", "-", "", 2, "standard input can be only one of the two"},
		{"", "pod.yaml", "", 2, "--requested FILE is needed, and --admitted FILE or --pod NAME; or TEMPLATE with --live"},
		{"pod.yaml", "", "", 2, "--requested FILE is needed, and --admitted FILE or --pod NAME; or TEMPLATE with --live"},
		{"pod.yaml", "pod.yaml", "--pod a", 2, "the admitted Pod is either --pod or --admitted"},
		{"pod.yaml", "pod.yaml", "template.yaml", 2, "a TEMPLATE is compared with --live"},
		{"pod.yaml", "pod.yaml", "--live template.yaml", 2, "--live takes a TEMPLATE, and none of --requested, --admitted and --pod"},
		{"", "", "--live", 2, "--live takes a TEMPLATE, and none of --requested, --admitted and --pod"},
		{"", "", "--live nowhere.yaml", 2, "nowhere.yaml"},
		{"", "", "a b", 2, "kandev-podlint diff takes at most 1 TEMPLATE, not 2"},
		{"pod.yaml", "", "--pod a/b/c", 2, "--pod takes NAME or NAMESPACE/NAME"},
		{"pod.yaml", "", "--pod a --kubeconfig nowhere", 2, "nowhere: no such file or directory"},
		{"pod.yaml", "", "--pod a --context nowhere", 2, "kubeconfig: "},
		{"pod.yaml", "", "--pod a", 2, "there is no kubeconfig and no service account of a Pod"},
		{"pod.yaml", "pod.yaml", "--profile profile.yaml", 2, `pod.yaml has no container "other": name the agent's with --main-container`},
		{"pod.yaml", "pod.yaml", "--profile profile.yaml --main-container kandev-agent", 0, "✓ compatible"},
		{"pod.yaml", "pod.yaml", "--profile nowhere", 2, "--profile: open nowhere"},
		{"pod.yaml", "pod.yaml", "--format xml", 2, "unknown format"},
	} {
		name := strings.TrimSpace(c.requested + " " + c.admitted + " " + c.args)
		t.Run(name, func(t *testing.T) {
			r := run(t, "", append([]string{"diff", "--requested", c.requested, "--admitted", c.admitted}, strings.Fields(c.args)...)...)
			if r.code != c.code || !strings.Contains(r.out+r.err, c.want) || c.want == "" && r.out != "" {
				t.Errorf("exit status %d, want %d and %q\n%s%s", r.code, c.code, c.want, r.out, r.err)
			}
		})
	}
	r := run(t, pod, "diff", "--requested", "pod.yaml", "--admitted", "-", "--format", "json")
	var report admission.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || !report.Compatible {
		t.Errorf("%v: %+v", err, r)
	}
}
