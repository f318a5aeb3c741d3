package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// metadataPatches are merge patches that change what makes an object Kandev's, by what they do.
func metadataPatches(labels map[string]string) map[string]string {
	patches := map[string]string{
		"change the nonce":            `{"metadata": {"annotations": {"kandev.ai/create-nonce": "` + compose.NewNonce() + `"}}}`,
		"remove the nonce":            `{"metadata": {"annotations": {"kandev.ai/create-nonce": null}}}`,
		"remove all annotations":      `{"metadata": {"annotations": null}}`,
		"remove all labels":           `{"metadata": {"labels": null}}`,
		"remove all metadata":         `{"metadata": {"labels": null, "annotations": null}}`,
		"add a label of Kandev's":     `{"metadata": {"labels": {"kandev.ai/x": "y"}}}`,
		"add an annotation of theirs": `{"metadata": {"annotations": {"kandev.ai/x": "y"}}}`,
	}
	for key := range labels {
		if compose.IsReservedKey(key) {
			patches["change "+key] = fmt.Sprintf(`{"metadata": {"labels": {%q: "x"}}}`, key)
			patches["empty "+key] = fmt.Sprintf(`{"metadata": {"labels": {%q: ""}}}`, key)
			patches["remove "+key] = fmt.Sprintf(`{"metadata": {"labels": {%q: null}}}`, key)
		}
	}
	return patches
}

// ownerPatch gives an object an owner that does not exist, for which the garbage collector would delete it.
const ownerPatch = `{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "nowhere", "uid": "0"}]}}`

// TestNamespacePolicyUpdate has an administrator, whom RBAC refuses nothing, change a session's objects by every route.
// The same requests change an object where there is no policy.
func TestNamespacePolicyUpdate(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		older := s.createOlder(t, "policy-update")
		w := s.govern(t, "policy-update")
		for _, name := range older {
			t.Run(name, func(t *testing.T) {
				const patch = `{"metadata": {"labels": null, "annotations": null}}`
				w.verdict(t, w.patchNamed(t, name, "pods", types.MergePatchType, patch), "kandev-ownership: stay as they were created")
			})
		}
		free := &governed{server: s, name: "policy-none", clients: w.clients}
		free.namespace(t, free.name)
		objects := w.docker(t)
		for _, o := range []any{objects.Pod, objects.Claim} {
			if err := w.create(t.Context(), executorUser, o); err != nil {
				t.Fatal(err)
			}
		}
		routes := 0
		for _, kind := range []string{"pods", "persistentvolumeclaims"} {
			patches := metadataPatches(objects.Pod.Labels)
			for name, patch := range patches {
				for _, subresource := range []string{"", "status"} {
					for _, patchType := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
						routes++
						t.Run(fmt.Sprintf("%s/%s %s %s", kind, name, subresource, patchType), func(t *testing.T) {
							w.verdict(t, w.patch(t, kind, patchType, patch, subresource), "kandev-ownership: stay as they were created; changed: ")
							if err := free.tampers(t, kind, patchType, patch, subresource); err != nil {
								t.Error(err)
							}
						})
					}
				}
			}
			t.Run(kind+"/routes without metadata", func(t *testing.T) { w.testRoutesWithoutMetadata(t, kind) })
			t.Run(kind+"/owner", func(t *testing.T) {
				w.verdict(t, w.patch(t, kind, types.MergePatchType, ownerPatch), "kandev-ownership: gets no owner")
			})
			t.Run(kind+"/free label", func(t *testing.T) {
				w.verdict(t, w.patch(t, kind, types.MergePatchType, `{"metadata": {"labels": {"team.example/x": "y"}}}`), "")
			})
		}
		t.Logf("%s: %d requests that change reserved metadata", s.Version(), routes)
		t.Run("bindings", func(t *testing.T) { w.testBindings(t, free) })
		t.Run("spec", w.testSpec)
		t.Run("others", w.testOtherUpdates)
		t.Run("not hindered", w.testNotHindered)
	})
}

