package admission_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/namespacepolicy"
)

const (
	// executorUser is the identity that the policy names.
	executorUser = "system:serviceaccount:kandev-system:kandev-executor"
	// mallory may do everything in the namespace, as RBAC has it.
	mallory = "mallory"
	// administrator may do everything in the cluster.
	administrator = "admin"

	otherImage = "registry.example/dind@sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
)

// dockerTemplate has a privileged companion, which takes the workspace.
var dockerTemplate = filepath.Join("..", "..", "testdata", "templates", "docker.yaml")

// governed is a namespace with the policy, and the clients of those who act there.
type governed struct {
	*server

	name    string
	clients map[string]kubernetes.Interface
}

// govern makes a namespace, applies the policy for the companion of dockerTemplate, and waits until all of it acts.
func (s *server) govern(t *testing.T, name string) *governed {
	t.Helper()
	w := &governed{server: s, name: name, clients: map[string]kubernetes.Interface{administrator: s.client}}
	w.namespace(t, name)
	w.apply(t)
	w.allow(t, executorUser, rulesOfExecutor(t))
	w.allow(t, mallory, []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}})
	w.awaitPolicy(t)
	return w
}

func (w *governed) docker(t *testing.T) compose.Objects {
	t.Helper()
	return composeFrom(t, dockerTemplate, compose.ManagedPVC, w.name)
}

// parameters are those of the namespace: the image is the template's own.
func (w *governed) parameters(t *testing.T) namespacepolicy.Parameters {
	t.Helper()
	p := namespacepolicy.Parameters{Namespace: w.name, Executor: executorUser}
	for _, c := range w.docker(t).Pod.Spec.Containers {
		if c.SecurityContext.Privileged != nil {
			p.Companions = append(p.Companions, namespacepolicy.Companion{Name: c.Name, Image: c.Image})
		}
	}
	return p
}

// apply applies the manifest, of which the policies can be there already.
func (w *governed) apply(t *testing.T) {
	t.Helper()
	manifest, err := namespacepolicy.Manifest(w.parameters(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
}

// rulesOfExecutor are those of k8s/rbac.
func rulesOfExecutor(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join("..", "..", "k8s", "rbac", "managed_pvc.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(bytes.Split(manifest, []byte("\n---\n"))[1], &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// allow gives a user rights in the namespace.
func (w *governed) allow(t *testing.T, user string, rules []rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: strings.ReplaceAll(user, ":", "-"), Namespace: w.name}
	if _, err := w.client.RbacV1().Roles(w.name).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.RbacV1().RoleBindings(w.name).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.clients[user] = w.clientOf(t, user)
}

func (s *server) clientOf(t *testing.T, user string, groups ...string) kubernetes.Interface {
	t.Helper()
	config, err := s.ConfigFor(user, groups...)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.ContentType, config.WarningHandler = -1, "application/json", rest.NoWarnings{}
	return kubernetes.NewForConfigOrDie(config)
}

// awaitPolicy waits until each of the policies refuses what it is there to refuse, and the users may do what RBAC says.
func (w *governed) awaitPolicy(t *testing.T) {
	t.Helper()
	for policy, probe := range map[string]func() error{
		"kandev-baseline": func() error {
			pod := plainPod(w.name, "probe")
			pod.Spec.HostNetwork = true
			return w.try(t, mallory, pod)
		},
		"kandev-grant":      func() error { return w.try(t, mallory, w.docker(t).Pod) },
		"kandev-ownership":  func() error { return w.bind(t, mallory, "nowhere", compose.NonceAnnotation) },
		"kandev-streams":    func() error { return w.stream(t, mallory, "nowhere", "exec", http.MethodPost) },
		"kandev-parameters": func() error { return w.deleteParameters(t, mallory, metav1.DryRunAll) },
	} {
		w.await(t, policy, func() bool { return w.denied(probe(), policy, "") == "" })
	}
	w.await(t, "the executor's rights", func() bool { return w.try(t, executorUser, w.docker(t).Pod) == nil })
}

// denied says how an error is other than a refusal by a policy with certain words; it returns nothing where it is not.
func (w *governed) denied(err error, policy, words string) string {
	said := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%[1]s-%s' denied request: ", policy, w.name)
	if strings.Contains(fmt.Sprint(err), said) && strings.Contains(err.Error(), words) {
		return ""
	}
	return fmt.Sprintf("%s does not say %q: %v", policy, words, err)
}

// verdict holds the outcome of a request against what is wanted: a policy's name and words of it behind a colon, or nothing.
func (w *governed) verdict(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("is not admitted: %v", err)
		}
		return
	}
	policy, words, _ := strings.Cut(want, ": ")
	if complaint := w.denied(err, policy, words); complaint != "" {
		t.Error(complaint)
	}
}

// try sends a create request as a dry run.
func (w *governed) try(t *testing.T, user string, object any) error {
	t.Helper()
	return w.create(t.Context(), user, object, metav1.DryRunAll)
}

func (w *governed) create(ctx context.Context, user string, object any, dryRun ...string) error {
	core, options := w.clients[user].CoreV1(), metav1.CreateOptions{DryRun: dryRun}
	switch o := object.(type) {
	case *corev1.Pod:
		_, err := core.Pods(w.name).Create(ctx, o, options)
		return err
	case *corev1.PersistentVolumeClaim:
		_, err := core.PersistentVolumeClaims(w.name).Create(ctx, o, options)
		return err
	case *corev1.ConfigMap:
		_, err := core.ConfigMaps(w.name).Create(ctx, o, options)
		return err
	}
	return fmt.Errorf("a %T is not created here", object)
}

// bind asks for a binding that carries an annotation.
func (w *governed) bind(t *testing.T, user, pod, annotation string) error {
	t.Helper()
	return w.clients[user].CoreV1().Pods(w.name).Bind(t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: w.name, Annotations: map[string]string{annotation: "x"}},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// stream asks for a stream of a kind, by the method of SPDY or of WebSocket, without the upgrade that would start it.
func (w *governed) stream(t *testing.T, user, pod, kind, method string) error {
	t.Helper()
	request := w.clients[user].CoreV1().RESTClient().Verb(method).Namespace(w.name).Resource("pods").Name(pod).SubResource(kind)
	return request.Param("command", "true").Param("stdout", "true").Param("ports", "1").Do(t.Context()).Error()
}

func (w *governed) deleteParameters(t *testing.T, user string, dryRun ...string) error {
	t.Helper()
	return w.clients[user].CoreV1().ConfigMaps(w.name).Delete(t.Context(), "kandev-policy", metav1.DeleteOptions{DryRun: dryRun})
}

// plainPod is a Pod of somebody else's, which the baseline level allows.
func plainPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{compose.LabelName: "else"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/else:1"}}},
	}
}
