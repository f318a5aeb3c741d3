package live

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/test/live/webhook"
)

// A mesh's proxy: an ordinary container that takes nothing of Kandev's.
const proxy = `[{"op": "add", "path": "/spec/containers/0", "value": {"name": "proxy", "image": "registry.example/proxy:1"}}]`

// thief gives the workspace to the first container, which mesh has put there, and renames the session.
const thief = `[{"op": "add", "path": "/spec/containers/-", "value": {"name": "thief", "image": "registry.example/thief:1",
	"volumeMounts": [{"name": "kandev-workspace", "mountPath": "/workspace"}]}}]`

// TestLiveDiff compares what a real API server makes of a template.
func TestLiveDiff(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	hooks := webhook.Serve(t)
	for name, test := range map[string]struct {
		patch string // of a webhook for Pods
		args  []string
		code  int
		want  string // the output
	}{
		"as requested": {
			args: []string{"--workspace-mode", "empty_dir"},
			want: "✓ compatible, admitted as requested\n",
		},
		"with a claim": {
			args: []string{"--all"},
			want: "+ claim.metadata.finalizers\n✓ compatible, 1 accepted addition\n",
		},
		"with a proxy": {
			patch: proxy, args: []string{"--all", "--workspace-mode", "empty_dir"},
			want: "+ spec.containers[proxy]\n✓ compatible, 1 accepted addition\n",
		},
		"with a thief": {
			patch: thief, args: []string{"--workspace-mode", "empty_dir"}, code: 1,
			want: `GRANT TO   REQUESTED   ADMITTED
thief      none        read-write   ADDED by admission
spec.containers[thief].volumeMounts[/workspace]: violation: companion "thief" was given the workspace, read-write, at /workspace [admitted-grant-added]
   = requested: (nothing)
   = admitted: {"name":"kandev-workspace","mountPath":"/workspace"}
✗ 1 violation, 1 accepted addition (--all lists them)
`,
		},
		"quiet": {args: []string{"--quiet"}},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, c, nil)
			if test.patch != "" {
				hooks.Mutating(t, client, ns, "mutate.example.com", webhook.Patch(test.patch))
			}
			r := run(t, c.Kubeconfig(), append([]string{"diff", "--live", "-n", ns, template(t, "")}, test.args...)...)
			if r.code != test.code || r.out != test.want || r.err != "" {
				t.Errorf("%s\nwant status %d and\n%s", r, test.code, test.want)
			}
			if pods, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
				t.Errorf("%d Pods are there: %v", len(pods.Items), err)
			}
		})
	}
}

// TestLiveWarnings demands that the server's warnings are shown, as text and as data.
func TestLiveWarnings(t *testing.T) {
	c := api(t)
	ns := namespace(t, c, map[string]string{"pod-security.kubernetes.io/warn": "restricted"})
	args := []string{"diff", "--live", "-n", ns, template(t, "")}
	if r := run(t, c.Kubeconfig(), args...); r.code != 0 || !strings.Contains(r.out, `cluster warning: would violate PodSecurity "restricted:latest": `) {
		t.Errorf("%s", r)
	}
	r := run(t, c.Kubeconfig(), append(args, "--format", "json")...)
	var got refusals
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 || !got.Compatible || len(got.Warnings) != 1 || len(got.Refusals) != 0 {
		t.Errorf("%v %s", err, r)
	}
}

// TestDiffOfPod compares a Pod that exists with what render printed.
func TestDiffOfPod(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	ns := namespace(t, c, nil)
	file := template(t, "")
	rendered := run(t, c.Kubeconfig(), "render", "--workspace-mode", "empty_dir", file)
	requested := write(t, "requested.yaml", rendered.out)
	pod := decodePod(t, rendered.out)
	compose.SetNonce(pod, compose.NewNonce())
	pod, err := client.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--pod", ns + "/" + pod.Name}, {"--pod", pod.Name, "-n", ns}} {
		r := run(t, c.Kubeconfig(), append([]string{"diff", "--requested", requested}, args...)...)
		if r.code != 0 || r.out != "✓ compatible, admitted as requested\n" {
			t.Errorf("%v: %s", args, r)
		}
	}
	pod.Labels[compose.LabelSessionID] = "another"
	if _, err := client.CoreV1().Pods(ns).Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := run(t, c.Kubeconfig(), "diff", "--requested", requested, "--pod", pod.Name, "-n", ns); r.code != 1 || !strings.Contains(r.out, "ownership label kandev.ai/session-id was changed") {
		t.Errorf("%s", r)
	}
	if r := run(t, c.Kubeconfig(), "diff", "--requested", requested, "--pod", "nowhere", "-n", ns); r.code != 3 || !strings.Contains(r.err, `pods "nowhere" not found`) {
		t.Errorf("%s", r)
	}
}

func decodePod(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}