// createOlder creates Pods from before the policy, each with a part of what makes it Kandev's, and returns their names.
func (s *server) createOlder(t *testing.T, namespace string) []string {
	t.Helper()
	s.namespace(t, namespace)
	labelled, managed, annotated := plainPod(namespace, "labelled"), plainPod(namespace, "managed"), plainPod(namespace, "annotated")
	labelled.Labels[compose.LabelSessionID] = "x"
	managed.Labels[compose.LabelManagedBy] = compose.LabelManagedByValue
	compose.SetNonce(annotated, compose.NewNonce())
	var names []string
	for _, pod := range []*corev1.Pod{labelled, managed, annotated} {
		if _, err := s.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		names = append(names, pod.Name)
	}
	return names
}

// testRoutesWithoutMetadata changes metadata through subresources that leave it alone.
func (w *governed) testRoutesWithoutMetadata(t *testing.T, kind string) {
	if kind != "pods" {
		return
	}
	pods := w.client.CoreV1().Pods(w.name)
	before, err := pods.Get(t.Context(), w.sessionName(t, kind), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, subresource := range []string{"ephemeralcontainers", "resize"} {
		for _, patch := range metadataPatches(before.Labels) {
			_ = w.patch(t, kind, types.MergePatchType, patch, subresource) // refused or not: what counts is what is there
		}
	}
	after, err := pods.Get(t.Context(), before.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{before.Labels, before.Annotations}, []any{after.Labels, after.Annotations}); diff != "" {
		t.Error(diff)
	}
}

// sessionName is the name of the session's object of a kind.
func (w *governed) sessionName(t *testing.T, kind string) string {
	t.Helper()
	objects := w.docker(t)
	if kind == "pods" {
		return objects.Pod.Name
	}
	return objects.Claim.Name
}

// patch patches the session's object as an administrator.
func (w *governed) patch(t *testing.T, kind string, patchType types.PatchType, patch string, subresource ...string) error {
	t.Helper()
	return w.patchNamed(t, w.sessionName(t, kind), kind, patchType, patch, subresource...)
}

func (w *governed) patchNamed(t *testing.T, name, kind string, patchType types.PatchType, patch string, subresource ...string) error {
	t.Helper()
	return w.client.CoreV1().RESTClient().Patch(patchType).Namespace(w.name).Resource(kind).Name(name).SubResource(subresource...).
		Body([]byte(patch)).Do(t.Context()).Error()
}

// tampers makes the session's object where there is no policy, and returns an error where a patch does not change it.
func (w *governed) tampers(t *testing.T, kind string, patchType types.PatchType, patch, subresource string) error {
	t.Helper()
	core, objects := w.client.CoreV1(), w.docker(t)
	var before, after metav1.Object
	var err error
	if kind == "pods" {
		before, err = core.Pods(w.name).Create(t.Context(), objects.Pod, metav1.CreateOptions{})
	} else {
		before, err = core.PersistentVolumeClaims(w.name).Create(t.Context(), objects.Claim, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if err := w.patch(t, kind, patchType, patch, subresource); err != nil {
		return err
	}
	background := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if kind == "pods" {
		if after, err = core.Pods(w.name).Get(t.Context(), before.GetName(), metav1.GetOptions{}); err == nil {
			err = core.Pods(w.name).Delete(t.Context(), before.GetName(), background)
		}
	} else {
		if after, err = core.PersistentVolumeClaims(w.name).Get(t.Context(), before.GetName(), metav1.GetOptions{}); err == nil {
			err = w.deleteClaim(t, before.GetName())
		}
	}
	if err == nil && maps.Equal(before.GetLabels(), after.GetLabels()) && maps.Equal(before.GetAnnotations(), after.GetAnnotations()) {
		err = fmt.Errorf("without a policy %s changes nothing either", patch)
	}
	return err
}

// deleteClaim deletes a claim, which without a controller keeps its finalizer.
func (w *governed) deleteClaim(t *testing.T, name string) error {
	t.Helper()
	if err := w.patchNamed(t, name, "persistentvolumeclaims", types.MergePatchType, `{"metadata": {"finalizers": null}}`); err != nil {
		return err
	}
	return w.client.CoreV1().PersistentVolumeClaims(w.name).Delete(t.Context(), name, metav1.DeleteOptions{})
}

// testBindings asks for bindings that bring metadata along, which the API server copies to the Pod, and at last for one that
// brings none.
func (w *governed) testBindings(t *testing.T, free *governed) {
	label := map[string]string{compose.LabelSessionID: "another"}
	annotation := map[string]string{compose.NonceAnnotation: compose.NewNonce()}
	for name, meta := range map[string]metav1.ObjectMeta{
		"label": {Labels: label}, "annotation": {Annotations: annotation}, "name label": {Labels: map[string]string{compose.LabelName: "x"}},
	} {
		for _, resource := range [][]string{{"pods", w.sessionName(t, "pods"), "binding"}, {"bindings"}} {
			t.Run(name+" "+resource[0], func(t *testing.T) {
				w.verdict(t, w.bindWith(t, meta, resource), "kandev-ownership: stay as they were created; changed: ")
			})
		}
	}
	objects := free.docker(t)
	if err := free.create(t.Context(), administrator, objects.Pod); err != nil {
		t.Fatal(err)
	}
	if err := free.bindWith(t, metav1.ObjectMeta{Labels: label, Annotations: annotation}, []string{"bindings"}); err != nil {
		t.Fatal(err)
	}
	taken, err := free.client.CoreV1().Pods(free.name).Get(t.Context(), objects.Pod.Name, metav1.GetOptions{})
	if err != nil || taken.Annotations[compose.NonceAnnotation] != annotation[compose.NonceAnnotation] {
		t.Errorf("without a policy a binding does not change the nonce: %v", err)
	}
	t.Run("plain", func(t *testing.T) {
		meta := metav1.ObjectMeta{Labels: map[string]string{"topology.kubernetes.io/zone": "a"}}
		w.verdict(t, w.bindWith(t, meta, []string{"pods", w.sessionName(t, "pods"), "binding"}), "")
	})
}

func (w *governed) bindWith(t *testing.T, meta metav1.ObjectMeta, resource []string) error {
	t.Helper()
	meta.Name, meta.Namespace = w.sessionName(t, "pods"), w.name
	binding := &corev1.Binding{ObjectMeta: meta, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	request := w.client.CoreV1().RESTClient().Post().Namespace(w.name).Resource(resource[0])
	if len(resource) > 1 {
		request = request.Name(resource[1]).SubResource(resource[2])
	}
	return request.Body(binding).Do(t.Context()).Error()
}

// testSpec changes what of a Pod's spec can be changed.
func (w *governed) testSpec(t *testing.T) {
	image := func(container, image string) string {
		return fmt.Sprintf(`{"spec": {"containers": [{"name": %q, "image": %q}]}}`, container, image)
	}
	ephemeral := func(more string) string {
		return `{"spec": {"ephemeralContainers": [{"name": "debug", "image": "registry.example/debug:1"` + more + `}]}}`
	}
	for name, c := range map[string]struct{ patch, subresource, want string }{
		"the companion's image": {image("docker-engine", otherImage), "", "kandev-ownership: the images of a session's Pod stay"},
		"the companion's tag":   {image("docker-engine", "registry.example/dind:latest"), "", "kandev-ownership: the images of a session's Pod stay"},
		"the agent's image":     {image("kandev-agent", "registry.example/evil:1"), "", "kandev-ownership: the images of a session's Pod stay"},
		"a toleration": {
			`{"spec": {"tolerations": [{"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]}}`, "", "",
		},
		"an ephemeral container": {ephemeral(""), "ephemeralcontainers", "kandev-ownership: gets no ephemeral container"},
		"one with a target":      {ephemeral(`, "targetContainerName": "docker-engine"`), "ephemeralcontainers", "kandev-ownership: gets no ephemeral container"},
		"one with the workspace": {
			ephemeral(`, "volumeMounts": [{"name": "kandev-workspace", "mountPath": "/workspace"}]`), "ephemeralcontainers", "kandev-ownership: gets no ephemeral container",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.verdict(t, w.patch(t, "pods", types.StrategicMergePatchType, c.patch, c.subresource), c.want)
		})
	}
}

// testOtherUpdates changes a Pod that is not Kandev's.
func (w *governed) testOtherUpdates(t *testing.T) {
	pod := plainPod(w.name, "else")
	if err := w.create(t.Context(), mallory, pod); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ patch, subresource, want string }{
		"a label":       {`{"metadata": {"labels": {"app.kubernetes.io/name": "x", "app.kubernetes.io/managed-by": "Helm"}}}`, "", ""},
		"an image":      {`{"spec": {"containers": [{"name": "main", "image": "registry.example/else:2"}]}}`, "", ""},
		"to Kandev's":   {`{"metadata": {"labels": {"app.kubernetes.io/managed-by": "kandev"}}}`, "", "kandev-ownership: changed: app.kubernetes.io/managed-by"},
		"by its status": {`{"metadata": {"labels": {"kandev.ai/session-id": "x"}}}`, "status", "kandev-ownership: changed: kandev.ai/session-id"},
		"a nonce":       {`{"metadata": {"annotations": {"kandev.ai/create-nonce": "x"}}}`, "", "kandev-ownership: changed: kandev.ai/create-nonce"},
		"ephemeral, privileged": {
			`{"spec": {"ephemeralContainers": [{"name": "root", "image": "x", "securityContext": {"privileged": true}}]}}`, "ephemeralcontainers",
			"kandev-baseline: an init or ephemeral container may not be privileged",
		},
		"ephemeral, with a capability": {
			`{"spec": {"ephemeralContainers": [{"name": "root", "image": "x", "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}}}]}}`,
			"ephemeralcontainers", "kandev-baseline: capabilities_baseline",
		},
		"ephemeral": {`{"spec": {"ephemeralContainers": [{"name": "debug", "image": "x"}]}}`, "ephemeralcontainers", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w.verdict(t, w.patchNamed(t, pod.Name, "pods", types.StrategicMergePatchType, c.patch, c.subresource), c.want)
		})
	}
}

// testNotHindered sends what nodes, controllers and the executor send to a session's Pod while it lives and ends.
func (w *governed) testNotHindered(t *testing.T) {
	pods, name := w.client.CoreV1().Pods(w.name), w.sessionName(t, "pods")
	before, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.reportStatus(t, name)
	after, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || after.Status.Phase != corev1.PodRunning {
		t.Fatalf("%v %+v", err, after.Status)
	}
	if diff := cmp.Diff([]any{before.Labels, before.Annotations, before.Spec}, []any{after.Labels, after.Annotations, after.Spec}); diff != "" {
		t.Error(diff)
	}
	err = pods.EvictV1(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.name}, DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
	})
	if err != nil {
		t.Error(err)
	}
	own := w.clients[executorUser].CoreV1()
	options := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &after.UID}}
	if err := own.Pods(w.name).Delete(t.Context(), name, options); err != nil {
		t.Error(err)
	}
	if err := own.PersistentVolumeClaims(w.name).Delete(t.Context(), w.sessionName(t, "persistentvolumeclaims"), metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	// What the controller does that protects claims in use.
	if err := w.patch(t, "persistentvolumeclaims", types.MergePatchType, `{"metadata": {"finalizers": null}}`); err != nil {
		t.Error(err)
	}
	if _, err := pods.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Pod is still there: %v", err)
	}
}

