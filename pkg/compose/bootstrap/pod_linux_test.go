package bootstrap

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deadline bounds every wait for a condition; it is reached only by a failing test.
const deadline = 20 * time.Second

// nobody is the user that containers run as in these tests, where the tests themselves run as root.
const nobody = 65534

// shells are the shells that an image may have as /bin/sh.
var shells = map[string][]string{
	"dash":    {"dash"},
	"busybox": {"busybox", "sh"},
	"bash":    {"bash", "--posix"},
}

// eachShell runs a test under every shell of this machine.
func eachShell(t *testing.T, test func(t *testing.T, p *pod)) {
	t.Helper()
	for name, argv := range shells {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s is not installed", argv[0])
			}
			t.Parallel()
			p := newPod(t)
			p.shell = argv
			test(t, p)
		})
	}
}

// pod is a directory with the three owned volumes, and how its container runs.
type pod struct {
	t     *testing.T
	root  string
	shell []string
	uid   int
	env   []string
	files []string  // in the marker
	agent [2]string // what the agent does before and after it records how it was started
}

func newPod(t *testing.T) *pod {
	t.Helper()
	p := &pod{
		t: t, root: t.TempDir(), shell: []string{"sh"}, uid: os.Geteuid(),
		env:   []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"},
		files: []string{AgentPath, RuntimeEnvPath, PreparePath, AuthEnvPath},
	}
	for _, dir := range []string{"/opt/kandev", "/run/kandev", "/workspace"} {
		must(t, os.MkdirAll(p.path(dir), 0o777))
	}
	return p
}

// unprivileged makes the container run as another user than root, who owns the volumes' directories.
func (p *pod) unprivileged() {
	if os.Geteuid() != 0 {
		return
	}
	p.uid = nobody
	must(p.t, os.Chmod(filepath.Dir(p.root), 0o755))
	for _, dir := range []string{"/opt/kandev", "/run/kandev", "/workspace"} {
		must(p.t, os.Chown(p.path(dir), nobody, nobody))
	}
}

func (p *pod) path(name string) string { return p.root + name }

// put writes one file as the container's user.
func (p *pod) put(name, content string, mode os.FileMode) {
	p.t.Helper()
	must(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	tmp := p.path(name) + ".tmp"
	must(p.t, os.WriteFile(tmp, []byte(content), mode))
	must(p.t, os.Chmod(tmp, mode))
	must(p.t, os.Chown(tmp, p.uid, -1))
	must(p.t, os.Rename(tmp, p.path(name)))
}

// upload writes every file of a session but the marker.
func (p *pod) upload(vars ...EnvVar) {
	p.t.Helper()
	env, err := EncodeEnv(vars)
	must(p.t, err)
	p.put(AgentPath, p.record("agent", p.agent), 0o755)
	p.put(RuntimeEnvPath, "AGENTCTL_PORT=8765\n", 0o644)
	p.put(PreparePath, p.record("prepare", [2]string{}), 0o644)
	p.put(AuthEnvPath, string(env), 0o600)
}

// record is a program that leaves its environment, directory, umask and process id in the workspace.
func (p *pod) record(name string, around [2]string) string {
	return fmt.Sprintf(`#!/bin/sh
%s
here=$(pwd) mask=$(umask) to=%s/workspace/%s
cat /proc/$$/environ >"$to.tmp"
printf 'here=%%s\0mask=%%s\0pid=%%s\0' "$here" "$mask" "$$" >>"$to.tmp"
mv "$to.tmp" "$to"
%s
`, around[0], p.root, name, around[1])
}

// mark writes the marker over the files as they now are.
func (p *pod) mark() {
	p.t.Helper()
	var m Marker
	for _, name := range p.files {
		content, err := os.ReadFile(p.path(name))
		must(p.t, err)
		m.Files = append(m.Files, File{Path: name, Size: int64(len(content)), SHA256: sha256.Sum256(content)})
	}
	text, err := m.Encode()
	must(p.t, err)
	p.put(MarkerPath, string(text), 0o600)
}

// wake runs WakeScript in the container.
func (p *pod) wake() {
	p.t.Helper()
	c := p.exec(strings.ReplaceAll(WakeScript, "/opt/kandev", p.path("/opt/kandev")))
	if status := c.wait(); status != 0 {
		p.t.Fatalf("wake ended with %d: %s", status, c.said.String())
	}
}

// container is one run of a process in the pod.
type container struct {
	*exec.Cmd
	p     *pod
	said  bytes.Buffer
	ended chan struct{}
}

// start starts the main container.
func (p *pod) start() *container {
	p.t.Helper()
	return p.run(p.in(Command(Options{Root: p.root})[1:]...), nil)
}

// prepare runs the preparation command.
func (p *pod) prepare() *container {
	p.t.Helper()
	return p.run(p.in(PrepareCommand(Options{Root: p.root})[1:]...), nil)
}

// exec runs a shell command in the pod.
func (p *pod) exec(command string) *container {
	p.t.Helper()
	return p.run(p.in("-c", command), nil)
}

// in gives arguments to the pod's shell.
func (p *pod) in(args ...string) []string { return slices.Concat(p.shell, args) }

func (p *pod) run(argv []string, attr *syscall.SysProcAttr) *container {
	p.t.Helper()
	c := &container{Cmd: exec.Command(argv[0], argv[1:]...), p: p, ended: make(chan struct{})}
	c.Env, c.Dir = p.env, "/"
	c.Stderr = &c.said
	c.WaitDelay = time.Second
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true // so that what it leaves behind can be ended with it
	c.SysProcAttr = attr
	if p.uid != os.Geteuid() {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	must(p.t, c.Start())
	go func() {
		_ = c.Wait() // the status is read from ProcessState
		close(c.ended)
	}()
	p.t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it has mostly ended by itself
		<-c.ended
	})
	return c
}

