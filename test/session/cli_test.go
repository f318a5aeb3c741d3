package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// programFile builds the command once, beside the mock agent.
var programFile = sync.OnceValues(func() (string, error) {
	agent, err := agentFile()
	if err != nil {
		return "", err
	}
	at := filepath.Join(filepath.Dir(agent), "kandev-podlint")
	build := exec.Command("go", "build", "-o", at, "./cmd/kandev-podlint")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return at, nil
})

// terminal is somebody at a shell: a directory of files, who he is and where, and all that the commands have printed.
type terminal struct {
	*world
	dir        string
	kubeconfig string
	namespace  string
	printed    bytes.Buffer
}

// newTerminal has the template, the agent and the material of the other tests in files.
func (w *world) newTerminal() *terminal {
	w.t.Helper()
	agent, err := agentFile()
	if err != nil {
		w.t.Fatal(err)
	}
	s := &terminal{world: w, dir: w.t.TempDir(), kubeconfig: w.cluster.Kubeconfig(), namespace: namespace}
	if err := os.Symlink(agent, filepath.Join(s.dir, "agentctl")); err != nil {
		w.t.Fatal(err)
	}
	for name, text := range map[string]string{
		"template.yaml":   strings.ReplaceAll(template, "IMAGE", cluster.BusyboxImage),
		"profile.yaml":    "workspace: {mode: managed_pvc, size: 1Gi, storage_class: " + cluster.StorageClass + "}\n",
		"runtime.env":     "# no secret\nGREETING=hello world\n",
		"credentials.env": "API_KEY=" + canary + "\n",
		"netrc":           "password " + canary + "\n",
		"prepare.sh":      "[ -e /workspace/work ] || echo original > /workspace/work\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	return s
}

// materialFlags are the material's, as start and resume take them.
const materialFlags = "--agent agentctl --env-file runtime.env --auth-env-file credentials.env --file netrc=.netrc --prepare prepare.sh"

// command prepares a session command on the tests' cluster and inventory.
func (s *terminal) command(ctx context.Context, line string) *exec.Cmd {
	s.t.Helper()
	program, err := programFile()
	if err != nil {
		s.t.Fatal(err)
	}
	before, after, dashed := strings.Cut(line, " -- ")
	args := append([]string{"session"}, strings.Fields(before)...)
	args = append(args, "--inventory", s.file, "--kubeconfig", s.kubeconfig, "-n", s.namespace)
	if dashed {
		args = append(args, "--", "sh", "-c", after)
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.dir
	return c
}

// run runs a session command; what follows -- is for a shell in the container.
func (s *terminal) run(stdin, line string) (out string, code int) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	c := s.command(s.t.Context(), line)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &stdout, &stderr
	begin := time.Now()
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = exit.ExitCode(), nil
	}
	if err != nil {
		s.t.Fatalf("session %s: %v", line, err)
	}
	s.t.Logf("session %s\n%s%s(%d, %v)", line, &stdout, &stderr, code, time.Since(begin))
	s.printed.WriteString(stdout.String() + stderr.String())
	return stdout.String(), code
}

// must runs a session command that has to go well.
func (s *terminal) must(stdin, line string) string {
	s.t.Helper()
	out, code := s.run(stdin, line)
	if code != 0 {
		s.t.Fatalf("session %s: exit status %d", line, code)
	}
	return out
}

// want runs a session command that has to end with a status.
func (s *terminal) want(code int, line string) string {
	s.t.Helper()
	out, got := s.run("", line)
	if got != code {
		s.t.Errorf("session %s: exit status %d, want %d", line, got, code)
	}
	return out
}

// startForward starts a forward, and returns it with its address here.
func (s *terminal) startForward(ctx context.Context, line string) (c *exec.Cmd, address string) {
	s.t.Helper()
	c = s.command(ctx, line)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.Stderr = &s.printed
	stdout, err := c.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		s.t.Fatalf("session %s said nothing: %v", line, errors.Join(err, c.Wait()))
	}
	var port int
	if _, err := fmt.Sscanf(said, "Forwarding from %s -> %d", &address, &port); err != nil {
		s.t.Fatalf("session %s: %q: %v", line, said, err)
	}
	return c, address
}

// forward starts a forward, asks for a path over it, and interrupts it.
func (s *terminal) forward(line, path string) string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	c, address := s.startForward(ctx, line)
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		s.t.Fatal(err)
	}
	content, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		s.t.Errorf("session %s, interrupted: %v", line, err)
	}
	return string(content)
}

// shown is what session show --format json says, as far as the tests look at it.
type shown struct {
	InstanceID string `json:"instanceId"`
	State      inventory.State
	Owner      string
	Pod, Claim struct{ Name, UID string }
	Live       struct{ Phase string }
}

func (s *terminal) shown(id string) (v shown) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.must("", "show "+id+" --format json")), &v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// podIsGone is what a forward says at the end of its Pod.
func podIsGone(name string) string {
	return "kandev-podlint: Pod " + name + " is gone\n" +
		"kandev-podlint: session resume with --agent goes on with a start, or replaces a Pod; session delete ends the session\n"
}

