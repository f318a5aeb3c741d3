package session

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// ticking leaves a process in the background that prints, and counts in the workspace.
const ticking = ": >/workspace/ticks; while sleep 0.1; do echo tick; echo tick >&2; echo tick >>/workspace/ticks; done &\n"

// A preparation has ended when its script has, whatever comes later over which of its streams, and whoever keeps them open.
func TestPreparation(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		script string
		ticks  bool
		fails  executor.Reason
	}{
		"its errors come later":        {script: "(sleep 1; echo late >&2) &\n"},
		"its output comes later":       {script: "(sleep 1; echo late) &\n"},
		"its last line is not ended":   {script: "printf unended\n"},
		"its output is long":           {script: "i=0; while [ $i -lt 20000 ]; do echo $i $i $i $i; i=$((i+1)); done\n"},
		"it leaves a process":          {script: ticking, ticks: true},
		"it fails, leaving a process":  {script: ticking + "exit 3\n", fails: executor.PrepareFailed},
		"it fails with its last words": {script: "echo out; echo no >&2; exit 255\n", fails: executor.PrepareFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w, id := w.in(t), compose.NewNonce()[:8]
			e := w.executor("owner-" + id)
			r, err := request(id, w.agent, compose.EmptyDir)
			if err != nil {
				t.Fatal(err)
			}
			r.Material.Prepare = upload.NewBlob([]byte("echo once >>/workspace/runs\n" + c.script))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			s, err := e.Launch(ctx, r)
			if c.fails != "" {
				w.wantReason(err, c.fails)
				w.nothing(e, id)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if got := w.call(s, http.MethodGet, "/file/workspace/runs", ""); got != "once\n" {
				t.Errorf("it ran: %q", got)
			}
			if c.ticks {
				w.ticks(ctx, s)
			}
			if err := e.Cleanup(t.Context(), id); err != nil {
				t.Error(err)
			}
			w.nothing(e, id)
		})
	}
}

// ticks waits until the process that a preparation left counts on.
func (w *world) ticks(ctx context.Context, s *executor.Session) {
	w.t.Helper()
	const count = "/file/workspace/ticks"
	for before := w.call(s, http.MethodGet, count, ""); w.call(s, http.MethodGet, count, "") == before; {
		if ctx.Err() != nil {
			w.t.Fatal("the process that the preparation left has ended")
		}
	}
}
