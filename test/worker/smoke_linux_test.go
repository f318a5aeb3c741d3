package worker

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// report is what smoke.sh prints.
type report struct {
	SchemaVersion int
	Passed        bool
	Checks        []struct {
		Name    string
		Passed  bool
		Seconds int
		Detail  string
	}
	Leftovers int
}

// engine stands in for the Docker client: it has a container and a network of the run's, and logs what it is asked to do.
const engine = `#!/bin/sh
echo "$*" >>LOG
case "$1 $2" in
"ps --all") [ -e STATE/container ] || [ "$BROKEN" ] || exit 0; echo 1f3a ;;
"network ls") [ -e STATE/network ] || exit 0; echo 9c2e ;;
"rm --force") [ "$BROKEN" ] || rm STATE/container ;;
"network rm") rm STATE/network ;;
"images --quiet" | "volume ls") ;;
*) exit 1 ;;
esac
`

// TestSmokeReports: without any tool every check fails, and what is left is counted and removed by name.
func TestSmokeReports(t *testing.T) {
	script := filepath.Join(t.TempDir(), "smoke.sh")
	write(t, script, file(t, "smoke.sh"))
	eachShell(t, func(t *testing.T, shell []string) {
		for _, c := range []struct {
			broken    string // an engine that removes nothing
			leftovers int
		}{{"", 0}, {"yes", 1}} {
			state, bin, workspace := t.TempDir(), t.TempDir(), t.TempDir()
			log := filepath.Join(state, "log")
			for _, name := range []string{"container", "network"} {
				write(t, filepath.Join(state, name), "")
			}
			write(t, filepath.Join(bin, "docker"), strings.NewReplacer("LOG", log, "STATE", state).Replace(engine))
			for _, tool := range []string{"basename", "cat", "date", "dirname", "mkdir", "rm", "sh", "tail", "timeout", "tr", "wc"} {
				at, err := exec.LookPath(tool)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(at, filepath.Join(bin, tool)); err != nil {
					t.Fatal(err)
				}
			}
			at, err := exec.LookPath(shell[0])
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(at, append(shell[1:], script)...)
			command.Dir, command.Env = workspace, []string{"PATH=" + bin, "BROKEN=" + c.broken}
			r := start(t, command)
			var got report
			if err := json.Unmarshal([]byte(r.out), &got); err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
			if r.status == 0 || got.Passed || got.SchemaVersion != 1 || got.Leftovers != c.leftovers || len(got.Checks) != 11 {
				t.Errorf("%+v: %+v", c, got)
			}
			for _, check := range got.Checks {
				if check.Passed || check.Detail == "" {
					t.Errorf("%+v", check)
				}
			}
			if left, err := os.ReadDir(workspace); err != nil || len(left) > 0 {
				t.Errorf("the workspace holds %v, %v", left, err)
			}
			id := regexp.MustCompile(`kandev-smoke-\d+-\d+`).FindString(read(t, log))
			want := []string{
				"ps --all --quiet --filter label=kandev.worker.smoke=" + id, "rm --force 1f3a",
				"network ls --quiet --filter label=com.docker.compose.project=" + id, "network rm 9c2e",
				"images --quiet " + id + ":1",
				"ps --all --quiet --filter label=kandev.worker.smoke=" + id, "images --quiet --filter label=kandev.worker.smoke=" + id,
				"network ls --quiet --filter label=com.docker.compose.project=" + id, "volume ls --quiet --filter label=com.docker.compose.project=" + id,
			}
			said := strings.Split(strings.TrimSpace(read(t, log)), "\n")
			if diff := cmp.Diff(want, said[max(0, len(said)-len(want)):]); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}
	})
}
