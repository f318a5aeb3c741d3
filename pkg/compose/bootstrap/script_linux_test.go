package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStart is the whole story in a hostile but legal environment: another user, a umask, a changed IFS.
func TestStart(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.unprivileged()
		p.env = append(p.env, "IFS=/0aeiou", "ENV=/dev/full", "CDPATH=/", "path=theirs", "LC_ALL=C.UTF-8", "PS4=$(exit 9)")
		must(t, os.Chmod(p.root, 0o555)) // as a read-only root file system
		p.upload(EnvVar{"TOKEN", "s3cret"})
		p.mark()
		p.shell = append([]string{"sh", "-c", `umask 077; exec "$@"`, "sh"}, p.shell...)

		c := p.start()
		got := c.recorded("agent")
		if status := c.wait(); status != 0 || c.said.Len() > 0 {
			t.Fatalf("status %d: %s", status, c.said.String())
		}
		want := map[string]string{
			"AGENTCTL_PORT": "8765", "TOKEN": "s3cret", "HOME": p.path(HomePath), "path": "theirs", "CDPATH": "/",
			"here": p.path("/workspace"), "mask": "0077", "pid": strconv.Itoa(c.Process.Pid),
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s is %q, want %q", k, got[k], v)
			}
		}
		for k := range got {
			if strings.HasPrefix(k, "_k_") {
				t.Errorf("the script's variable %s reached the agent", k)
			}
		}
		home, err := os.Stat(p.path(HomePath))
		must(t, err)
		if home.Mode().Perm() != 0o700 {
			t.Errorf("HOME has mode %v", home.Mode())
		}
	})
}

// TestMarkerLate has no sleep in its PATH, so only the FIFO can end the wait.
func TestMarkerLate(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.unprivileged()
		p.onlyTools(append(Tools(), "mkfifo")...)
		c := p.start()
		c.waiting()
		p.wake() // without a marker: nothing happens
		p.upload()
		p.noAgent()
		p.mark()
		woken := time.Now()
		p.wake()
		c.recorded("agent")
		t.Logf("the agent ran %v after the wake-up", time.Since(woken))
		if status := c.wait(); status != 0 {
			t.Fatalf("status %d: %s", status, c.said.String())
		}
		if _, err := os.Lstat(p.path(WakePath)); !os.IsNotExist(err) {
			t.Errorf("the FIFO is left: %v", err)
		}
	})
}

// TestNoLostWake uploads and wakes at a different instant of the script's start each time.
func TestNoLostWake(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.upload()
		p.onlyTools(append(Tools(), "mkfifo")...)
		for i := range 20 {
			must(t, os.RemoveAll(p.path(MarkerPath)))
			c := p.start()
			for end := time.Now().Add(time.Duration(i) * 500 * time.Microsecond); time.Now().Before(end); {
			}
			p.mark()
			p.wake()
			c.recorded("agent")
			c.wait()
		}
	})
}

// TestUploaderDies ends an uploader before its marker, and another between marker and wake-up.
func TestUploaderDies(t *testing.T) {
	eachShell(t, func(_ *testing.T, p *pod) {
		c := p.start()
		c.waiting()
		dying := p.exec("exec 1<>" + p.path(WakePath) + "; echo; kill -9 $$")
		dying.wait()
		p.upload()
		p.mark()
		p.noAgent()
		p.wake() // by its successor
		c.recorded("agent")
	})
}

