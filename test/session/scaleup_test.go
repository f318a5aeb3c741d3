package session

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// asked closes a channel when a request for events has been answered.
type asked struct {
	rt     http.RoundTripper
	once   *sync.Once
	events chan struct{}
}

func (a asked) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.rt.RoundTrip(r)
	if strings.HasSuffix(r.URL.Path, "/events") {
		a.once.Do(func() { close(a.events) })
	}
	return answer, err
}

// A Pod that no node takes is given up after a while, unless an autoscaler says that it adds a node: then it is waited for as
// long as any other.
func TestScaleUp(t *testing.T) {
	w := newWorld(t)
	for _, announced := range []bool{false, true} {
		t.Run(map[bool]string{false: "no autoscaler", true: "autoscaler"}[announced], func(t *testing.T) {
			t.Parallel()
			w.in(t).scaleUp(announced)
		})
	}
}

func (w *world) scaleUp(announced bool) {
	id, pool := "pool-missing", "missing"
	if announced {
		id, pool = "pool-added", "added"
	}
	once, events := new(sync.Once), make(chan struct{})
	config := w.cluster.Config()
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return asked{rt, once, events} })
	e, closeStore, err := newExecutor(w.t.Context(), config, w.file, "owner-"+id, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = closeStore() })
	r, err := request(id, w.agent, compose.EmptyDir)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Template.Spec.NodeSelector = map[string]string{"pool": pool}
	done := make(chan error, 1)
	var s *executor.Session
	go func() {
		var err error
		s, err = e.Launch(w.t.Context(), r)
		done <- err
	}()
	if announced {
		w.settle(func() bool { pods, _ := w.objects(id); return len(pods) == 1 })
		pods, _ := w.objects(id)
		w.announce(&pods[0])
		<-events
		w.label(pool)
	}
	err = <-done
	if !announced {
		w.wantReason(err, executor.Unschedulable)
	} else if err != nil {
		w.t.Fatal(err)
	} else if err := s.Close(); err != nil {
		w.t.Error(err)
	}
	if err := e.Cleanup(w.t.Context(), id); err != nil {
		w.t.Error(err)
	}
	w.nothing(e, id)
}

// announce says of a Pod what the cluster autoscaler says once it has asked for a node.
func (w *world) announce(pod *corev1.Pod) {
	w.t.Helper()
	now := metav1.Now()
	_, err := w.kube.CoreV1().Events(namespace).Create(w.t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: pod.Name, UID: pod.UID},
		Source:         corev1.EventSource{Component: "cluster-autoscaler"},
		Type:           corev1.EventTypeNormal, Reason: "TriggeredScaleUp", Message: "pod triggered scale-up: [{group 0->1 (max: 5)}]",
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// label makes the node one of a pool.
func (w *world) label(pool string) {
	w.t.Helper()
	nodes, err := w.kube.CoreV1().Nodes().List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 {
		w.t.Fatalf("%d nodes: %v", len(nodes.Items), err)
	}
	patch := []byte(`{"metadata":{"labels":{"pool":"` + pool + `"}}}`)
	if _, err := w.kube.CoreV1().Nodes().Patch(w.t.Context(), nodes.Items[0].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}
