package session

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// silence is how many bytes come from the API server over the connection to the agent's port before it falls silent.
type silence int

func (s silence) String() string { return fmt.Sprintf("silent-after-%d", s) }

// A connection that stays open, and over which nothing more comes, is as good as none: a launch opens another one.
func TestSilentForward(t *testing.T) {
	var all []silence
	for n := silence(0); n <= 480; n += 40 {
		all = append(all, n)
	}
	each(newWorld(t), all, 5, func(w *world, n silence) {
		proxy := w.silentProxy(int(n), nil)
		id := n.String()
		e, closeStore, err := newExecutor(w.t.Context(), proxy.config(), w.file, "owner-"+id, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		defer func() { _ = closeStore() }()
		s := w.launch(e, id, compose.EmptyDir)
		defer func() { _ = s.Close() }()
		if got := w.call(s, http.MethodGet, "/env/API_KEY", ""); got != canary {
			w.t.Errorf("the agent has %q", got)
		}
		if err := e.Cleanup(w.t.Context(), id); err != nil {
			w.t.Error(err)
		}
		w.nothing(e, id)
	})
}

// silentProxy lets the first connection to an agent's port fall silent.
func (w *world) silentProxy(after int, hush <-chan struct{}) *faultProxy {
	w.t.Helper()
	proxy, forwards := newFaultProxy(w.t, w.cluster.Config(), 0), 0
	proxy.choose = func(_ int, c carried) fault {
		if !strings.HasSuffix(c.path, "/portforward") {
			return nil
		}
		if forwards++; forwards > 1 {
			return nil
		}
		return muteAfter(after, hush)
	}
	return proxy
}

// What is given up over a silent connection ends at once, and so does the connection: neither waits for words of the node.
func TestSilentForwardCloses(t *testing.T) {
	w := newWorld(t)
	e := w.executor("silent")
	s := w.launch(e, "silent", compose.EmptyDir)
	defer func() { _ = s.Close() }()
	for _, transport := range []executor.Transport{executor.WebSocket, executor.SPDY} {
		hush := make(chan struct{})
		client, err := executor.NewClient(w.silentProxy(-1, hush).config())
		if err != nil {
			t.Fatal(err)
		}
		forward, err := client.OpenForward(t.Context(), namespace, s.Row.Pod.Name, transport)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := forward.Dial(s.Row.ControlPort)
		if err != nil {
			t.Fatal(err)
		}
		close(hush)
		read := make(chan error, 1)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			read <- err
		}()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := <-read; err == nil {
			t.Error("a byte came")
		}
		if err := forward.Close(); err != nil {
			t.Error(err)
		}
		<-forward.Done()
	}
	if err := e.Cleanup(t.Context(), "silent"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "silent")
}