// TestVerified does not hash an agent that its uploader has just verified, but all else, and on the next start the agent too.
func TestVerified(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		waiting := func() *container {
			c := p.start()
			c.waiting()
			p.upload()
			p.mark()
			return c
		}
		verified := func() { p.exec("echo " + WakeVerified + " 1<>" + p.path(WakePath)).wait() }
		unseen := p.record("agent", [2]string{"# another one", ""})

		c := waiting()
		p.put(AgentPath, unseen, 0o755)
		verified()
		c.recorded("agent")
		if status := c.wait(); status != 0 {
			t.Errorf("status %d: %s", status, c.said.String())
		}
		if status := p.start().wait(); status != ExitSize {
			t.Errorf("status %d on the next start, want %d", status, ExitSize)
		}

		must(t, os.Remove(p.path(MarkerPath)))
		c = waiting()
		p.put(AuthEnvPath, "TOKEN=another\n", 0o600)
		verified()
		if status := c.wait(); status != ExitSize && status != ExitDigest {
			t.Errorf("status %d with another environment", status)
		}

		must(t, os.Remove(p.path(MarkerPath)))
		c = p.start()
		c.waiting()
		verified() // before there is a marker, so of another upload
		p.upload()
		p.mark()
		p.put(AgentPath, unseen, 0o755)
		p.wake()
		if status := c.wait(); status != ExitSize {
			t.Errorf("status %d after another wake-up, want %d", status, ExitSize)
		}
	})
}

func TestWakeWithNobodyWaiting(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.wake()
		must(t, syscall.Mkfifo(p.path(WakePath), 0o600)) // stale
		p.wake()
		c := p.start() // a stale FIFO is replaced
		c.until("the FIFO is new", func() bool { return c.fifoOpen() })
		p.upload()
		p.mark()
		p.wake()
		c.recorded("agent")
	})
}

// fifoOpen reports whether the script holds the FIFO that now has the name.
func (c *container) fifoOpen() bool {
	now, err := os.Stat(c.p.path(WakePath))
	if err != nil {
		return false
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.Process.Pid))
	return slices.ContainsFunc(fds, func(fd string) bool {
		held, err := os.Stat(fd)
		return err == nil && os.SameFile(now, held)
	})
}

func TestNoFIFO(t *testing.T) {
	eachShell(t, func(_ *testing.T, p *pod) {
		if p.hasApplets() {
			return
		}
		p.onlyTools(append(Tools(), "sleep")...)
		c := p.start()
		c.until("it polls", func() bool {
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
			return err != nil || len(children) > 0
		})
		p.upload()
		p.mark()
		c.recorded("agent")
	})
}

func TestRestart(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.upload()
		p.put(HomePath+"/.config/tool.json", "{}", 0o600)
		p.mark()
		for range 3 {
			c := p.start()
			c.recorded("agent")
			if status := c.wait(); status != 0 {
				t.Fatalf("status %d: %s", status, c.said.String())
			}
			p.put(HomePath+"/.config/tool.json", "rewritten by the agent", 0o600)
			if _, err := os.Lstat(p.path(TokenPath)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the token of the agent before is there: %v", err)
			}
			p.put(TokenPath, "of this agent", 0o600)
		}
		p.put(AgentPath, "tampered", 0o755)
		if status := p.start().wait(); status != ExitSize {
			t.Errorf("status %d after the agent was changed, want %d", status, ExitSize)
		}
		p.noAgent()
	})
}

