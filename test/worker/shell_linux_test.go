package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const recipe = "../../k8s/worker-images/full"

// shells are those that may be an image's /bin/sh.
var shells = map[string][]string{"dash": {"dash"}, "busybox": {"busybox", "sh"}, "bash": {"bash", "--posix"}}

// eachShell runs a test under every shell that there is.
func eachShell(t *testing.T, test func(t *testing.T, shell []string)) {
	t.Helper()
	for name, shell := range shells {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skipf("%s is not installed", shell[0])
			}
			t.Parallel()
			test(t, shell)
		})
	}
}

// result is what a script ended with and what it printed.
type result struct {
	status      int
	out, errOut string
}

// start runs a command to its end.
func start(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	var out, errOut strings.Builder
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// write makes a file, which its owner may run.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	for _, script := range []string{"prepare.sh", "smoke.sh"} {
		at := filepath.Join(t.TempDir(), script)
		write(t, at, file(t, script))
		if r := start(t, exec.Command("shellcheck", "--norc", "--severity=style", at)); r.status != 0 {
			t.Errorf("%s\n%s", script, r.out)
		}
	}
}
