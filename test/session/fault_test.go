package session

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

var (
	whole = flag.Bool("whole", false, "run the whole fault matrix, and not a sample of it")
	seed  = flag.Uint64("seed", 0, "the seed of what is chosen by chance; 0 is a new one")
)

var discard = log.New(io.Discard, "", 0)

// newSeed is the seed of a test, which it prints.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return s
}

// operations are what faults befall.
var operations = []string{"launch", "replace", "cleanup"}

// point is one request of an operation, and what becomes of it.
type point struct {
	operation string
	at        int
	request   carried
	fault     namedFault
}

func (p point) String() string { return fmt.Sprintf("%s-%d-%s", p.operation, p.at, p.fault.name) }

// slow points wait for as long as an unanswered create may still be carried out.
func (p point) slow() bool {
	return p.request.creates() && p.fault.undone && p.fault.name[:3] != "429"
}

// The sample: so many points, of which so many slow ones.
const (
	sampled     = 36
	sampledSlow = 2
)

// TestFaults lets each request of a launch, of a replacement and of a cleanup fail in each way, and has another backend go on. Without
// -whole it is a sample.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	s := newSeed(t)
	bystander := w.createPod(w.composed("bystander").Pod)
	bystanding := w.createClaim(w.composed("bystander").Claim)
	var all []point
	for _, operation := range operations {
		all = append(all, w.points(operation)...)
	}
	total, atOnce := len(all), 8
	if all = shuffled(all, s); *whole {
		atOnce = 16
	} else {
		all = sample(all)
	}
	var reached, bad atomic.Int64
	each(w, all, atOnce, func(w *world, p point) {
		if w.fails(p, s) {
			reached.Add(1)
		}
		if w.t.Failed() {
			bad.Add(1)
		}
	})
	w.untouched(bystander)
	w.untouchedClaim(bystanding)
	t.Logf("%d of %d points, %d of them reached, %d with violations", len(all), total, reached.Load(), bad.Load())
}

// points lists the points of an operation, from the requests that it makes.
func (w *world) points(operation string) []point {
	w.t.Helper()
	id := operation + "-requests"
	w.prepareCrash(operation, id)
	proxy := newFaultProxy(w.t, w.cluster.Config(), 0)
	if err := w.operate(w.t.Context(), proxy, operation, id); err != nil {
		w.t.Fatal(err)
	}
	var points []point
	for n, request := range proxy.past() {
		w.t.Logf("%s %d: %s", operation, n+1, request)
		for _, f := range faults() {
			if f.fits == nil || f.fits(request) {
				points = append(points, point{operation, n + 1, request, f})
			}
		}
	}
	w.finish(w.executor("finish-"+id), id, operation, true)
	return points
}

// shuffled puts points in an order by chance.
func shuffled[P any](all []P, seed uint64) []P {
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// sample takes some of the points, and few that take long.
func sample(all []point) []point {
	var some []point
	slow := 0
	for _, p := range all {
		if p.slow() {
			if slow++; slow > sampledSlow {
				continue
			}
		}
		if some = append(some, p); len(some) == sampled {
			break
		}
	}
	return some
}

// each runs a subtest for each point, some at once.
func each[P fmt.Stringer](w *world, points []P, atOnce int, test func(*world, P)) {
	w.t.Run("points", func(t *testing.T) {
		slots := make(chan struct{}, atOnce)
		for _, p := range points {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				t.Run(p.String(), func(t *testing.T) { test(w.in(t), p) })
			}()
		}
		for range atOnce {
			slots <- struct{}{}
		}
	})
}