// TestRefusals lists everything that keeps the agent from starting.
func TestRefusals(t *testing.T) {
	const secret = "canary-value"
	cases := []struct {
		name    string
		prepare func(p *pod) // after the upload, before the start
		status  int
		says    string
	}{
		{"changed file", func(p *pod) { p.put(AuthEnvPath, "TOKEN="+strings.ToUpper(secret)+"\n", 0o600) }, ExitDigest, AuthEnvPath + " differs"},
		{"short file", func(p *pod) { p.put(AuthEnvPath, "TOKEN=canary\n", 0o600) }, ExitSize, AuthEnvPath},
		{"missing file", func(p *pod) { must(p.t, os.Remove(p.path(PreparePath))) }, ExitMissing, PreparePath},
		{"directory for a file", func(p *pod) { p.replace(PreparePath, "dir") }, ExitMissing, PreparePath},
		{"unreadable file", func(p *pod) { must(p.t, os.Chmod(p.path(PreparePath), 0)) }, ExitMissing, PreparePath},
		{"symlink", func(p *pod) { p.replace(PreparePath, p.path(AgentPath)) }, ExitSymlink, PreparePath + " is a symbolic link"},
		{"symlinked ancestor", func(p *pod) { p.link("/run/kandev") }, ExitSymlink, "/run/kandev is a symbolic link"},
		{"symlinked top", func(p *pod) { p.link("/opt") }, ExitSymlink, "/opt is a symbolic link"},
		{"symlinked marker", func(p *pod) { p.replace(MarkerPath, "/nonexistent") }, ExitSymlink, MarkerPath},
		{"symlinked home", func(p *pod) { must(p.t, os.Symlink("/tmp", p.path(HomePath))) }, ExitSymlink, HomePath},
		{"marker is a directory", func(p *pod) { p.replace(MarkerPath, "dir") }, ExitMissing, MarkerPath},
		{"path elsewhere", func(p *pod) { p.editMarker(PreparePath, "/etc/passwd") }, ExitPath, "/etc/passwd is outside"},
		{"path in the workspace", func(p *pod) { p.editMarker(PreparePath, "/workspace/x") }, ExitPath, "/workspace/x"},
		{"path with dots", func(p *pod) { p.editMarker(PreparePath, "/opt/kandev/../prepare.sh") }, ExitPath, "lists /opt/kandev/.."},
		{"path in home", func(p *pod) { p.editMarker(PreparePath, HomePath+"/x") }, ExitPath, HomePath},
		{"the volume itself", func(p *pod) { p.editMarker(PreparePath, "/opt/kandev") }, ExitPath, "/opt/kandev"},
		{"empty marker", func(p *pod) { p.put(MarkerPath, "", 0o600) }, ExitMarker, "start marker"},
		{"other version", func(p *pod) { p.editMarker("kandev-start 1", "kandev-start 2") }, ExitMarker, "start marker"},
		{"marker cut off", func(p *pod) { p.editMarker("end\n", "") }, ExitMarker, "start marker"},
		{"marker cut in its last line", func(p *pod) { p.editMarker("end\n", "end") }, ExitMarker, "start marker"},
		{"marker goes on", func(p *pod) { p.editMarker("end\n", "end\nmore\n") }, ExitMarker, "start marker"},
		{"marker goes on without newline", func(p *pod) { p.editMarker("end\n", "end\nm") }, ExitMarker, "start marker"},
		{"marker's line too short", func(p *pod) { p.editMarker(" "+PreparePath, "") }, ExitMarker, "start marker"},
		{"marker without a required file", func(p *pod) { p.editMarker(p.markerLine(AuthEnvPath), "") }, ExitMarker, "start marker"},
		{"environment without =", func(p *pod) { p.remark(AuthEnvPath, secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment name with a dash", func(p *pod) { p.remark(AuthEnvPath, "A-B="+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment name with a digit first", func(p *pod) { p.remark(AuthEnvPath, "1A="+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment name with a substitution", func(p *pod) { p.remark(AuthEnvPath, "A$(touch x)="+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment name of the script", func(p *pod) { p.remark(AuthEnvPath, "_k_root="+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment name empty", func(p *pod) { p.remark(AuthEnvPath, "="+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment continues nothing", func(p *pod) { p.remark(AuthEnvPath, "+"+secret+"\n") }, ExitEnv, AuthEnvPath},
		{"environment cut off", func(p *pod) { p.remark(RuntimeEnvPath, "A="+secret) }, ExitEnv, RuntimeEnvPath},
		{"agent not executable", func(p *pod) { must(p.t, os.Chmod(p.path(AgentPath), 0o644)) }, ExitNotExec, AgentPath},
		{"agent's interpreter missing", func(p *pod) { p.remark(AgentPath, "#!/nonexistent\n") }, ExitNoSuchAgent, "agentctl"},
		{"home is a file", func(p *pod) { p.put(HomePath, "", 0o600) }, ExitHome, HomePath},
		{"token is a directory", func(p *pod) { must(p.t, os.Mkdir(p.path(TokenPath), 0o755)) }, ExitVolume, TokenPath},
		{"no workspace", func(p *pod) { must(p.t, os.Remove(p.path("/workspace"))) }, ExitWorkspace, "/workspace"},
		{"read-only runtime volume", func(p *pod) { must(p.t, os.Chmod(p.path("/opt/kandev"), 0o555)) }, ExitVolume, "/opt/kandev"},
		{"read-only auth volume", func(p *pod) { must(p.t, os.Chmod(p.path("/run/kandev"), 0o555)) }, ExitVolume, "/run/kandev"},
		{"no runtime volume", func(p *pod) { must(p.t, os.RemoveAll(p.path("/opt/kandev"))) }, ExitVolume, "/opt/kandev"},
		{"no sha256sum", func(p *pod) {
			p.onlyTools(slices.DeleteFunc(Tools(), func(s string) bool { return s == "sha256sum" })...)
		}, ExitNoTool, "sha256sum"},
		{"no tool at all", func(p *pod) { p.onlyTools() }, ExitNoTool, "the image has no"},
		{"neither mkfifo nor sleep", func(p *pod) {
			must(p.t, os.Remove(p.path(MarkerPath)))
			p.onlyTools(Tools()...)
		}, ExitNoTool, "neither mkfifo nor sleep"},
	}
	eachShell(t, func(t *testing.T, whole *pod) {
		for _, tc := range cases {
			if tc.status == ExitNoTool && whole.hasApplets() {
				continue
			}
			t.Run(tc.name, func(t *testing.T) {
				p := newPod(t)
				p.shell = whole.shell
				p.unprivileged()
				p.upload(EnvVar{"TOKEN", secret})
				p.mark()
				tc.prepare(p)
				c := p.start()
				status, said := c.wait(), c.said.String()
				if status != tc.status || !strings.Contains(said, tc.says) {
					t.Errorf("status %d, want %d, and %q, want %q in it", status, tc.status, said, tc.says)
				}
				if status < ExitCannotExec && strings.Count(said, "kandev-bootstrap: ") != 1 {
					t.Errorf("not one message: %q", said)
				}
				if strings.Contains(strings.ToLower(said), secret) {
					t.Errorf("a value was printed: %q", said)
				}
				if tc.name != "no workspace" {
					p.noAgent()
				}
			})
		}
	})
}

// replace puts a directory ("dir") or a symbolic link in a file's place.
func (p *pod) replace(name, target string) {
	p.t.Helper()
	must(p.t, os.Remove(p.path(name)))
	if target == "dir" {
		must(p.t, os.Mkdir(p.path(name), 0o755))
		return
	}
	must(p.t, os.Symlink(target, p.path(name)))
}

// link moves a directory away and leaves a symbolic link to it.
func (p *pod) link(dir string) {
	p.t.Helper()
	must(p.t, os.Rename(p.path(dir), p.path(dir)+".real"))
	must(p.t, os.Symlink(p.path(dir)+".real", p.path(dir)))
}

// editMarker replaces text in the marker as no encoder would.
func (p *pod) editMarker(from, to string) {
	p.t.Helper()
	text, err := os.ReadFile(p.path(MarkerPath))
	must(p.t, err)
	if !strings.Contains(string(text), from) {
		p.t.Fatalf("no %q in the marker", from)
	}
	p.put(MarkerPath, strings.Replace(string(text), from, to, 1), 0o600)
}

func (p *pod) markerLine(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.path(MarkerPath))
	must(p.t, err)
	return regexp.MustCompile(`(?m)^.* ` + regexp.QuoteMeta(name) + "\n").FindString(string(text))
}

// remark replaces a file and the marker with it.
func (p *pod) remark(name, content string) {
	p.t.Helper()
	info, err := os.Stat(p.path(name))
	must(p.t, err)
	p.put(name, content, info.Mode().Perm())
	p.mark()
}

func TestSignals(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.agent = [2]string{"trap 'exit 7' TERM", "while :; do sleep 1 & wait $!; done"}
		waiting := p.start()
		waiting.waiting()
		must(t, waiting.Process.Signal(syscall.SIGTERM))
		if status := waiting.wait(); status != ExitSignal {
			t.Errorf("status %d after SIGTERM while waiting, want %d", status, ExitSignal)
		}
		p.upload()
		p.mark()
		running := p.start()
		running.recorded("agent")
		must(t, running.Process.Signal(syscall.SIGTERM))
		if status := running.wait(); status != 7 {
			t.Errorf("status %d after SIGTERM to the agent, want its own 7", status)
		}
	})
}

// TestProcessOne is TestSignals in a process namespace, where a signal without a handler is ignored.
func TestProcessOne(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes process namespaces")
	}
	eachShell(t, func(t *testing.T, p *pod) {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
			if signal.Ignored(sig) {
				continue // by nohup, say: no shell traps what was ignored when it started
			}
			argv := p.in(Command(Options{Root: p.root})[1:]...)
			c := p.run(argv, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID})
			c.waiting()
			must(t, c.Process.Signal(sig))
			if status := c.wait(); status != ExitSignal {
				t.Errorf("status %d after %v, want %d", status, sig, ExitSignal)
			}
		}
	})
}

