package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// needsRecipe skips what needs the recipe's own image, where nobody asked for it.
func needsRecipe(t *testing.T) {
	t.Helper()
	if !*acceptance {
		t.Skip("it needs the recipe's image; run it with -acceptance")
	}
}

// TestSmoke runs the recipe's smoke check as the agent would.
func TestSmoke(t *testing.T) {
	needsRecipe(t)
	w := newWorld(t)
	e := w.executor("smoke")
	w.launch(e, w.request("smoke", bootstrap.EnvVar{Name: "PREPARE_REPOSITORY", Value: w.serveRepository()}))
	var report struct {
		Passed bool
		Checks []struct {
			Name    string
			Passed  bool
			Seconds int
			Detail  string
		}
		Leftovers int
	}
	var out, errOut strings.Builder
	err := e.Exec(t.Context(), "smoke", executor.Run{Command: []string{"smoke.sh"}, Stdout: &out, Stderr: &errOut})
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &out, &errOut)
	}
	for _, c := range report.Checks {
		w.item(c.Name, "smoke: "+c.Name, func(w *world) string {
			if !c.Passed {
				w.t.Errorf("%s\n%s", c.Detail, &errOut)
			}
			return fmt.Sprintf("%s (%d s)", c.Detail, c.Seconds)
		})
	}
	w.item("Leftovers", "smoke: nothing of it is left", func(w *world) string {
		if err != nil || !report.Passed || report.Leftovers != 0 {
			w.t.Errorf("%v, %d left\n%s", err, report.Leftovers, &errOut)
		}
		if got := w.inAgent(e, "smoke", "docker ps -aq; docker images -q; docker volume ls -q; docker network ls --filter type=custom -q; ls -d "+compose.WorkspacePath+"/kandev-smoke-* 2>/dev/null || :; git -C /workspace status --porcelain"); got != "" {
			w.t.Errorf("left: %s", got)
		}
		return "0 containers, images, networks, volumes; the repository is as it was"
	})
	w.end(e, "smoke")
}

// TestLimits shows what the recipe does not keep from happening, and what the engine's share of memory is for.
func TestLimits(t *testing.T) {
	needsRecipe(t)
	w := newWorld(t)
	e := w.executor("limits")
	w.item("Escape", "limit: a nested container that is itself privileged", func(w *world) string {
		w.launch(e, w.request("escape"))
		w.giveNested(e, "escape")
		got := w.inAgent(e, "escape", `docker run --rm --privileged nested:1 sh -c 'mkdir /groups; mount -t cgroup -o memory none /groups && echo 0 >/groups/cgroup.procs; cat /proc/self/cgroup' 2>&1`)
		w.end(e, "escape")
		if !strings.Contains(got, ":memory:/\n") {
			return "it did not leave the Pod's cgroups in the way that was tried"
		}
		return "**acceptance failure** for such containers: it left the Pod's budget, to the root of the node's memory cgroups, which a privileged process may mount (version 1, driver cgroupfs)"
	})
	w.item("Quarter", "limit: an engine that keeps no memory for itself", func(w *world) string {
		r := w.request("quarter")
		for i := range r.Template.Spec.Containers {
			if c := &r.Template.Spec.Containers[i]; c.Name == engine {
				const share = `echo "$((bytes / 4 * 3))" >"$memory/docker/$limit"`
				if !strings.Contains(c.Args[0], share) {
					w.t.Fatal("the engine's start has changed")
				}
				c.Args[0] = strings.Replace(c.Args[0], share, ":", 1)
			}
		}
		s := w.launch(e, r)
		w.giveNested(e, "quarter")
		if w.inAgent(e, "quarter", "docker run nested:1 tail /dev/zero >/dev/null 2>&1 || echo $?") == "137" {
			return "a nested container that takes all memory is ended, as with the recipe"
		}
		w.await("the engine's second start", func(context.Context) (bool, error) {
			return w.restarts(s.Row.Pod.Name)[engine] > 0, nil
		})
		w.inAgent(e, "quarter", "timeout 60 sh -c 'until docker info >/dev/null 2>&1; do sleep 1; done'")
		if n := w.restarts(s.Row.Pod.Name)[agent]; n > 0 {
			w.t.Errorf("the agent was started again, %d times", n)
		}
		w.end(e, "quarter")
		return "a nested container takes all memory, and the kernel ends the engine and all containers with it; the agent goes on, and the engine is started again"
	})
}

// end ends a session.
func (w *world) end(e *executor.Executor, id string) {
	w.t.Helper()
	if err := e.Cleanup(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
	w.nothing(id)
}