// reportStatus reports, as the Pod's node, that it runs.
func (w *governed) reportStatus(t *testing.T, pod string) {
	t.Helper()
	status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{Phase: corev1.PodRunning}})
	if err != nil {
		t.Fatal(err)
	}
	node := w.clientOf(t, "system:node:node", "system:nodes").CoreV1().Pods(w.name)
	if _, err := node.Patch(t.Context(), pod, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		t.Error(err)
	}
}

// TestNamespacePolicyStreams asks for streams as whom the policy lets through, and as others.
func TestNamespacePolicyStreams(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		w := s.govern(t, "policy-streams")
		objects := w.docker(t)
		if err := w.create(t.Context(), executorUser, objects.Pod); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"exec", "attach", "portforward"} {
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				t.Run(kind+" "+method, func(t *testing.T) {
					w.verdict(t, w.stream(t, mallory, objects.Pod.Name, kind, method),
						"kandev-streams: only "+executorUser+" streams to Pods here, not mallory")
					users := []string{administrator, executorUser}
					if kind == "attach" {
						users = users[:1] // to which the executor has no right
					}
					for _, user := range users {
						// No node runs the Pod.
						if err := w.stream(t, user, objects.Pod.Name, kind, method); err == nil || apierrors.IsForbidden(err) {
							t.Errorf("%s: %v", user, err)
						}
					}
				})
			}
		}
	})
}