// operate does one operation as a backend behind a proxy. A session that it makes run is closed.
func (w *world) operate(ctx context.Context, proxy *faultProxy, operation, id string) error {
	w.t.Helper()
	e, closeStore, err := newExecutor(ctx, proxy.config(), w.file, "faulty-"+id, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = closeStore() }()
	if operation != "launch" {
		if err := e.TakeOver(ctx, id); err != nil {
			w.t.Fatal(err)
		}
	}
	var s *executor.Session
	switch operation {
	case "launch":
		r, err := request(id, w.agent, compose.ManagedPVC)
		if err != nil {
			w.t.Fatal(err)
		}
		s, err = e.Launch(ctx, r)
		if err != nil {
			return err
		}
	case "replace":
		if s, err = e.Resume(ctx, id, material(w.agent)); err != nil {
			return err
		}
	case "cleanup":
		return e.Cleanup(ctx, id)
	}
	return s.Close()
}

// fails has one request fail, and another backend go on. It reports whether the operation came to that request.
func (w *world) fails(p point, seed uint64) bool {
	w.t.Helper()
	id := p.String()
	w.prepareCrash(p.operation, id)
	proxy := newFaultProxy(w.t, w.cluster.Config(), seed+uint64(p.at))
	proxy.failAt(p.at, p.fault.do)
	w.survives(proxy, p.operation, id)
	return len(proxy.past()) >= p.at
}

// survives does an operation behind a failing proxy, and has another backend go on.
func (w *world) survives(proxy *faultProxy, operation, id string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 4*time.Minute)
	defer cancel()
	began := time.Now()
	err := w.operate(ctx, proxy, operation, id)
	if err != nil && reason(err) == "" || ctx.Err() != nil {
		w.t.Errorf("after %v: %v (%T) is no typed error", time.Since(began), err, err)
	}
	outcome := "it went well"
	if err != nil {
		outcome = fmt.Sprintf("%s: %v", reason(err), err)
	}
	w.t.Logf("after %v: %s", time.Since(began).Round(time.Millisecond), outcome)
	proxy.onceAccepted(w.t)
	objects := w.composed(id)
	proxy.onlyTouched(w.t, objects.Pod.Name, objects.Claim.Name)
	e := w.executor("after-" + id)
	w.accounted(e, id)
	w.finish(e, id, operation, proxy.random(4) == 0)
}

// TestServerFaults restarts the API server, and holds up etcd, before and after requests of a launch and of a replacement. Without -whole it
// is a sample.
func TestServerFaults(t *testing.T) {
	w := newWorld(t)
	s := newSeed(t)
	var all []point
	for _, operation := range operations {
		seen := map[int]bool{}
		for _, p := range w.points(operation) {
			if seen[p.at] {
				continue
			}
			seen[p.at] = true
			for _, f := range w.serverFaults() {
				p.fault = f
				all = append(all, p)
			}
		}
	}
	total := len(all)
	if !*whole {
		const some = 5
		all = shuffled(all, s)[:some]
	}
	bad := 0
	for _, p := range all {
		t.Run(p.String(), func(t *testing.T) {
			w.in(t).fails(p, s)
			if t.Failed() {
				bad++
			}
		})
	}
	t.Logf("%d of %d points, %d with violations", len(all), total, bad)
}

// serverFaults are those of the cluster itself, which befall everyone.
func (w *world) serverFaults() []namedFault {
	restart := func() {
		if err := w.cluster.APIServer.Restart(); err != nil {
			w.t.Error(err)
		}
	}
	pause := func() {
		if err := w.cluster.Etcd.Pause(); err != nil {
			w.t.Error(err)
		}
		time.AfterFunc(clientTimeout+time.Second, func() {
			if err := w.cluster.Etcd.Resume(); err != nil {
				w.t.Error(err)
			}
		})
	}
	before := func(what func()) fault {
		return func(p *faultProxy, rw http.ResponseWriter, r *http.Request, c carried) {
			what()
			p.forward(rw, r, c, nil)
		}
	}
	return []namedFault{
		{name: "restart", do: before(restart)},
		{name: "done-restart", do: func(p *faultProxy, _ http.ResponseWriter, r *http.Request, c carried) {
			_, _ = p.deliver(r, c)
			restart()
			hangUp(r)
		}},
		{name: "etcd-held", do: before(pause)},
	}
}
