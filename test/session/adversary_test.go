package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// reason returns the reason of an executor's error.
func reason(err error) executor.Reason {
	if e, ok := errors.AsType[*executor.Error](err); ok {
		return e.Reason
	}
	return ""
}

func (w *world) wantReason(err error, want executor.Reason) {
	w.t.Helper()
	if reason(err) != want {
		w.t.Errorf("got %v (%s), want %s", err, reason(err), want)
	}
}

// composed returns the objects of a session as an adversary could copy them: names, labels and spec, without the nonce.
func (w *world) composed(id string) compose.Objects {
	w.t.Helper()
	r, err := request(id, w.agent, compose.ManagedPVC)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Identity.Namespace = namespace
	objects, err := compose.Compose(r.Template, r.Profile, r.Identity)
	if err != nil {
		w.t.Fatal(err)
	}
	return objects
}

func (w *world) createPod(pod *corev1.Pod) *corev1.Pod {
	w.t.Helper()
	made, err := w.kube.CoreV1().Pods(namespace).Create(w.t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.deletePod(made) })
	return made
}

func (w *world) createClaim(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	w.t.Helper()
	made, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Create(w.t.Context(), claim, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = w.kube.CoreV1().PersistentVolumeClaims(namespace).Delete(context.Background(), made.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
	})
	return made
}

func (w *world) deletePod(pod *corev1.Pod) {
	grace := int64(0)
	_ = w.kube.CoreV1().Pods(namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &grace, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// untouched demands that what an adversary made is what it was, but for what kubelet and controllers write.
func (w *world) untouched(pod *corev1.Pod) {
	w.t.Helper()
	now, err := w.kube.CoreV1().Pods(namespace).Get(w.t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		w.t.Errorf("the foreign Pod %s is gone: %v", pod.Name, err)
		return
	}
	if now.UID != pod.UID || now.DeletionTimestamp != nil || !sameJSON(now.Labels, pod.Labels) || !sameJSON(now.Annotations, pod.Annotations) || !sameJSON(bare(now.Spec), bare(pod.Spec)) {
		w.t.Errorf("the foreign Pod %s was changed", pod.Name)
	}
}

// bare is a spec without what scheduling writes.
func bare(s corev1.PodSpec) corev1.PodSpec {
	s.NodeName = ""
	return s
}

func (w *world) untouchedClaim(claim *corev1.PersistentVolumeClaim) {
	w.t.Helper()
	now, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Get(w.t.Context(), claim.Name, metav1.GetOptions{})
	if err != nil {
		w.t.Errorf("the foreign claim %s is gone: %v", claim.Name, err)
		return
	}
	if now.UID != claim.UID || now.DeletionTimestamp != nil || !sameJSON(now.Labels, claim.Labels) {
		w.t.Errorf("the foreign claim %s was changed", claim.Name)
	}
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// What has the session's name before the session does is met with a refusal, and left alone.
func TestAdversaryHasTheName(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*corev1.Pod){
		"foreign":        func(p *corev1.Pod) { p.Labels = nil },
		"copied labels":  func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"sleep", "1000"} },
		"another nonce":  func(p *corev1.Pod) { compose.SetNonce(p, compose.NewNonce()) },
		"copied, a sham": func(*corev1.Pod) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			id := "named-" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			pod := w.composed(id).Pod
			change(pod)
			foreign := w.createPod(pod)
			e := w.executor("owner-" + id)
			r, err := request(id, w.agent, compose.ManagedPVC)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Launch(t.Context(), r)
			w.wantReason(err, executor.Quarantined)
			w.untouched(foreign)
			w.deletePod(foreign)
			w.settle(func() bool { pods, _ := w.objects(id); return len(pods) == 0 })
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Error(err)
			}
			w.nothing(e, id)
		})
	}
	t.Run("claim", func(t *testing.T) {
		w := w.in(t)
		foreign := w.createClaim(w.composed("named-claim").Claim)
		e := w.executor("owner-named-claim")
		r, err := request("named-claim", w.agent, compose.ManagedPVC)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Launch(t.Context(), r)
		w.wantReason(err, executor.Quarantined)
		w.untouchedClaim(foreign)
	})
}

// in is the world for a subtest.
func (w *world) in(t *testing.T) *world {
	inner := *w
	inner.t = t
	return &inner
}

// settle waits for a condition that the cluster brings about.
func (w *world) settle(done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(deadline) {
			w.t.Fatal("it did not come about")
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-w.t.Context().Done():
			return
		}
	}
}