// wait waits for the end and returns the exit status.
func (c *container) wait() int {
	c.p.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(deadline):
		c.p.t.Fatalf("still running; it said %q", c.said.String())
	}
	return c.ProcessState.ExitCode()
}

// waiting waits until the script has the FIFO open.
func (c *container) waiting() {
	c.p.t.Helper()
	c.until("the script has the FIFO open", func() bool {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.Process.Pid))
		for _, fd := range fds {
			if to, _ := os.Readlink(fd); to == c.p.path(WakePath) {
				return true
			}
		}
		return false
	})
}

func (c *container) until(what string, condition func() bool) {
	c.p.t.Helper()
	for end := time.Now().Add(deadline); !condition(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-c.ended:
			if condition() {
				return
			}
			c.p.t.Fatalf("ended with %d before %s: %s", c.ProcessState.ExitCode(), what, c.said.String())
		default:
		}
		if time.Now().After(end) {
			c.p.t.Fatalf("waited too long until %s", what)
		}
	}
}

// recorded waits for what a program left, takes it away and returns it, name by name.
func (c *container) recorded(name string) map[string]string {
	c.p.t.Helper()
	file := c.p.path("/workspace/" + name)
	var text []byte
	c.until(name+" has started", func() bool {
		var err error
		text, err = os.ReadFile(file)
		return err == nil
	})
	must(c.p.t, os.Remove(file))
	got := map[string]string{}
	for _, entry := range strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		k, v, ok := strings.Cut(entry, "=")
		if !ok {
			c.p.t.Fatalf("%s was given the environment entry %q", name, entry)
		}
		got[k] = v
	}
	return got
}

// noAgent fails the test when the agent was started.
func (p *pod) noAgent() {
	p.t.Helper()
	if _, err := os.Stat(p.path("/workspace/agent")); !errors.Is(err, os.ErrNotExist) {
		p.t.Errorf("the agent was started (%v)", err)
	}
}

// hasApplets reports whether the shell has the tools built in, as Debian's busybox has.
func (p *pod) hasApplets() bool { return p.shell[0] == "busybox" }

// onlyTools makes a PATH of these programs of the machine, and of busybox where the pod's shell is busybox.
func (p *pod) onlyTools(tools ...string) {
	p.t.Helper()
	dir := p.path("/bin")
	must(p.t, os.Mkdir(dir, 0o755))
	for _, tool := range tools {
		from := tool
		if p.shell[0] == "busybox" {
			from = "busybox"
		}
		target, err := exec.LookPath(from)
		must(p.t, err)
		must(p.t, os.Symlink(target, filepath.Join(dir, tool)))
	}
	p.env = []string{"PATH=" + dir}
	shell, err := exec.LookPath(p.shell[0])
	must(p.t, err)
	p.shell = append([]string{shell}, p.shell[1:]...)
}
