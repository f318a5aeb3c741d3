package session

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

func TestLifecycle(t *testing.T) {
	w := newWorld(t)
	for _, mode := range []compose.WorkspaceMode{compose.ManagedPVC, compose.EmptyDir} {
		t.Run(string(mode), func(t *testing.T) {
			w.t = t
			id := "life-" + string(mode)
			e := w.executor("owner-" + strings.ReplaceAll(id, "_", "-"))
			s := w.launch(e, id, mode)
			if got := w.call(s, http.MethodGet, "/env/API_KEY", ""); got != canary {
				t.Errorf("the agent has %q", got)
			}
			w.call(s, http.MethodPut, "/file/workspace/work", "edited")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := e.Stop(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s, err := e.Reconnect(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.call(s, http.MethodGet, "/file/workspace/work", ""); got != "edited" {
				t.Errorf("the workspace holds %q", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			w.nothing(e, id)
		})
	}
}

// One writer may take both streams of a command, whichever of its methods client-go would rather call.
func TestExecIntoOneWriter(t *testing.T) {
	w := newWorld(t)
	e := w.executor("one-writer")
	s := w.launch(e, "one-writer", compose.EmptyDir)
	defer func() { _ = s.Close() }()
	var both bytes.Buffer
	const script = "i=0; while [ $i -lt 5000 ]; do echo out; echo error >&2; i=$((i+1)); done"
	if err := e.Exec(t.Context(), "one-writer", executor.Run{Command: []string{"sh", "-c", script}, Stdout: &both, Stderr: &both}); err != nil {
		t.Fatal(err)
	}
	if got, want := both.Len(), 5000*len("out\nerror\n"); got != want {
		t.Errorf("%d bytes of %d came", got, want)
	}
	if err := e.Cleanup(t.Context(), "one-writer"); err != nil {
		t.Error(err)
	}
	w.nothing(e, "one-writer")
}
