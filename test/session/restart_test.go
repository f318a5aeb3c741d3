package session

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// An agent that ended is started again from what was uploaded, and is reached with a token of its own.
func TestAgentRestarts(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-restarts")
	s := w.launch(e, "restarts", compose.EmptyDir)
	w.call(s, http.MethodPut, "/file/workspace/work", "edited")
	first := s.Token
	_, _ = call(s, http.MethodPost, "/exit", "") // which ends before its answer
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.settle(func() bool { return w.answers("restarts") })
	if err := e.Exec(t.Context(), "restarts", executor.Run{Command: []string{"test", "!", "-e", bootstrap.TokenPath}, Stdout: io.Discard}); err != nil {
		t.Errorf("the token of the agent before it is there: %v", err)
	}
	s, err := e.Reconnect(t.Context(), "restarts")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if s.Token == first {
		t.Error("it has the token of the agent before it")
	}
	if got := w.call(s, http.MethodGet, "/file/workspace/work", ""); got != "edited" {
		t.Errorf("the workspace holds %q", got)
	}
	status, err := e.Status(t.Context(), "restarts")
	if err != nil || status.Fault != nil {
		t.Errorf("status: %+v, %v", status.Fault, err)
	}
	if err := e.Cleanup(t.Context(), "restarts"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "restarts")
}

// forgetful is an inventory that cannot record that a session runs, once.
type forgetful struct {
	inventory.Inventory
	once *sync.Once
}

func (f forgetful) Update(ctx context.Context, h inventory.Holder, r inventory.Row) (row inventory.Row, err error) {
	if r.State == inventory.Running {
		err = nil
		f.once.Do(func() { err = errors.New("the disk is full") })
		if err != nil {
			return row, err
		}
	}
	return f.Inventory.Update(ctx, h, r)
}

// A session whose agent was started, and of which that was not recorded, is given its material again; the agent that runs is the one
// that is reached.
func TestBootstrapTwice(t *testing.T) {
	w := newWorld(t)
	e, closeStore, err := newExecutor(t.Context(), w.cluster.Config(), w.file, "owner-twice-started", func(i inventory.Inventory) inventory.Inventory {
		return forgetful{i, new(sync.Once)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closeStore() }()
	r, err := request("twice-started", w.agent, compose.EmptyDir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Launch(t.Context(), r)
	w.wantReason(err, executor.InventoryFailed)
	w.settle(func() bool { return w.answers("twice-started") })
	s, err := e.Resume(t.Context(), "twice-started", r.Material)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got := w.call(s, http.MethodGet, "/env/API_KEY", ""); got != canary {
		t.Errorf("the agent has %q", got)
	}
	if err := e.Cleanup(t.Context(), "twice-started"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "twice-started")
}

// answers reports whether the agent of a session answers.
func (w *world) answers(id string) bool {
	e := w.executor("asks-" + id)
	listener, err := e.Forward(w.t.Context(), id, compose.ControlPort, 0)
	if err != nil {
		return false
	}
	defer func() { _ = listener.Close() }()
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + listener.Addr() + "/health")
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil
}

// A token that was given and never received is lost with the agent that gave it: that is started again, and gives another one.
func TestTokenIsLost(t *testing.T) {
	w := newWorld(t)
	e := w.executor("owner-lost-token")
	s := w.launch(e, "lost-token", compose.EmptyDir)
	w.call(s, http.MethodPut, "/file/workspace/work", "edited")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Exec(t.Context(), "lost-token", executor.Run{Command: []string{"rm", bootstrap.TokenPath}, Stdout: io.Discard}); err != nil {
		t.Fatal(err)
	}
	_, err := e.Reconnect(t.Context(), "lost-token")
	w.wantReason(err, executor.AgentRefused)
	s, err = e.Resume(t.Context(), "lost-token", material(w.agent))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got := w.call(s, http.MethodGet, "/file/workspace/work", ""); got != "edited" {
		t.Errorf("the workspace holds %q", got)
	}
	if err := e.Cleanup(t.Context(), "lost-token"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "lost-token")
}

// padded is an agent with noise behind it, which a kernel does not look at: its upload takes a while.
func (w *world) padded(size int) *upload.Blob {
	w.t.Helper()
	at, err := agentFile()
	if err != nil {
		w.t.Fatal(err)
	}
	agent, err := os.ReadFile(at)
	if err != nil {
		w.t.Fatal(err)
	}
	noise := make([]byte, size)
	rand.Read(noise)
	return upload.NewBlob(append(agent, noise...))
}

// killsDuring ends the container of a session once, as soon as a shell command succeeds in it.
func (w *world) killsDuring(id, condition string) error {
	for w.t.Context().Err() == nil {
		c, err := w.cluster.ContainerCommand(w.t.Context(), namespace, compose.PodName(id), "kandev-agent", "/bin/sh", "-c", condition+" && echo now && kill 1")
		if err != nil {
			continue
		}
		if out, _ := c.Output(); len(out) > 0 { // it may end with the container
			return nil
		}
	}
	return w.t.Context().Err()
}

// A container that ends in the midst of an upload, or of its preparation, is given everything again. containerd 1.6 never ends the
// stream of such an upload by itself.
func TestContainerEndsDuringBootstrap(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		prepare, when string
	}{
		"upload":      {"true", "[ -s /opt/kandev/.kandev-* ]"},
		"preparation": {"[ -e /workspace/once ] || { touch /workspace/once; sleep 1000; }", "[ -e /workspace/once ]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			id := "ends-during-" + name
			e := w.executor("owner-" + id)
			r, err := request(id, w.padded(64<<20), compose.EmptyDir)
			if err != nil {
				t.Fatal(err)
			}
			r.Material.Prepare = upload.NewBlob([]byte(c.prepare + "\n"))
			killed := make(chan error, 1)
			go func() { killed <- w.killsDuring(id, c.when) }()
			s, err := e.Launch(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if err := <-killed; err != nil {
				t.Error(err)
			}
			pods, _ := w.objects(id)
			if restarts := pods[0].Status.ContainerStatuses[0].RestartCount; restarts != 1 {
				t.Errorf("the container was started again %d times", restarts)
			}
			if got := w.call(s, http.MethodGet, "/env/API_KEY", ""); got != canary {
				t.Errorf("the agent has %q", got)
			}
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Error(err)
			}
			w.nothing(e, id)
		})
	}
}