// An object whose labels were edited is no longer shown to be ours: nothing reconnects to it, and nothing deletes it.
func TestAdversaryEditsLabels(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-labels")
	s := w.launch(e, "labels", compose.ManagedPVC)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	label := func(value string) {
		t.Helper()
		patch := `{"metadata":{"labels":{"` + compose.LabelSessionID + `":"` + value + `"}}}`
		if _, err := w.kube.CoreV1().Pods(namespace).Patch(t.Context(), s.Row.Pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	label("other")
	_, err := e.Reconnect(t.Context(), "labels")
	w.wantReason(err, executor.IdentityMismatch)
	_, err = e.Resume(t.Context(), "labels", material(w.agent))
	w.wantReason(err, executor.IdentityMismatch)
	w.wantReason(e.Cleanup(t.Context(), "labels"), executor.IdentityMismatch)
	if pods, claims := w.objects("labels"); len(pods) != 1 || len(claims) != 1 {
		t.Errorf("%d Pods and %d claims are left", len(pods), len(claims))
	}
	label("s")
	if err := e.Cleanup(t.Context(), "labels"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "labels")
}

// swap replaces the Pod by another of its name just before a request of the method leaves.
type swap struct {
	rt     http.RoundTripper
	method string
	path   string // what the request's path ends in
	query  string // what its query holds
	once   *sync.Once
	do     func()
}

func (s swap) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == s.method && strings.HasSuffix(r.URL.Path, s.path) && strings.Contains(r.URL.RawQuery, s.query) {
		s.once.Do(s.do)
	}
	return s.rt.RoundTrip(r)
}

// replacePod puts a Pod that is like a session's, and is not, in the place of the session's.
func (w *world) replacePod(id, name string) *corev1.Pod {
	pod, err := w.kube.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Error(err)
		return nil
	}
	w.deletePod(pod)
	w.settle(func() bool { pods, _ := w.objects(id); return len(pods) == 0 })
	pod.ObjectMeta = metav1.ObjectMeta{Name: pod.Name, Labels: pod.Labels, Annotations: pod.Annotations}
	pod.Spec.NodeName = ""
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
	for n := range pod.Spec.Containers {
		c := &pod.Spec.Containers[n]
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == compose.WorkspaceVolume })
	}
	foreign := w.createPod(pod)
	w.settle(func() bool {
		now, err := w.kube.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
		return err == nil && now.Status.Phase == corev1.PodRunning
	})
	return foreign
}

// A Pod that is replaced between the look and the deletion, or before an upload, is not ours: it is not deleted, and gets nothing.
func TestAdversaryReplacesThePod(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ method, path string }{
		"before its deletion": {http.MethodDelete, ""},
		"before an upload":    {http.MethodGet, "/exec"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			id := "swapped-" + strings.ReplaceAll(name, " ", "-")
			first := w.executor("first-" + id)
			s := w.launch(first, id, compose.ManagedPVC)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var foreign *corev1.Pod
			config := w.cluster.Config()
			config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				return swap{rt, c.method, c.path, "", new(sync.Once), func() { foreign = w.replacePod(id, s.Row.Pod.Name) }}
			})
			e, closeStore, err := newExecutor(t.Context(), config, w.file, "second-"+id, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = closeStore() }()
			if err := e.TakeOver(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if c.method == http.MethodDelete {
				if err := e.Cleanup(t.Context(), id); err != nil {
					t.Errorf("cleanup: %v", err)
				}
				w.untouched(foreign)
				return
			}
			_, err = e.Reconnect(t.Context(), id)
			if err == nil {
				t.Error("reconnected to another Pod")
			}
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Errorf("cleanup: %v", err)
			}
			w.untouched(foreign)
		})
	}
}

// A Pod that is replaced between the upload and the preparation is given no preparation.
func TestAdversaryReplacesThePreparedPod(t *testing.T) {
	w := newWorld(t)
	const id = "swapped-before-preparation"
	var foreign *corev1.Pod
	config := w.cluster.Config()
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return swap{rt, http.MethodGet, "/exec", "kandev-prepare", new(sync.Once), func() { foreign = w.replacePod(id, compose.PodName(id)) }}
	})
	e, closeStore, err := newExecutor(t.Context(), config, w.file, "owner-"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closeStore() }()
	r, err := request(id, w.agent, compose.ManagedPVC)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Launch(t.Context(), r)
	w.wantReason(err, executor.Replaced)
	w.untouched(foreign)
	w.deletePod(foreign)
	w.settle(func() bool { pods, _ := w.objects(id); return len(pods) == 0 })
	w.nothing(e, id)
}

