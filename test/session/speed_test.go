package session

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/test/cluster"
)

var (
	speed  = flag.Bool("speed", false, "measure")
	rounds = flag.Int("rounds", 20, "how often what takes about a second is measured")
)

// measures skips what only measures, where nobody asked for it.
func measures(t *testing.T) {
	t.Helper()
	if !*speed {
		t.Skip("it measures; run it with -speed")
	}
}

// times are durations of one thing.
type times []time.Duration

func (d times) at(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))].Round(100 * time.Microsecond)
}

func (d times) String() string {
	return fmt.Sprintf("median %v, p99 %v, least %v (%d)", d.at(0.5), d.at(0.99), d.at(0), len(d))
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// counting counts requests.
type counting struct {
	rt http.RoundTripper
	n  *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.rt.RoundTrip(r)
}

// counted returns a backend whose requests are counted, and a client as that has.
func (w *world) counted(owner string) (*executor.Executor, *atomic.Int64) {
	w.t.Helper()
	n := new(atomic.Int64)
	config := w.cluster.Config()
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return counting{rt, n} })
	e, closeStore, err := newExecutor(w.t.Context(), config, w.file, owner, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = closeStore() })
	return e, n
}

func (w *world) client() *executor.Client {
	w.t.Helper()
	client, err := executor.NewClient(w.cluster.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// speedRequest is a session without a preparation script, its workspace its Pod's own.
func (w *world) speedRequest(id string) executor.Request {
	w.t.Helper()
	r, err := request(id, w.agent, compose.EmptyDir)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Material.Prepare = nil
	return r
}

// TestSpeedLaunch launches sessions, each beside the same Pod without a session: created, awaited and given one exec.
func TestSpeedLaunch(t *testing.T) {
	measures(t)
	w := newWorld(t)
	e, requests := w.counted("speed")
	client := w.client()
	var running, bare, launched, created, up times
	var sent int64
	for n := range *rounds + 1 {
		id := fmt.Sprintf("speed-%d", n)
		r := w.speedRequest(id)
		run, all := w.bare(client, r)
		before := requests.Load()
		var session *executor.Session
		began := time.Now()
		var pod, bootstrapping time.Duration
		e.Observe = func(v executor.Event) {
			switch {
			case v.Kind == executor.Created:
				pod = time.Since(began)
			case v.Kind == executor.StateEntered && v.State == inventory.Bootstrapping:
				bootstrapping = time.Since(began)
			}
		}
		took := timed(func() {
			var err error
			if session, err = e.Launch(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 { // the first opens connections and compresses the agent
			running, bare, launched = append(running, run), append(bare, all), append(launched, took)
			created, up = append(created, pod), append(up, bootstrapping)
			sent += requests.Load() - before
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		if err := e.Cleanup(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settled)
	}
	t.Logf("bare Pod, running:  %v", running)
	t.Logf("bare Pod, and exec: %v", bare)
	t.Logf("launch:             %v", launched)
	t.Logf("of which: Pod created %v", created)
	t.Logf("of which: Pod runs    %v", up)
	t.Logf("overhead at the median: %v beyond running, %v beyond running and exec", launched.at(0.5)-running.at(0.5), launched.at(0.5)-bare.at(0.5))
	t.Logf("requests per launch: %.1f", float64(sent)/float64(*rounds))
}

// settled is when a kubelet has put away what is left of a Pod, which would slow the next one down.
const settled = time.Second

// bare creates a session's Pod, waits until its main container runs, and runs a command in it.
func (w *world) bare(client *executor.Client, r executor.Request) (running, all time.Duration) {
	w.t.Helper()
	r.Identity.Namespace, r.Identity.Name = namespace, "bare-"+r.Identity.InstanceID
	objects, err := compose.Compose(r.Template, r.Profile, r.Identity)
	if err != nil {
		w.t.Fatal(err)
	}
	start := time.Now()
	pod, err := w.kube.CoreV1().Pods(namespace).Create(w.t.Context(), objects.Pod, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	watch, err := w.kube.CoreV1().Pods(namespace).Watch(w.t.Context(), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name).String(), ResourceVersion: pod.ResourceVersion,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if now, ok := event.Object.(*corev1.Pod); ok && len(now.Status.ContainerStatuses) > 0 && now.Status.ContainerStatuses[0].State.Running != nil {
			break
		}
	}
	watch.Stop()
	running = time.Since(start)
	err = client.Exec(w.t.Context(), executor.ExecOptions{Namespace: namespace, Pod: pod.Name, Container: "kandev-agent", Command: []string{"true"}, Stdout: io.Discard})
	if err != nil {
		w.t.Fatal(err)
	}
	all = time.Since(start)
	if err := w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.settle(func() bool { pods, _ := w.objects(r.Identity.InstanceID); return len(pods) == 0 })
	time.Sleep(settled)
	return running, all
}

// TestSpeedIdle counts the requests of a session that nobody uses.
func TestSpeedIdle(t *testing.T) {
	measures(t)
	w := newWorld(t)
	e, requests := w.counted("idle")
	s, err := e.Launch(t.Context(), w.speedRequest("idle"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	before := requests.Load()
	time.Sleep(time.Minute)
	t.Logf("requests in a minute: %d", requests.Load()-before)
	if err := e.Cleanup(t.Context(), "idle"); err != nil {
		t.Fatal(err)
	}
}

// TestSpeedForward calls an agent through a session and through kubectl port-forward, in turn.
func TestSpeedForward(t *testing.T) {
	measures(t)
	w := newWorld(t)
	e, _ := w.counted("forward")
	s, err := e.Launch(t.Context(), w.speedRequest("forward"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	kubectl, err := cluster.Kubectl(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	forward := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", w.cluster.Kubeconfig(), "port-forward", "--address=127.0.0.1", s.Row.Pod.Name, fmt.Sprintf(":%d", compose.ControlPort))
	out, err := forward.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := forward.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = forward.Process.Kill(); _ = forward.Wait() }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	theirs := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(line[:n]))
	ways := map[string]string{"session": s.Addr(), "kubectl": theirs}
	latency, kept, throughput := map[string]times{}, map[string]times{}, map[string]times{}
	long := &http.Client{}
	const megabytes = 64
	body := make([]byte, megabytes<<20)
	rand.Read(body)
	ask := func(client *http.Client, method, at string, body io.Reader) {
		r, err := http.NewRequest(method, at, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Token.Reveal())
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status, err)
		}
	}
	for range 10 * *rounds {
		for way, at := range ways {
			short := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			latency[way] = append(latency[way], timed(func() { ask(short, http.MethodGet, "http://"+at+"/health", nil) }))
			kept[way] = append(kept[way], timed(func() { ask(long, http.MethodGet, "http://"+at+"/health", nil) }))
		}
	}
	for range max(3, *rounds/4) {
		for way, at := range ways {
			throughput[way] = append(throughput[way], timed(func() { ask(long, http.MethodPost, "http://"+at+"/echo", bytes.NewReader(body)) }))
		}
	}
	for way := range ways {
		t.Logf("%s: a request on a connection of its own: %v", way, latency[way])
		t.Logf("%s: a request on an open connection: %v", way, kept[way])
		t.Logf("%s: %d MiB there and back: %v", way, megabytes, throughput[way])
	}
	if err := e.Cleanup(t.Context(), "forward"); err != nil {
		t.Fatal(err)
	}
}

// TestSpeedConcurrent launches many sessions at once.
func TestSpeedConcurrent(t *testing.T) {
	measures(t)
	w := newWorld(t)
	for _, many := range []int{20, 100} {
		e, requests := w.counted(fmt.Sprintf("many-%d", many))
		e.StartTimeout, e.AgentTimeout = 10*time.Minute, 10*time.Minute
		took := make(times, many)
		var failed atomic.Int64
		var running sync.WaitGroup
		all := timed(func() {
			for n := range many {
				r := w.speedRequest(fmt.Sprintf("many-%d-%d", many, n))
				running.Go(func() {
					took[n] = timed(func() {
						s, err := e.Launch(context.WithoutCancel(t.Context()), r)
						if err != nil {
							t.Log(err)
							failed.Add(1)
							return
						}
						_ = s.Close()
					})
				})
			}
			running.Wait()
		})
		t.Logf("%d at once: %v in all, %d failed, %d requests each; each: %v", many, all.Round(time.Millisecond), failed.Load(), requests.Load()/int64(many), took)
		for n := range many {
			running.Go(func() {
				if err := e.Cleanup(context.WithoutCancel(t.Context()), fmt.Sprintf("many-%d-%d", many, n)); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
	}
}

// TestSpeedMany lists, looks at and examines 5,000 sessions, of Pods that no node runs.
func TestSpeedMany(t *testing.T) {
	measures(t)
	const many = 5000
	c := cluster.Start(t, cluster.Options{})
	kube, err := kubernetes.NewForConfig(unlimited(c.Config()))
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "inventory", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	r, err := request("", nil, compose.EmptyDir)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := compose.NewSnapshot(r.Template, r.Profile)
	if err != nil {
		t.Fatal(err)
	}
	var making sync.WaitGroup
	slots := make(chan struct{}, 16)
	for n := range many {
		slots <- struct{}{}
		making.Go(func() {
			defer func() { <-slots }()
			id := r.Identity
			id.InstanceID, id.Namespace = fmt.Sprintf("many-%04d", n), namespace
			if err := record(t.Context(), kube, store, id, snapshot); err != nil {
				t.Error(err)
			}
		})
	}
	making.Wait()
	client, err := executor.NewClient(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	e, err := executor.New(executor.Options{Client: client, Inventory: store, Owner: "many", Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	var list, status, doctor times
	for n := range *rounds {
		list = append(list, timed(func() {
			if rows, err := e.List(t.Context()); err != nil || len(rows) != many {
				t.Error(len(rows), err)
			}
		}))
		status = append(status, timed(func() {
			if s, err := e.Status(t.Context(), fmt.Sprintf("many-%04d", n)); err != nil || s.Pod == nil {
				t.Error(s, err)
			}
		}))
		doctor = append(doctor, timed(func() {
			if strays, err := e.Doctor(t.Context()); err != nil || len(strays) != 0 {
				t.Error(len(strays), err)
			}
		}))
	}
	t.Logf("%d sessions: list: %v", many, list)
	t.Logf("%d sessions: status of one: %v", many, status)
	t.Logf("%d sessions: doctor: %v", many, doctor)
}

// record makes a Pod and the row of its session, as a launch does.
func record(ctx context.Context, kube kubernetes.Interface, rows inventory.Inventory, id compose.Identity, snapshot compose.Snapshot) error {
	row, err := rows.Create(ctx, "many", id, snapshot)
	if err != nil {
		return err
	}
	objects, err := snapshot.Compose(row.Identity)
	if err != nil {
		return err
	}
	nonce := compose.NewNonce()
	compose.SetNonce(objects.Pod, nonce)
	row.State = inventory.Scheduling
	if row, err = rows.Update(ctx, row.Holder, row); err != nil {
		return err
	}
	row.Intents = append(row.Intents, inventory.Intent{Kind: inventory.Pod, Name: objects.Pod.Name, Nonce: nonce, SHA256: strings.Repeat("0", 64), Outcome: inventory.Pending})
	if row, err = rows.Update(ctx, row.Holder, row); err != nil {
		return err
	}
	pod, err := kube.CoreV1().Pods(namespace).Create(ctx, objects.Pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	row.Intents[0].Outcome, row.Intents[0].UID = inventory.Committed, pod.UID
	row.Pod = &inventory.Object{Name: pod.Name, UID: pod.UID}
	_, err = rows.Update(ctx, row.Holder, row)
	return err
}
