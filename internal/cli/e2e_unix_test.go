//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binaries is where the built programs of this run are kept.
var binaries string

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "podlint"); err != nil {
		panic(err)
	}
	_ = os.Chmod(binaries, 0o755)
	code := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(code)
}

// build returns the program, built once, with more arguments for go build.
func build(name string, args ...string) (string, error) {
	file := filepath.Join(binaries, name)
	args = append(append([]string{"build", "-o", file}, args...), "../../cmd/kandev-podlint")
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
}

var program = sync.OnceValues(func() (string, error) { return build("podlint") })

// command prepares a run of the real program in a directory.
func command(t *testing.T, dir string, args ...string) (c *exec.Cmd, out, errOut *bytes.Buffer) {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c = exec.CommandContext(t.Context(), file, args...)
	c.Dir = dir
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	c.Stdout, c.Stderr = out, errOut
	c.WaitDelay = 10 * time.Second
	return c, out, errOut
}

// status is a process's exit status; a signal counts as a shell counts it.
func status(err error) int {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		if err != nil {
			return -1
		}
		return 0
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// noTrace fails where a program shows its insides.
func noTrace(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		t.Errorf("a stack trace: %s", text)
	}
}

// many writes n templates with a finding each into a directory.
func many(t *testing.T, n int) string {
	t.Helper()
	files := map[string]string{}
	text := strings.Replace(good, "  spec:\n", "  spec:\n    hostPID: true\n", 1)
	for i := range n {
		files[fmt.Sprintf("t/%05d.yaml", i)] = text
	}
	return write(t, files)
}

// Both signals end a run in the middle of a large tree: 130, no output file, nothing left behind.
func TestSignals(t *testing.T) {
	dir := many(t, 20000)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c, _, errOut := command(t, dir, "lint", "t", "--format", "text", "--format", "json=out.json")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout = w
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if _, err := io.ReadFull(r, make([]byte, 4096)); err != nil { // it is in the middle now
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		_ = c.Process.Signal(sig)
		if code := status(c.Wait()); code != ExitInterrupted {
			t.Errorf("%v: exit status %d: %s", sig, code, errOut)
		}
		if got := strings.Join(entries(t, dir), " "); got != "t" {
			t.Errorf("%v: left behind: %s", sig, got)
		}
		if errOut.String() != "kandev-podlint: interrupted\n" {
			t.Errorf("%v: %q", sig, errOut)
		}
		_ = r.Close()
	}
}

// Waiting for input that does not come ends with a signal too.
func TestSignalWhileReading(t *testing.T) {
	for _, args := range [][]string{{"lint", "-"}, {"render", "-"}, {"diff", "--requested", "-", "--admitted", "x"}} {
		c, _, errOut := command(t, t.TempDir(), args...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin = r
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		_ = c.Process.Signal(os.Interrupt)
		if code := status(c.Wait()); code != ExitInterrupted {
			t.Errorf("%v: exit status %d: %s", args, code, errOut)
		}
		_, _ = r.Close(), w.Close()
	}
}

// A reader that has seen enough ends the run quietly, and nothing half-written is left.
func TestClosedPipe(t *testing.T) {
	dir := many(t, 500)
	c, _, errOut := command(t, dir, "lint", "t", "--format", "text", "--format", "json=out.json")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_, _ = io.ReadFull(r, make([]byte, 100))
	_ = r.Close()
	if code := status(c.Wait()); code != ExitClosedPipe || errOut.Len() > 0 {
		t.Errorf("exit status %d, %q", code, errOut)
	}
	if got := strings.Join(entries(t, dir), " "); got != "t" {
		t.Errorf("left behind: %s", got)
	}
}

func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		return // only Linux has it
	}
	dir := write(t, map[string]string{"t.yaml": good})
	for _, args := range [][]string{{"lint", "t.yaml"}, {"render", "t.yaml"}, {"rules"}, {"rules", "root-user"}, {"version"}, {"policy", "test"}} {
		c, _, errOut := command(t, dir, args...)
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout = full
		code := status(c.Run())
		if code != ExitUnusable || !strings.Contains(errOut.String(), "no space left on device") {
			t.Errorf("%v: exit status %d, %q", args, code, errOut)
		}
		_ = full.Close()
	}
	c, _, errOut := command(t, dir, "lint", "t.yaml", "--output", "/dev/full")
	if code := status(c.Run()); code != ExitUnusable || errOut.String() != "kandev-podlint: /dev/full cannot be written: no space left on device\n" {
		t.Errorf("exit status %d, %q", code, errOut)
	}
}

