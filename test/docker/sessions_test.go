package docker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/test/cluster"
)

func TestIsolation(t *testing.T) {
	w := newWorld(t)
	e := w.executor("isolation")
	w.item("Isolation", "of two sessions each has an engine of its own, sees no image, container, network or volume of the other's, and is one Pod", func(w *world) string {
		ids := []string{"isolation-one", "isolation-two"}
		for _, id := range ids {
			w.launch(e, w.request(id))
		}
		const all = `docker info --format '{{.ID}}'; docker images -q; docker ps -aq; docker volume ls -q; docker network ls --filter type=custom -q`
		empty := w.inAgent(e, ids[1], all)
		w.giveNested(e, ids[0])
		w.inAgent(e, ids[0], "docker volume create one >/dev/null; docker network create one >/dev/null; docker run -d --stop-timeout 1 --network one -v one:/one nested:1 "+held+" >/dev/null")
		full := strings.Fields(w.inAgent(e, ids[0], all))
		if len(full) != 5 || full[0] == empty {
			w.t.Errorf("one has %q, two %q", full, empty)
		}
		if now := w.inAgent(e, ids[1], all); now != empty || strings.Contains(now, "\n") {
			w.t.Errorf("two has %q after one made all of this, and %q before", now, empty)
		}
		for _, id := range ids {
			pods, err := w.kube.CoreV1().Pods(namespace).List(w.t.Context(), metav1.ListOptions{LabelSelector: compose.LabelInstanceID + "=" + id})
			if err != nil || len(pods.Items) != 1 {
				w.t.Errorf("%s: %d Pods, %v", id, len(pods.Items), err)
			}
			w.end(e, id)
		}
		return "two engines; an image, a container, a network and a volume of the one are not seen by the other"
	})
}

// TestNoEngine: where no engine answers, the agent is not started.
func TestNoEngine(t *testing.T) {
	w := newWorld(t)
	w.item("NoEngine", "with an engine that does not start, preparation fails within its bound and says so, and the agent is not started", func(w *world) string {
		const bound = "3"
		r := w.request("no-engine", bootstrap.EnvVar{Name: "PREPARE_DOCKER_SECONDS", Value: bound},
			bootstrap.EnvVar{Name: "PREPARE_SETUP", Value: "touch /workspace/reached"})
		r.Template.Spec.TerminationGracePeriodSeconds = new(int64(1)) // sleep heeds no signal
		for i := range r.Template.Spec.Containers {
			if c := &r.Template.Spec.Containers[i]; c.Name == engine {
				c.Command, c.Args = []string{"sleep", "1000"}, nil
			}
		}
		var mu sync.Mutex
		var states []inventory.State
		e := w.executor("no-engine")
		e.Observe = func(event executor.Event) {
			w.observe(event)
			mu.Lock()
			defer mu.Unlock()
			if event.Kind == executor.StateEntered {
				states = append(states, event.State)
			}
		}
		_, err := e.Launch(w.t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "the preparation script ended with status 69") {
			w.t.Errorf("%v", err)
		}
		if slices.Contains(states, inventory.Running) || !slices.Contains(states, inventory.Bootstrapping) {
			w.t.Errorf("it went through %v", states)
		}
		w.nothing("no-engine")
		return fmt.Sprintf("with a bound of %s s: %v; the launch took back what it had created", bound, err)
	})
}

// TestExistingClaim: what an administrator made is not the session's to change.
func TestExistingClaim(t *testing.T) {
	w := newWorld(t)
	w.item("ExistingClaim", "an existing claim, and what it held, is byte for byte the same after terminal cleanup", func(w *world) string {
		const name = "of-the-team"
		claims := w.kube.CoreV1().PersistentVolumeClaims(namespace)
		class := cluster.StorageClass
		_, err := claims.Create(w.t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		volume := w.bound(name)
		w.on("echo before >" + volume + "/theirs")
		raw := func() string {
			data, err := w.kube.CoreV1().RESTClient().Get().Namespace(namespace).Resource("persistentvolumeclaims").Name(name).DoRaw(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			return string(data)
		}
		before := raw()
		r := w.request("existing")
		r.Profile.Workspace = compose.Workspace{Mode: compose.ExistingClaim, ClaimName: name}
		e := w.executor("existing")
		w.launch(e, r)
		w.giveNested(e, "existing")
		w.inAgent(e, "existing", "docker run --rm -v /workspace:/data nested:1 sh -c 'cat /data/theirs; echo session >/data/ours'")
		w.end(e, "existing")
		if diff := cmp.Diff(before, raw()); diff != "" {
			w.t.Errorf("-before +after\n%s", diff)
		}
		if got := w.on("cat " + volume + "/theirs " + volume + "/ours"); got != "before\nsession" {
			w.t.Errorf("it holds %q", got)
		}
		return fmt.Sprintf("%d bytes of the object the same; its file too, beside what the session wrote", len(before))
	})
}
