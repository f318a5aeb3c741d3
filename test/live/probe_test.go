package live

import (
	"archive/tar"
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	reviewv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/test/cluster"
	"github.com/kandev/kandev-podlint/test/live/webhook"
)

// agent is a template that the node can run, with more of the Pod's spec and of the container.
func agent(t *testing.T, spec, container string) string {
	t.Helper()
	return write(t, "template.yaml", `apiVersion: v1
kind: PodTemplate
template:
  spec:
`+spec+`    containers:
    - name: kandev-agent
      imagePullPolicy: IfNotPresent
`+container)
}

const (
	busybox = "      image: " + cluster.BusyboxImage + "\n"
	user    = "    securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000}\n"
)

// verdicts lists what failed, with its reason, and what is optional.
func verdicts(r executor.ProbeReport) map[string]string {
	out := map[string]string{}
	for _, s := range r.Steps {
		if s.Verdict == executor.Fail {
			out[s.Key] = string(s.Reason)
			if s.Optional {
				out[s.Key] += ", optional"
			}
		}
	}
	return out
}

// TestProbe has a real node run the disposable Pod of good templates and of bad ones.
func TestProbe(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	toolless(t, c)
	classless := write(t, "profile.yaml", "workspace: {mode: managed_pvc, size: 1Gi, storage_class: nowhere}\n")
	for name, test := range map[string]struct {
		template string
		args     []string
		code     int
		want     map[string]string // failed steps and their reasons
		said     string            // a part of what is said of them
	}{
		"empty_dir as a user":  {template: agent(t, user, busybox), args: modes["empty_dir"]},
		"managed_pvc as root":  {template: agent(t, "", busybox)},
		"waits for a consumer": {template: agent(t, "", busybox), args: []string{"--profile", write(t, "p.yaml", "workspace: {mode: managed_pvc, size: 1Gi, storage_class: "+cluster.StorageClassWaitForFirstConsumer+"}\n")}},
		"existing_claim":       {template: agent(t, "", busybox), args: modes["existing_claim"]},
		"a volume of another user": {
			template: agent(t, user, busybox), code: 1, // hostPath volumes do not take the fsGroup
			want: map[string]string{"volumes": "volume-not-usable"}, said: "/workspace: cannot be written by this user",
		},
		"no such claim": {
			template: agent(t, "", busybox), args: []string{"--claim-name", "nowhere"}, code: 1,
			want: map[string]string{"existing-claim": "not-found"}, said: `persistentvolumeclaims "nowhere" not found`,
		},
		"no shell": {
			template: agent(t, "", "      image: "+cluster.PauseImage+"\n"), args: modes["empty_dir"], code: 1,
			want: map[string]string{"pod-start": "crashed"}, said: `exec: "/bin/sh": stat /bin/sh: no such file or directory`,
		},
		"no tools": {
			template: agent(t, "", "      image: kandev.test/toolless:1\n"), args: modes["empty_dir"], code: 1,
			want: map[string]string{"pod-start": "crashed"}, said: "ended with status 80: kandev-bootstrap: the image has no cat",
		},
		"no such image": {
			template: agent(t, "", "      image: registry.invalid/agent:1\n"), args: modes["empty_dir"], code: 1,
			want: map[string]string{"pod-start": "image-pull"}, said: "registry.invalid",
		},
		"a missing secret": {
			template: agent(t, "", busybox+"      env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: k}}}]\n"), args: modes["empty_dir"], code: 1,
			want: map[string]string{"pod-start": "container-config"}, said: `secret "keys" not found`,
		},
		"unschedulable": {
			template: agent(t, "    nodeSelector: {pool: gpu}\n", busybox), args: modes["empty_dir"], code: 1,
			want: map[string]string{"pod-start": "unschedulable"}, said: "didn't match Pod's node affinity/selector",
		},
		"no such class": {
			template: agent(t, "", busybox), args: []string{"--profile", classless}, code: 1,
			want: map[string]string{"pod-start": "claim-pending"}, said: `storageclass.storage.k8s.io "nowhere" not found`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t, c, nil)
			existing(t, client, ns)
			r := run(t, c.Kubeconfig(), append([]string{"probe", "--format", "json", "-n", ns, test.template}, test.args...)...)
			report := probeReport(t, r)
			if test.want == nil {
				test.want = map[string]string{}
			}
			if diff := cmp.Diff(test.want, verdicts(report)); diff != "" || r.code != test.code || !strings.Contains(plain(report), test.said) {
				t.Errorf("exit status %d, %s\n%s%s", r.code, diff, plain(report), r.err)
			}
			leavesNothing(t, client, ns)
		})
	}
}

// plain is everything that a report says.
func plain(r executor.ProbeReport) string {
	var b strings.Builder
	for _, s := range r.Steps {
		b.WriteString(s.Message + "\n" + strings.Join(s.Details, "\n") + "\n")
	}
	return b.String()
}

// onCreate is a hook that leaves dry runs alone.
func onCreate(patch string) webhook.Hook {
	change := webhook.Patch(patch)
	return func(r *reviewv1.AdmissionRequest) *reviewv1.AdmissionResponse {
		if r.DryRun != nil && *r.DryRun {
			return &reviewv1.AdmissionResponse{Allowed: true}
		}
		return change(r)
	}
}

