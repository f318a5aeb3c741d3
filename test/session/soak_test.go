package session

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

var (
	lifecycles = flag.Int("lifecycles", 20, "how many sessions a soak runs")
	atOnce     = flag.Int("at-once", 5, "how many sessions a soak runs at once")
)

// TestSoak runs many sessions of one backend from launch to cleanup, one in twenty-five requests failing in any way. What the
// process holds is what it held before.
func TestSoak(t *testing.T) {
	w := newWorld(t)
	s := newSeed(t)
	w.soak(s, 2, 2) // opens what stays open
	before := w.holds(nil)
	done, failed := w.soak(s, *lifecycles, *atOnce)
	after := w.holds(&before)
	t.Logf("%d lifecycles, %d at once; %d requests failed; before: %v, after: %v", done, *atOnce, failed, before, after)
}

// soak runs sessions of one backend, and returns how many came to their end, and how many requests were made to fail.
func (w *world) soak(seed uint64, sessions, atOnce int) (int, int) {
	w.t.Helper()
	const oneIn = 25
	proxy := newFaultProxy(w.t, w.cluster.Config(), seed)
	proxy.failAtRandom(seed, oneIn)
	defer proxy.close()
	owner := fmt.Sprintf("soak-%d", sessions)
	e, closeStore, err := newExecutor(w.t.Context(), proxy.config(), w.file, owner, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = closeStore() }()
	var ended atomic.Int64
	var running sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for n := range sessions {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if err := w.life(e, fmt.Sprintf("%s-%d", owner, n)); err != nil {
				w.t.Error(err)
				return
			}
			ended.Add(1)
		})
	}
	running.Wait()
	return int(ended.Load()), proxy.failed
}

// life is that of one session: it is launched, used, left, reached again, loses its Pod, gets another one and ends. A launch that was
// taken back is a life too.
func (w *world) life(e *executor.Executor, id string) error {
	r, err := request(id, w.agent, compose.ManagedPVC)
	if err != nil {
		return err
	}
	s := w.persist(e, r, func(error) {})
	if s == nil {
		return nil
	}
	again := func() error {
		_ = s.Close() // which it may be already
		next, err := e.Resume(w.t.Context(), id, r.Material)
		if err == nil {
			s = next
		}
		return err
	}
	steps := []func() error{
		func() error {
			if _, err := call(s, http.MethodPut, "/file/workspace/work", id); err != nil {
				_ = again() // the way to it was cut, or the session is to be reached again
				return err
			}
			return nil
		},
		func() error { return e.Stop(w.t.Context(), id) },
		again,
		func() error { w.losePod(s); return nil },
		again,
		func() error {
			got, err := call(s, http.MethodGet, "/file/workspace/work", "")
			if err != nil {
				_ = again()
				return err
			}
			if got != id {
				w.t.Errorf("%s: the workspace holds %q", id, got)
			}
			return nil
		},
		func() error { _ = s.Close(); return nil },
		func() error { return e.Cleanup(w.t.Context(), id) },
	}
	for n, step := range steps {
		for range tries {
			if err = step(); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("%s: step %d failed %d times: %w", id, n, tries, err)
		}
	}
	w.nothing(e, id)
	return nil
}

// losePod takes a session's Pod away, as the loss of its node does.
func (w *world) losePod(s *executor.Session) {
	w.deletePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: s.Row.Pod.Name, UID: s.Row.Pod.UID}})
}

// held is what a process holds.
type held struct {
	goroutines, files int
	heap              uint64 // bytes
}

func (h held) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d KiB", h.goroutines, h.files, h.heap>>10)
}

// heapSlack is what pools and caches may keep, in bytes.
const heapSlack = 8 << 20

// holds returns what the process holds, once that is no more than it held before.
func (w *world) holds(before *held) held {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			w.t.Fatal(err)
		}
		now := held{runtime.NumGoroutine(), len(files), memory.HeapAlloc}
		if before == nil || now.goroutines <= before.goroutines && now.files <= before.files && now.heap <= before.heap+heapSlack {
			return now
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			w.t.Errorf("it holds more than before: %v, %v\n%s", *before, now, stacks[:runtime.Stack(stacks, true)])
			return now
		}
		time.Sleep(100 * time.Millisecond)
	}
}
