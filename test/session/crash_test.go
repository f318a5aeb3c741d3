package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// The environment that makes this program a backend that is to die.
const (
	crashOperation  = "SESSION_TEST_OPERATION"
	crashAt         = "SESSION_TEST_CRASH_AT"
	crashKubeconfig = "SESSION_TEST_KUBECONFIG"
	crashInventory  = "SESSION_TEST_INVENTORY"
	crashInstance   = "SESSION_TEST_INSTANCE"
	crashAgent      = "SESSION_TEST_AGENT"
)

// points counts the points at which a process can die: before and after every request to the API server and every write to the
// inventory. At one of them it does.
type points struct {
	n, at int64
}

func (p *points) pass() {
	if atomic.AddInt64(&p.n, 1) == p.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal is there
	}
}

// RoundTripper around the API client's.
type dyingTransport struct {
	points *points
	rt     http.RoundTripper
}

func (d dyingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	d.points.pass()
	answer, err := d.rt.RoundTrip(r)
	d.points.pass()
	return answer, err
}

// dyingInventory is an inventory whose writes are points.
type dyingInventory struct {
	inventory.Inventory
	points *points
}

func (d dyingInventory) Create(ctx context.Context, owner string, id compose.Identity, s compose.Snapshot) (inventory.Row, error) {
	d.points.pass()
	defer d.points.pass()
	return d.Inventory.Create(ctx, owner, id, s)
}

func (d dyingInventory) Update(ctx context.Context, h inventory.Holder, r inventory.Row) (inventory.Row, error) {
	d.points.pass()
	defer d.points.pass()
	return d.Inventory.Update(ctx, h, r)
}

func (d dyingInventory) Delete(ctx context.Context, h inventory.Holder, id string, generation int64) error {
	d.points.pass()
	defer d.points.pass()
	return d.Inventory.Delete(ctx, h, id, generation)
}

// crashChild is the backend process: one operation, death at one point, or the number of points.
func crashChild(operation string) {
	n, err := crashRun(operation)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("points", n)
}

func crashRun(operation string) (int64, error) {
	ctx := context.Background()
	at, err := strconv.ParseInt(os.Getenv(crashAt), 10, 64)
	if err != nil {
		return 0, err
	}
	p := &points{at: at}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(crashKubeconfig))
	if err != nil {
		return 0, err
	}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return dyingTransport{p, rt} })
	id := os.Getenv(crashInstance)
	e, _, err := newExecutor(ctx, config, os.Getenv(crashInventory), "child-"+id, func(i inventory.Inventory) inventory.Inventory {
		return dyingInventory{i, p}
	})
	if err != nil {
		return 0, err
	}
	agent, err := readAgent(os.Getenv(crashAgent))
	if err != nil {
		return 0, err
	}
	switch operation {
	case "launch":
		r, err := request(id, agent, compose.ManagedPVC)
		if err != nil {
			return 0, err
		}
		_, err = e.Launch(ctx, r)
		return atomic.LoadInt64(&p.n), err
	case "replace":
		if err := e.TakeOver(ctx, id); err != nil {
			return 0, err
		}
		_, err := e.Resume(ctx, id, material(agent))
		return atomic.LoadInt64(&p.n), err
	case "cleanup":
		if err := e.TakeOver(ctx, id); err != nil {
			return 0, err
		}
		err := e.Cleanup(ctx, id)
		return atomic.LoadInt64(&p.n), err
	}
	return 0, errors.New("no such operation")
}

// dieAt runs an operation in a process that dies at a point; 0 is none. It returns how many points there were, 0 when it died.
func (w *world) dieAt(operation, id string, at int) int {
	w.t.Helper()
	agent, err := agentFile()
	if err != nil {
		w.t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashOperation+"="+operation, crashAt+"="+strconv.Itoa(at), crashKubeconfig+"="+w.cluster.Kubeconfig(),
		crashInventory+"="+w.file, crashInstance+"="+id, crashAgent+"="+agent)
	out, err := child.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return 0
		}
	}
	if err != nil {
		w.t.Fatalf("%s of %s, to die at %d: %v\n%s", operation, id, at, err, out)
	}
	_, count, _ := strings.Cut(strings.TrimSpace(string(out)), "points ")
	n, err := strconv.Atoi(count)
	if err != nil {
		w.t.Fatalf("%s of %s printed %q", operation, id, out)
	}
	return n
}

