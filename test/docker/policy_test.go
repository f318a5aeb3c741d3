package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/namespacepolicy"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// govern makes the sessions' namespace, under the policy that lets the engine's image be privileged there and makes the
// tests' own user the executor.
func govern(ctx context.Context, c *cluster.Cluster, engineImage string) error {
	kube, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	self, err := kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	manifest, err := namespacepolicy.Manifest(namespacepolicy.Parameters{
		Namespace: namespace, Executor: self.Status.UserInfo.Username,
		Companions: []namespacepolicy.Companion{{Name: engine, Image: engineImage}},
	})
	if err != nil {
		return err
	}
	return errors.Join(c.CreateNamespace(ctx, namespace, nil), c.Apply(ctx, manifest))
}

// TestNamespacePolicy tries what the policy of the sessions' namespace is there to deny.
func TestNamespacePolicy(t *testing.T) {
	w := newWorld(t)
	e := w.executor("policy")
	w.item("Admitted", "under the namespace policy the API server admits the composed Pod as it was sent, with the grants of both containers", func(w *world) string {
		client, err := executor.NewClient(w.cluster.Config())
		if err != nil {
			w.t.Fatal(err)
		}
		dry, err := client.DryRunPod(w.t.Context(), w.composed("policy-dry"))
		if err != nil {
			w.t.Fatal(err)
		}
		report, err := admission.ComparePod(dry.Requested, dry.Admitted, admission.Options{})
		if err != nil || !report.Compatible || len(report.Grants) != 1 || report.Grants[0].Container != engine {
			w.t.Errorf("%+v, %v", report, err)
		}
		return fmt.Sprintf("no violation, %d accepted additions; %s has the workspace %s: %s", len(report.Accepted), engine, report.Grants[0].Admitted, report.Grants[0].Verdict)
	})
	w.item("Denied", "the same Pod is denied for another identity, another image digest or container name, and without its nonce", func(w *world) string {
		return w.denials(w.creates())
	})
	w.item("Tampered", "the ownership labels, the nonce and the images of a session's Pod cannot be changed, and no container added that takes the workspace", func(w *world) string {
		s := w.launch(e, w.request("policy"))
		defer w.end(e, "policy")
		return w.denials(w.updates(s.Row.Pod.Name))
	})
}

// attempt is something that the policy is to deny, and which policy it is that does.
type attempt struct {
	name, policy string
	do           func(context.Context) error
}

// denials makes attempts and tells how many were denied.
func (w *world) denials(attempts []attempt) string {
	w.t.Helper()
	denied := 0
	for _, a := range attempts {
		err := a.do(w.t.Context())
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "'"+a.policy+"'") {
			w.t.Errorf("%s: %v; want it denied by %s", a.name, err, a.policy)
			continue
		}
		denied++
	}
	return fmt.Sprintf("%d of %d attempts denied", denied, len(attempts))
}

// composed is the Pod of a session as the executor sends it.
func (w *world) composed(id string) *corev1.Pod {
	w.t.Helper()
	r := w.request(id)
	objects, err := compose.Compose(r.Template, r.Profile, r.Identity)
	if err != nil {
		w.t.Fatal(err)
	}
	objects.Pod.Namespace = namespace
	compose.SetNonce(objects.Pod, compose.NewNonce())
	return objects.Pod
}

// creates are Pods that are not quite a session's.
func (w *world) creates() []attempt {
	w.t.Helper()
	another := rest.CopyConfig(w.cluster.Config())
	another.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"system:masters"}}
	asAnother, err := kubernetes.NewForConfig(another)
	if err != nil {
		w.t.Fatal(err)
	}
	create := func(name string, kube kubernetes.Interface, change func(*corev1.Pod)) attempt {
		pod := w.composed("policy-denied")
		change(pod)
		return attempt{name, "kandev-grant", func(ctx context.Context) error {
			_, err := kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}}
	}
	companion := func(pod *corev1.Pod) *corev1.Container { return &pod.Spec.Containers[1] }
	return []attempt{
		create("another identity", asAnother, func(*corev1.Pod) {}),
		create("another digest", w.kube, func(pod *corev1.Pod) {
			image := companion(pod).Image
			companion(pod).Image = image[:strings.LastIndex(image, ":")+1] + strings.Repeat("0", 64)
		}),
		create("another container name", w.kube, func(pod *corev1.Pod) { companion(pod).Name = "engine" }),
		create("no nonce", w.kube, func(pod *corev1.Pod) { pod.Annotations = nil }),
	}
}

// updates are changes of a session's Pod.
func (w *world) updates(name string) []attempt {
	patch := func(what, subresource, body string) attempt {
		return attempt{what, "kandev-ownership", func(ctx context.Context) error {
			_, err := w.kube.CoreV1().Pods(namespace).
				Patch(ctx, name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, strings.Fields(subresource)...)
			return err
		}}
	}
	return []attempt{
		patch("another instance", "", `{"metadata":{"labels":{"`+compose.LabelInstanceID+`":"other"}}}`),
		patch("a label taken away", "", `{"metadata":{"labels":{"`+compose.LabelManagedBy+`":null}}}`),
		patch("a label through the status", "status", `{"metadata":{"labels":{"`+compose.LabelTaskID+`":"other"}}}`),
		patch("another nonce", "", `{"metadata":{"annotations":{"`+compose.NonceAnnotation+`":"`+compose.NewNonce()+`"}}}`),
		patch("another image", "", `{"spec":{"containers":[{"name":"`+engine+`","image":"registry.example/other:1"}]}}`),
		patch("a container with the workspace", "ephemeralcontainers", `{"spec":{"ephemeralContainers":[{"name":"debugger","image":"`+w.images.agent+
			`","volumeMounts":[{"name":"`+compose.WorkspaceVolume+`","mountPath":"/workspace"}]}]}}`),
	}
}