// TestNamespacePolicyParameters changes the parameters, and takes them away.
func TestNamespacePolicyParameters(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		w := s.govern(t, "policy-parameters")
		session := w.docker(t).Pod
		if err := w.create(t.Context(), executorUser, session); err != nil {
			t.Fatal(err)
		}
		const guarded = "kandev-parameters: only who may update ValidatingAdmissionPolicies changes the parameters"
		theirs := w.clients[mallory].CoreV1().ConfigMaps(w.name)
		patch := []byte(`{"data": {"executor": "mallory"}}`)
		t.Run("another user", func(t *testing.T) {
			_, err := theirs.Patch(t.Context(), "kandev-policy", types.MergePatchType, patch, metav1.PatchOptions{})
			w.verdict(t, err, guarded)
			w.verdict(t, w.deleteParameters(t, mallory), guarded)
			w.verdict(t, theirs.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), guarded)
			w.verdict(t, w.create(t.Context(), mallory, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "else"}}), "")
		})

		changed := w.docker(t).Pod
		changed.Name = "changed"
		container(changed, "docker-engine").Image = otherImage
		t.Run("a second image", func(t *testing.T) {
			w.setParameters(t, map[string]string{"executor": executorUser, "companions": "x=y\ndocker-engine=" + otherImage})
			w.await(t, "the new parameters", func() bool { return w.try(t, executorUser, changed) == nil })
			w.verdict(t, w.try(t, executorUser, renamed(w.docker(t).Pod)), "kandev-grant: not listed")
		})
		for name, data := range map[string]map[string]string{
			"a tag":         {"executor": executorUser, "companions": "docker-engine=registry.example/dind:latest"},
			"no companions": {"executor": executorUser},
			"no executor":   {"companions": "docker-engine=" + otherImage},
			"nothing":       nil,
		} {
			t.Run(name, func(t *testing.T) {
				w.setParameters(t, data)
				w.await(t, "the parameters", func() bool { return w.try(t, executorUser, changed) != nil })
				tagged := changed.DeepCopy()
				container(tagged, "docker-engine").Image = "registry.example/dind:latest"
				w.verdict(t, w.try(t, executorUser, tagged), "kandev-grant")
			})
		}
		t.Run("missing", func(t *testing.T) {
			if err := w.deleteParameters(t, administrator); err != nil {
				t.Fatal(err)
			}
			const missing = "kandev-grant: no params found for policy binding with `Deny` parameterNotFoundAction"
			w.await(t, "their absence", func() bool { return w.denied(w.try(t, executorUser, changed), "kandev-grant", "no params found") == "" })
			w.verdict(t, w.try(t, mallory, plainPod(w.name, "else")), missing)
			w.verdict(t, w.create(t.Context(), mallory, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kandev-policy"}}), guarded)
			w.verdict(t, w.patch(t, "pods", types.MergePatchType, `{"metadata": {"annotations": null}}`), "kandev-ownership")
			w.reportStatus(t, session.Name)
			w.apply(t)
			w.await(t, "the parameters", func() bool { return w.try(t, executorUser, renamed(session)) == nil })
		})
		t.Run("with the namespace", func(t *testing.T) {
			if err := w.client.CoreV1().Namespaces().Delete(t.Context(), w.name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			w.await(t, "the namespace's end", func() bool { return w.deleteParameters(t, mallory) == nil })
		})
	})
}

// renamed is a Pod like one that exists.
func renamed(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Name, pod.ResourceVersion, pod.UID = "renamed", "", ""
	return pod
}

// setParameters writes the parameters by hand, as an administrator.
func (w *governed) setParameters(t *testing.T, data map[string]string) {
	t.Helper()
	maps := w.client.CoreV1().ConfigMaps(w.name)
	config, err := maps.Get(t.Context(), "kandev-policy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config.Data = data
	if _, err := maps.Update(t.Context(), config, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