// accounted demands that each object of an instance is the recorded one, or the one of an open request.
func (w *world) accounted(e *executor.Executor, id string) {
	w.t.Helper()
	rows, err := e.List(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var row *inventory.Row
	for i := range rows {
		if rows[i].Identity.InstanceID == id {
			row = &rows[i]
		}
	}
	pods, claims := w.objects(id)
	if len(pods) > 1 || len(claims) > 1 {
		w.t.Errorf("%s: %d Pods and %d claims", id, len(pods), len(claims))
	}
	for _, p := range pods {
		w.accountedObject(row, inventory.Pod, &p.ObjectMeta)
	}
	for _, c := range claims {
		w.accountedObject(row, inventory.PersistentVolumeClaim, &c.ObjectMeta)
	}
}

func (w *world) accountedObject(row *inventory.Row, kind inventory.Kind, o *metav1.ObjectMeta) {
	w.t.Helper()
	if row == nil {
		w.t.Errorf("%s %s has no row", kind, o.Name)
		return
	}
	for _, n := range row.Intents {
		if n.Kind == kind && n.Nonce == o.Annotations[compose.NonceAnnotation] && (n.Outcome.Open() || n.UID == o.UID) {
			return
		}
	}
	w.t.Errorf("%s %s (UID %s) belongs to no recorded request: %+v", kind, o.Name, o.UID, row.Intents)
}

// TestCrash kills a backend at every point of a launch, of a replacement and of a cleanup, and has another one go on, or take back
// what there is. Without -whole it is a sample.
func TestCrash(t *testing.T) {
	s := newSeed(t)
	for _, operation := range []string{"launch", "replace", "cleanup"} {
		t.Run(operation, func(t *testing.T) {
			w := newWorld(t)
			w.prepareCrash(operation, operation+"-count")
			n := w.dieAt(operation, operation+"-count", 0)
			e := w.executor("count-" + operation)
			w.finish(e, operation+"-count", operation, false)
			var all []death
			for at := 1; at <= n; at++ {
				all = append(all, death{operation, at, true})
				if operation != "cleanup" {
					all = append(all, death{operation, at, false})
				}
			}
			total := len(all)
			if !*whole {
				const some = 10
				all = shuffled(all, s)[:some]
			}
			const atOnce = 4
			var died, bad atomic.Int64
			each(w, all, atOnce, func(w *world, d death) {
				if w.dies(d) {
					died.Add(1)
				}
				if w.t.Failed() {
					bad.Add(1)
				}
			})
			t.Logf("%s: %d points; %d of %d lives, died at a point in %d of them, %d with violations", operation, n, len(all), total, died.Load(), bad.Load())
		})
	}
}

// death is a point of an operation at which its process dies, and what another one does then.
type death struct {
	operation string
	at        int
	cleanOnly bool
}

func (d death) String() string {
	then := "resume"
	if d.cleanOnly {
		then = "cleanup"
	}
	return fmt.Sprintf("%s-%d-%s", d.operation, d.at, then)
}

// dies has a backend die, and another one go on. It reports whether the first came to that point: what a kubelet does meanwhile
// makes some requests more or less.
func (w *world) dies(d death) bool {
	w.t.Helper()
	id := d.String()
	w.prepareCrash(d.operation, id)
	died := w.dieAt(d.operation, id, d.at) == 0
	e := w.executor("after-" + id)
	w.accounted(e, id)
	w.finish(e, id, d.operation, d.cleanOnly)
	return died
}

// prepareCrash makes what an operation starts from.
func (w *world) prepareCrash(operation, id string) {
	w.t.Helper()
	if operation == "launch" {
		return
	}
	s := w.launch(w.executor("before-"+id), id, compose.ManagedPVC)
	w.call(s, http.MethodPut, "/file/workspace/work", "edited")
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
	if operation != "replace" {
		return
	}
	grace := int64(0)
	if err := w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), s.Row.Pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		w.t.Fatal(err)
	}
}

// finish has another backend take over: the session is used and cleaned up, or only cleaned up.
func (w *world) finish(e *executor.Executor, id, operation string, cleanOnly bool) {
	w.t.Helper()
	err := e.TakeOver(w.t.Context(), id)
	if errors.Is(err, inventory.ErrNotFound) {
		w.nothing(e, id)
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	start := time.Now()
	if operation != "cleanup" && !cleanOnly {
		s, err := e.Resume(w.t.Context(), id, material(w.agent))
		if err != nil {
			w.t.Errorf("%s: resume: %v", id, err)
			return
		}
		want := map[string]string{"launch": "original\n", "replace": "edited"}[operation]
		if got := w.call(s, http.MethodGet, "/file/workspace/work", ""); got != want {
			w.t.Errorf("%s: the workspace holds %q, want %q", id, got, want)
		}
		w.accounted(e, id)
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	}
	if err := e.Cleanup(w.t.Context(), id); err != nil {
		w.t.Errorf("%s: cleanup: %v", id, err)
	}
	w.nothing(e, id)
	if took := time.Since(start); took > 20*time.Second {
		w.t.Logf("%s took %v to finish", id, took.Round(time.Second))
	}
}