// TestCommandLine leads a session through its life, each step by a process of its own.
func TestCommandLine(t *testing.T) {
	w := newWorld(t)
	s := w.newTerminal()
	id := strings.TrimSpace(s.must("", "start template.yaml --profile profile.yaml -q "+materialFlags))

	before := s.shown(id)
	if before.InstanceID != id || before.State != inventory.Running || before.Owner != "" || before.Live.Phase != "Running" || before.Pod.Name != compose.PodName(id) {
		t.Errorf("after the start: %+v", before)
	}
	if out := s.must("", "list"); !strings.Contains(out, id+"   running   "+before.Pod.Name) {
		t.Errorf("the list does not have it:\n%s", out)
	}
	if out := s.must("", "list -q"); out != id+"\n" {
		t.Errorf("the list of IDs is %q", out)
	}
	if out := s.must("", "exec "+id+" -- cat /workspace/work; stat -c %a /run/kandev/home/.netrc"); out != "original\n600\n" {
		t.Errorf("the Pod holds %q", out)
	}
	s.must("edited\n", "exec "+id+" -i -- cat > /workspace/work; echo done")
	s.want(7, "exec "+id+" -- exit 7")
	for _, line := range []string{"forward " + id, "forward " + id + " 0:8765"} {
		if out := s.forward(line, "/health"); out != `{"status":"ok"}`+"\n" {
			t.Errorf("%s: /health says %q", line, out)
		}
	}
	s.must("", "logs "+id)

	s.must("", "stop "+id)
	if got := s.shown(id); got.State != inventory.Preserved || got.Pod != before.Pod {
		t.Errorf("after the stop: %+v", got)
	}
	s.must("", "resume "+id+" -q")
	s.must("", "stop "+id)
	forward, _ := s.startForward(t.Context(), "forward "+id)
	pods, _ := w.objects(id)
	w.deletePod(&pods[0])
	if _ = forward.Wait(); forward.ProcessState.ExitCode() != 3 || !strings.HasSuffix(s.printed.String(), podIsGone(before.Pod.Name)) {
		t.Errorf("a forward to a Pod that went ended with status %d\n%s", forward.ProcessState.ExitCode(), &s.printed)
	}
	s.want(1, "resume "+id) // without material nothing is replaced
	if out := s.must("", "resume "+id+" -q "+materialFlags); out != id+"\n" {
		t.Errorf("resume said %q", out)
	}
	after := s.shown(id)
	if after.State != inventory.Running || after.Pod.UID == before.Pod.UID || after.Claim != before.Claim {
		t.Errorf("after the replacement: %+v, before: %+v", after, before)
	}
	if out := s.must("", "exec "+id+" -- cat /workspace/work"); out != "edited\n" {
		t.Errorf("the workspace holds %q", out)
	}

	w.settle(func() bool { // what other tests leave is deleted, though not at once
		pods, claims := w.objects("")
		return len(pods) == 1 && len(claims) == 1
	})
	s.must("", "doctor")
	stray := w.composed("stray")
	pod := w.createPod(stray.Pod)
	if out := s.want(1, "doctor"); !strings.Contains(out, pod.Name+"   the inventory does not know it\n✗ 1 stray, and nothing was done about it\n") {
		t.Errorf("doctor said:\n%s", out)
	}
	w.untouched(pod)

	s.must("", "delete "+id)
	s.want(2, "delete "+id)
	s.want(2, "show "+id)
	w.nothing(w.executor("looker"), id)
	if strings.Contains(s.printed.String(), canary) {
		t.Error("a credential was printed")
	}
}

// TestCommandLineOfTheDead: a process that was killed leaves its session held, and only who says so takes it.
func TestCommandLineOfTheDead(t *testing.T) {
	w := newWorld(t)
	s := w.newTerminal()
	const id = "held"
	session := w.launch(w.executor("cli-1-dead"), id, compose.EmptyDir)
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	s.want(2, "stop "+id)
	s.must("", "stop "+id+" --take-over")
	s.must("", "resume "+id)
	if got := s.shown(id); got.Owner != "" {
		t.Errorf("it is held by %q", got.Owner)
	}
	s.must("", "delete "+id)
	w.nothing(w.executor("looker"), id)
}

// TestCommandLineInterrupted: Ctrl-C leaves a start recorded, and given up.
func TestCommandLineInterrupted(t *testing.T) {
	w := newWorld(t)
	s := w.newTerminal()
	text := strings.ReplaceAll(template, "IMAGE", cluster.BusyboxImage)
	text = strings.Replace(text, "    containers:", "    nodeSelector: {no-node: has-this}\n    containers:", 1)
	if err := os.WriteFile(filepath.Join(s.dir, "nowhere.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const id = "interrupted"
	c := s.command(t.Context(), "start nowhere.yaml --workspace-mode empty_dir -v --instance-id "+id+" "+materialFlags)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "waiting for Pod") {
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != 130 {
		t.Errorf("%v\n%s", err, &said)
	}
	if want := "session " + id + " stays recorded, scheduling"; !strings.Contains(said.String(), want) {
		t.Errorf("it did not say %q:\n%s", want, &said)
	}
	store, err := sqlite.Open(t.Context(), w.file)
	if err != nil {
		t.Fatal(err)
	}
	row, err := store.Get(t.Context(), id)
	if err := errors.Join(err, store.Close()); err != nil || row.Holder.Owner != "" {
		t.Errorf("%v, held by %v", err, row.Holder)
	}
	s.must("", "delete "+id)
	w.nothing(w.executor("looker"), id)
}