// toolless gives the node an image with dash and nothing else: busybox finds its tools without a file for each.
func toolless(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	shell, err := exec.LookPath("dash")
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := exec.Command("ldd", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"bin/sh": shell}
	for _, library := range regexp.MustCompile(`(/\S+) \(0x`).FindAllStringSubmatch(string(libraries), -1) {
		files[strings.TrimPrefix(library[1], "/")] = library[1]
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for name, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	image := cluster.Image{Name: "kandev.test/toolless:1", Env: []string{"PATH=/bin"}}
	if err := c.ImportImage(t.Context(), image, bytes.NewReader(layer.Bytes())); err != nil {
		t.Fatal(err)
	}
}

// TestProbeWithLeastPrivilege runs the whole probe with exactly the manifest's rights.
func TestProbeWithLeastPrivilege(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	for mode, args := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t, c, nil)
			existing(t, client, ns)
			kubeconfig := manifest(t, mode).create(t, c, client, ns)
			r := run(t, kubeconfig, append([]string{"probe", "-v", "-n", ns, agent(t, "", busybox)}, args...)...)
			if r.code != 0 {
				t.Errorf("%s", r)
			}
			leavesNothing(t, client, ns)
		})
	}
}

// TestProbeInterrupted interrupts a probe that waits for its Pod. The Pod is deleted before the program ends.
func TestProbeInterrupted(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	ns := namespace(t, c, nil)
	cmd := command(t, c.Kubeconfig(), "probe", "-n", ns, agent(t, "    nodeSelector: {pool: gpu}\n", busybox))
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "pod-create") {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || errOut.String() != "kandev-podlint: interrupted\n" ||
		!strings.Contains(text.String(), "✓ pod-delete") || !strings.Contains(text.String(), "✓ claim-delete") || !strings.Contains(text.String(), "✗ interrupted") {
		t.Errorf("exit status %d\n%s%s", code, &text, &errOut)
	}
	leavesNothing(t, client, ns)
}

// TestProbeTampered: what a webhook does to the real create alone is found, and the object that came of it is deleted, under
// whatever name.
func TestProbeTampered(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	hooks := webhook.Serve(t)
	for name, test := range map[string]struct{ patch, said string }{
		"gives the workspace away": {thief, `companion "thief" was given the workspace`},
		"renames":                  {rename, "the object was renamed"},
		"drops the nonce":          {`[{"op": "remove", "path": "/metadata/annotations"}]`, "create nonce"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, c, nil)
			hooks.Mutating(t, client, ns, "mutate.example.com", onCreate(test.patch))
			r := run(t, c.Kubeconfig(), "probe", "--format", "json", "--workspace-mode", "empty_dir", "-n", ns, template(t, ""))
			report := probeReport(t, r)
			if diff := cmp.Diff(map[string]string{"pod-create": "admission-incompatible"}, verdicts(report)); diff != "" || r.code != 1 || !strings.Contains(plain(report), test.said) {
				t.Errorf("exit status %d, %s\n%s%s", r.code, diff, plain(report), r.err)
			}
			leavesNothing(t, client, ns)
		})
	}
}

// rename gives every object one name.
const rename = `[{"op": "replace", "path": "/metadata/name", "value": "renamed"}]`

// TestProbeLeavesForeignPodsAlone: a Pod under the name that a probe's gets, and without its nonce, is not the probe's.
func TestProbeLeavesForeignPodsAlone(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	ns := namespace(t, c, nil)
	foreign := decodePod(t, run(t, c.Kubeconfig(), "render", "--workspace-mode", "empty_dir", "--name", "renamed", template(t, "")).out)
	before, err := client.CoreV1().Pods(ns).Create(t.Context(), foreign, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	webhook.Serve(t).Mutating(t, client, ns, "mutate.example.com", onCreate(rename))
	r := run(t, c.Kubeconfig(), "probe", "--format", "json", "--workspace-mode", "empty_dir", "-n", ns, template(t, ""))
	if diff := cmp.Diff(map[string]string{"pod-create": "already-exists"}, verdicts(probeReport(t, r))); diff != "" || r.code != 3 {
		t.Errorf("%s\n%s", diff, r)
	}
	after, err := client.CoreV1().Pods(ns).Get(t.Context(), "renamed", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// TestPages holds what the pages show of a cluster against one.
func TestPages(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	if err := c.CreateNamespace(t.Context(), "kandev", map[string]string{"pod-security.kubernetes.io/warn": "baseline"}); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateNamespace(t.Context(), "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}); err != nil {
		t.Fatal(err)
	}
	tag := c.NodeCommand(t.Context(), "ctr", "--namespace", "k8s.io", "images", "tag", cluster.BusyboxImage, "registry.example/agent:1.4")
	if out, err := tag.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lacks(t, client, "alice", "pods/exec", "create")
	lacks(t, client, "bob", "pods/portforward", "get")
	replayPages(t, c)
}

// lacks gives a user of the pages all rights of the executor but one.
func lacks(t *testing.T, client kubernetes.Interface, user, resource, verb string) {
	t.Helper()
	id := manifest(t, "empty_dir")
	for i, rule := range id.role.Rules {
		if rule.Resources[0] == resource {
			id.role.Rules[i].Verbs = slices.DeleteFunc(rule.Verbs, func(v string) bool { return v == verb })
		}
	}
	id.role.Name, id.binding.Name, id.binding.RoleRef.Name = user, user, user
	id.binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user, APIGroup: rbacv1.GroupName}}
	if _, err := client.RbacV1().Roles(id.role.Namespace).Create(t.Context(), &id.role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RbacV1().RoleBindings(id.role.Namespace).Create(t.Context(), &id.binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
