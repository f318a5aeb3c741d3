package session

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
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