func TestPrepare(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		p.unprivileged()
		p.upload(EnvVar{"TOKEN", "a\nb"})
		c := p.prepare()
		got := c.recorded("prepare")
		if status := c.wait(); status != 0 || c.said.Len() > 0 {
			t.Fatalf("status %d: %s", status, c.said.String())
		}
		if got["TOKEN"] != "a\nb" || got["HOME"] != p.path(HomePath) || got["here"] != p.path("/workspace") {
			t.Errorf("preparation ran with %q", got)
		}
		p.put(PreparePath, "#!/bin/sh\nexit 3\n", 0o755)
		if status := p.prepare().wait(); status != 3 {
			t.Errorf("status %d, want the script's own 3", status)
		}
		p.replace(PreparePath, p.path(AgentPath))
		if c := p.prepare(); c.wait() != ExitSymlink || !strings.HasPrefix(c.said.String(), "kandev-prepare: ") {
			t.Errorf("a linked script: %d %q", c.ProcessState.ExitCode(), c.said.String())
		}
		p.noAgent()
	})
}

// TestScriptText holds the script to what a Pod spec needs.
func TestScriptText(t *testing.T) {
	if len(script) > 4096 {
		t.Errorf("the script has %d bytes; it should be read in a Pod spec", len(script))
	}
	if i := strings.Index(script, "$("); i >= 0 {
		t.Errorf("the kubelet would expand %q", script[i:min(i+20, len(script))])
	}
	if strings.Contains(script, "$$") {
		t.Error("the kubelet turns $$ into $")
	}
	if bad := regexp.MustCompile(`[^\n[:print:]]|(?m: $)`).FindString(script); bad != "" {
		t.Errorf("%q keeps YAML from showing the script as lines", bad)
	}
	tools := regexp.MustCompile(`for _k_p in ([a-z0-9 ]+); do`).FindStringSubmatch(script)
	if len(tools) != 2 || !slices.Equal(strings.Fields(tools[1]), Tools()) {
		t.Errorf("the script looks for %v, Tools says %v", tools, Tools())
	}
	for _, name := range []string{AgentPath, RuntimeEnvPath, AuthEnvPath, HomePath} {
		if !strings.Contains(script, name) {
			t.Errorf("the script does not know %s", name)
		}
	}
	if line := regexp.MustCompile(`(?m)\b(read -r|for) [^_].*|^ *[a-zA-HJ-Z]\w*=.*`).FindString(script); line != "" {
		t.Errorf("%q sets a variable that may be one of the container's", line)
	}
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	if out, err := exec.Command("shellcheck", "--norc", "--severity=style", "bootstrap.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	wake := exec.Command("shellcheck", "--norc", "--shell=sh", "-")
	wake.Stdin = strings.NewReader(WakeScript + "\n")
	if out, err := wake.CombinedOutput(); err != nil {
		t.Errorf("WakeScript: %v\n%s", err, out)
	}
}
