package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// companion is added to the template: a privileged container that takes the workspace.
const companion = `    - name: docker-engine
      image: IMAGE
      imagePullPolicy: IfNotPresent
      command: [sh, -c, "trap exit TERM; echo seen > /workspace/companion; while :; do sleep 1; done"]
      securityContext: {privileged: true}
      volumeMounts: [{name: kandev-workspace, mountPath: /workspace}]
`

// governed is the namespace of k8s/rbac and k8s/policy.
const governed = "kandev"

// TestNamespacePolicy leads a session with a privileged companion through its life on a real node, with exactly the
// rights of k8s/rbac and under the exported policy, which hinders neither the executor nor the cluster's own programs.
func TestNamespacePolicy(t *testing.T) {
	w := newWorld(t)
	s := w.newTerminal()
	image := w.pinnedImage()
	s.write("template.yaml", strings.ReplaceAll(template+companion, "IMAGE", image))
	s.write("other.yaml", strings.ReplaceAll(template+companion, "IMAGE", cluster.BusyboxImage))
	w.applyPolicy(image)
	s.kubeconfig, s.namespace = w.executorKubeconfig(), governed

	if out := s.want(1, "start other.yaml --profile profile.yaml "+materialFlags); out != "" {
		t.Errorf("a session with another image said %q", out)
	}
	if !strings.Contains(s.printed.String(), "ValidatingAdmissionPolicy 'kandev-grant'") || !strings.Contains(s.printed.String(), "docker-engine="+cluster.BusyboxImage) {
		t.Errorf("the refusal is not told:\n%s", &s.printed)
	}
	w.leftIn(governed, 0)

	id := strings.TrimSpace(s.must("", "start template.yaml --profile profile.yaml -q "+materialFlags))
	before := s.shown(id)
	w.settle(func() bool {
		out, code := s.run("", "exec "+id+" -- cat /workspace/companion")
		return code == 0 && out == "seen\n"
	})
	s.forward("forward "+id, "/health")
	w.tamper(before.Pod.Name)
	w.adopt()
	s.must("", "stop "+id)
	s.must("", "resume "+id+" -q")
	s.must("", "stop "+id)

	err := w.kube.CoreV1().Pods(governed).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: before.Pod.Name, Namespace: governed}})
	if err != nil {
		t.Fatal(err)
	}
	w.settle(func() bool {
		_, err := w.kube.CoreV1().Pods(governed).Get(t.Context(), before.Pod.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	s.must("", "resume "+id+" -q "+materialFlags)
	if after := s.shown(id); after.Pod.UID == before.Pod.UID || after.Claim != before.Claim || after.Live.Phase != "Running" {
		t.Errorf("after the eviction: %+v", after)
	}
	s.must("", "delete "+id)
	w.leftIn(governed, 0)
	w.checkTypes()

	if err := w.kube.CoreV1().Namespaces().Delete(t.Context(), governed, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.settle(func() bool {
		_, err := w.kube.CoreV1().Namespaces().Get(t.Context(), governed, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func (s *terminal) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// pinnedImage gives the node's busybox image a name with its digest, as a registry would.
func (w *world) pinnedImage() string {
	w.t.Helper()
	ctr := func(args ...string) string {
		w.t.Helper()
		out, err := w.cluster.NodeCommand(w.t.Context(), "ctr", append([]string{"--namespace", "k8s.io", "images"}, args...)...).CombinedOutput()
		if err != nil {
			w.t.Fatalf("ctr images %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	lines := strings.Split(ctr("list", "name=="+cluster.BusyboxImage), "\n")
	image := strings.TrimSuffix(cluster.BusyboxImage, ":1") + "@" + strings.Fields(lines[1])[2]
	ctr("tag", cluster.BusyboxImage, image)
	return image
}

// applyPolicy applies what the program exports, and k8s/rbac, and waits until the policy acts.
func (w *world) applyPolicy(image string) {
	w.t.Helper()
	program, err := programFile()
	if err != nil {
		w.t.Fatal(err)
	}
	manifest, err := exec.CommandContext(w.t.Context(), program, "policy", "export", "--namespace", governed,
		"--executor-identity", "system:serviceaccount:kandev-system:kandev-executor", "--companion", "docker-engine="+image).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	rbac, err := os.ReadFile(filepath.Join("..", "..", "k8s", "rbac", "managed_pvc.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.cluster.CreateNamespace(w.t.Context(), "kandev-system", nil); err != nil {
		w.t.Fatal(err)
	}
	for _, text := range [][]byte{manifest, rbac} {
		if err := w.cluster.Apply(w.t.Context(), text); err != nil {
			w.t.Fatal(err)
		}
	}
	w.settle(func() bool {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "c", Image: "i", SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			}}},
		}
		_, err := w.kube.CoreV1().Pods(governed).Create(w.t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return strings.Contains(fmt.Sprint(err), "kandev-grant")
	})
}

// executorKubeconfig is that of the service account of k8s/rbac.
func (w *world) executorKubeconfig() string {
	w.t.Helper()
	token, err := w.kube.CoreV1().ServiceAccounts("kandev-system").
		CreateToken(w.t.Context(), "kandev-executor", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(w.cluster.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	*config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = clientcmdapi.AuthInfo{Token: token.Status.Token}
	file := filepath.Join(w.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// leftIn demands that a namespace holds so many Pods and claims of Kandev's.
func (w *world) leftIn(namespace string, n int) {
	w.t.Helper()
	selector := metav1.ListOptions{LabelSelector: compose.LabelManagedBy + "=" + compose.LabelManagedByValue}
	pods, err := w.kube.CoreV1().Pods(namespace).List(w.t.Context(), selector)
	if err != nil {
		w.t.Fatal(err)
	}
	claims, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).List(w.t.Context(), selector)
	if err != nil {
		w.t.Fatal(err)
	}
	if left := len(pods.Items) + len(claims.Items); left != n {
		w.t.Errorf("%d Pods and claims are left, want %d", left, n)
	}
}

// tamper tries, with kubectl and as an administrator, what people do to Pods that run, and as one with the role edit what
// looks into them.
func (w *world) tamper(pod string) {
	w.t.Helper()
	kubectl, err := cluster.Kubectl(w.t.Context(), w.t.Logf)
	if err != nil {
		w.t.Fatal(err)
	}
	editor := filepath.Join(w.t.TempDir(), "editor")
	if err := w.cluster.KubeconfigFor(editor, "editor"); err != nil {
		w.t.Fatal(err)
	}
	run := func(kubeconfig string, args ...string) string {
		ctx, cancel := context.WithCancel(w.t.Context())
		defer cancel()
		out, err := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig", kubeconfig, "-n", governed}, args...)...).CombinedOutput()
		return fmt.Sprintf("%s(%v)", out, err)
	}
	if out := run(w.cluster.Kubeconfig(), "create", "rolebinding", "editor", "--clusterrole", "edit", "--user", "editor"); !strings.HasSuffix(out, "(<nil>)") {
		w.t.Fatal(out)
	}
	admin := w.cluster.Kubeconfig()
	for _, c := range []struct {
		kubeconfig, line, want string
	}{
		{admin, "label pod POD kandev.ai/session-id=mine --overwrite", "kandev-ownership"},
		{admin, "annotate pod POD kandev.ai/create-nonce-", "kandev-ownership"},
		{admin, "set image pod/POD docker-engine=" + cluster.BusyboxImage, "kandev-ownership"},
		{admin, "debug POD --profile=baseline --image=" + cluster.BusyboxImage + " --target=docker-engine", "kandev-ownership"},
		{editor, "exec POD -c docker-engine -- id", "kandev-streams"},
		{editor, "port-forward POD :8765", "kandev-streams"},
		{editor, "attach POD -c docker-engine", "kandev-streams"},
		{editor, "debug POD --profile=baseline --copy-to=copy --image=" + cluster.BusyboxImage, "kandev-grant"},
		{editor, "patch configmap kandev-policy -p {\"data\":{\"executor\":\"editor\"}}", "kandev-parameters"},
		{admin, "exec POD -c docker-engine -- id", "uid=0(root)"},
		{admin, "label pod POD team.example/seen=yes", "labeled"},
	} {
		if out := run(c.kubeconfig, strings.Fields(strings.ReplaceAll(c.line, "POD", pod))...); !strings.Contains(out, c.want) {
			w.t.Errorf("kubectl %s: %s", c.line, out)
		}
	}
}

// adopt has somebody with the role edit create a ReplicaSet that wants the session's Pod, and no Pod at all. Its controller
// would adopt the Pod and delete it.
func (w *world) adopt() {
	w.t.Helper()
	config, err := w.cluster.ConfigFor("editor")
	if err != nil {
		w.t.Fatal(err)
	}
	labels := map[string]string{compose.LabelManagedBy: compose.LabelManagedByValue}
	_, err = kubernetes.NewForConfigOrDie(config).AppsV1().ReplicaSets(governed).Create(w.t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "adopter"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.settle(func() bool {
		log, err := os.ReadFile(w.cluster.AuditLog())
		if err != nil {
			w.t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, `"username":"system:serviceaccount:kube-system:replicaset-controller"`) && strings.Contains(line, "an object of Kandev's gets no owner") {
				return true
			}
		}
		return false
	})
	if err := w.kube.AppsV1().ReplicaSets(governed).Delete(w.t.Context(), "adopter", metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// checkTypes demands that the controller that checks the types of a policy's expressions has nothing to say.
func (w *world) checkTypes() {
	w.t.Helper()
	policies, err := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(policies.Items) != 5 {
		w.t.Fatalf("%d policies, %v", len(policies.Items), err)
	}
	for _, p := range policies.Items {
		if p.Status.ObservedGeneration != p.Generation || p.Status.TypeChecking == nil {
			w.t.Errorf("%s is not checked: %+v", p.Name, p.Status)
			continue
		}
		for _, warning := range p.Status.TypeChecking.ExpressionWarnings {
			w.t.Errorf("%s: %s: %s", p.Name, warning.FieldRef, warning.Warning)
		}
	}
}