// A claim of the recorded name and another UID is not the workspace: no Pod gets it.
func TestAdversaryReplacesTheClaim(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-claim")
	s := w.launch(e, "claim", compose.ManagedPVC)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.deletePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: s.Row.Pod.Name, UID: s.Row.Pod.UID}})
	if err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Delete(t.Context(), s.Row.Claim.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.settle(func() bool { pods, claims := w.objects("claim"); return len(pods)+len(claims) == 0 })
	_, err := e.Resume(t.Context(), "claim", material(w.agent))
	w.wantReason(err, executor.WorkspaceLost)
	foreign := w.createClaim(w.composed("claim").Claim)
	_, err = e.Resume(t.Context(), "claim", material(w.agent))
	w.wantReason(err, executor.WorkspaceLost)
	if err := e.Cleanup(t.Context(), "claim"); err != nil {
		t.Errorf("cleanup: %v", err)
	}
	w.untouchedClaim(foreign)
}

// A finalizer that nobody removes holds a deletion up, and is named; nothing goes on without it.
func TestAdversaryAddsAFinalizer(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-finalizer")
	s := w.launch(e, "finalizer", compose.ManagedPVC)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	patch := func(finalizers string) {
		t.Helper()
		_, err := w.kube.CoreV1().Pods(namespace).Patch(t.Context(), s.Row.Pod.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	patch(`["example.com/hold"]`)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	w.wantReason(e.Cleanup(ctx, "finalizer"), executor.Interrupted)
	if _, claims := w.objects("finalizer"); len(claims) != 1 {
		t.Error("the claim went before its Pod")
	}
	patch(`null`)
	if err := e.Cleanup(t.Context(), "finalizer"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "finalizer")
}

// Of two backends that want one instance, one has it.
func TestTwoBackends(t *testing.T) {
	w := newWorld(t)
	first, second := w.executor("backend-one"), w.executor("backend-two")
	s := w.launch(first, "shared", compose.ManagedPVC)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := second.Reconnect(t.Context(), "shared")
	w.wantReason(err, executor.InventoryConflict)
	w.wantReason(second.Cleanup(t.Context(), "shared"), executor.InventoryConflict)
	errs := make([]error, 8)
	var racing sync.WaitGroup
	for n := range errs {
		racing.Go(func() {
			e := []*executor.Executor{first, second}[n%2]
			if errs[n] = e.TakeOver(context.Background(), "shared"); errs[n] == nil {
				errs[n] = e.Stop(context.Background(), "shared")
			}
		})
	}
	racing.Wait()
	for _, err := range errs {
		if err != nil && reason(err) != executor.InventoryConflict {
			t.Error(err)
		}
	}
	rows, err := first.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Identity.InstanceID == "shared" && (r.State != inventory.Preserved || r.Holder.Owner == "") {
			t.Errorf("%+v", r)
		}
	}
	if err := second.TakeOver(t.Context(), "shared"); err != nil {
		t.Fatal(err)
	}
	w.wantReason(first.Cleanup(t.Context(), "shared"), executor.InventoryConflict)
	if err := second.Cleanup(t.Context(), "shared"); err != nil {
		t.Error(err)
	}
	w.nothing(second, "shared")
}

// A launch of an instance that is there changes nothing.
func TestLaunchTwice(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-twice")
	s := w.launch(e, "twice", compose.EmptyDir)
	defer func() { _ = s.Close() }()
	r, err := request("twice", w.agent, compose.EmptyDir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Launch(t.Context(), r); !errors.Is(err, inventory.ErrExists) {
		t.Errorf("got %v", err)
	}
	if got := w.call(s, http.MethodGet, "/env/API_KEY", ""); got != canary {
		t.Errorf("the agent has %q", got)
	}
	w.deletePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: s.Row.Pod.Name, UID: s.Row.Pod.UID}})
	w.settle(func() bool { pods, _ := w.objects("twice"); return len(pods) == 0 })
	_, err = e.Resume(t.Context(), "twice", material(w.agent))
	w.wantReason(err, executor.WorkspaceLost)
	if err := e.Cleanup(t.Context(), "twice"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "twice")
}