// asNobody has a command run without root's privileges, which no permission stops.
func asNobody(c *exec.Cmd) {
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// open lets another user into a test's directory, whose parent is the test's own.
func open(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What may not be read or written is named; everything else is linted.
func TestPermissions(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml": good, "locked/x.yaml": good, "secret.yaml": good, "z.yaml": "kind: [\n", "cfg/.kandev-podlint.yaml": "", "cfg/t.yaml": good,
	})
	open(t, dir)
	for _, name := range []string{"locked", "secret.yaml", "cfg/.kandev-podlint.yaml"} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) }) //nolint:errcheck // so that it can be removed
	}
	c, out, errOut := command(t, dir, "lint", ".", "a*.yaml", "locked/*")
	asNobody(c)
	code := status(c.Run())
	for _, want := range []string{
		"locked: error: cannot be read: permission denied", "secret.yaml: error: cannot be read: permission denied", "z.yaml:1:1: error: not YAML or JSON",
		".kandev-podlint.yaml:1:1: error: the configuration cannot be read: permission denied", "1 template, 5 errors",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("missing %q in\n%s%s", want, out, errOut)
		}
	}
	if code != ExitUnusable {
		t.Errorf("exit status %d", code)
	}
	c, _, errOut = command(t, dir, "lint", "a.yaml", "--output", "out.json")
	asNobody(c)
	if code := status(c.Run()); code != ExitUnusable || errOut.String() != "kandev-podlint: out.json cannot be written: permission denied\n" {
		t.Errorf("exit status %d, %q", code, errOut)
	}
	for _, flag := range []string{"--profile", "--config", "--baseline"} {
		c, _, errOut = command(t, dir, "lint", "a.yaml", flag, "secret.yaml")
		asNobody(c)
		if code := status(c.Run()); code != ExitUnusable || errOut.String() != "kandev-podlint: "+flag+": open secret.yaml: permission denied\n" {
			t.Errorf("exit status %d, %q", code, errOut)
		}
	}
}

// Help, version, render and the catalogue must not compile policies: they work in a program whose policies do not compile.
func TestNoPoliciesCompiled(t *testing.T) {
	broken, err := brokenPack(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		code int
	}{
		{"--help", 0},
		{"lint --help", 0},
		{"version", 0},
		{"--version", 0},
		{"rules", 0},
		{"rules root-user", 0},
		{"completion bash", 0},
		{"render templates/minimal.yaml", 0},
		{"render --show-owned profiles/team.yaml", 1},
		{"lint templates/minimal.yaml", 2},
	} {
		cmd := exec.CommandContext(t.Context(), broken, strings.Fields(c.line)...)
		cmd.Dir = "../../testdata"
		out, err := cmd.CombinedOutput()
		if code := status(err); code != c.code {
			t.Errorf("%s: exit status %d, want %d: %s", c.line, code, c.code, out)
		}
		noTrace(t, string(out))
	}
}

// brokenPack builds the program with a policy in its pack that is no Rego.
func brokenPack(t *testing.T) (string, error) {
	t.Helper()
	var replace []string
	err := filepath.WalkDir("../../policy/rules", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".rego") && !strings.HasSuffix(path, "_test.rego") {
			replace = append(replace, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	policy, err := filepath.Abs(replace[0])
	if err != nil {
		return "", err
	}
	dir := write(t, map[string]string{"x.rego": "this is no policy\n"})
	overlay := fmt.Sprintf(`{"Replace": {%q: %q}}`, policy, filepath.Join(dir, "x.rego"))
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), []byte(overlay), 0o600); err != nil {
		return "", err
	}
	return build("broken", "-overlay", filepath.Join(dir, "overlay.json"))
}
