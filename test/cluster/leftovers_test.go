package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// holderVariable makes the test binary a holder: a process that has a cluster and does not end it.
const holderVariable = "KANDEV_CLUSTER_TEST_HOLDER"

func TestMain(m *testing.M) {
	if ending := os.Getenv(holderVariable); ending != "" {
		if err := hold(context.Background(), ending); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold starts a cluster, with a node and a Pod on it for a holder whose ending says so, and says where it is.
func hold(ctx context.Context, ending string) error {
	ending, node := strings.CutPrefix(ending, "node ")
	c, err := New(ctx, Options{Node: node})
	if err != nil {
		return err
	}
	if node {
		if err := c.holdPod(ctx); err != nil {
			return err
		}
	}
	if ending == "detach" {
		if err := c.Detach(); err != nil {
			return err
		}
	}
	fmt.Println(c.dir, c.supervisor.guard.Process.Pid)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until the test lets it end, or ends it
		return err
	}
	if ending == "panic" { // which is also how a test ends that takes too long
		panic("not recovered")
	}
	return nil
}

func (c *Cluster) holdPod(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	if _, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "held"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Image: BusyboxImage, Command: []string{"sleep", "1000000"}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, "held", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
}

// A holder, and what was there of its cluster.
type held struct {
	cmd        *exec.Cmd
	stdin      io.WriteCloser
	dir        string
	guard      int
	processes  []process
	namespaces map[string]bool
}

func TestNothingIsLeft(t *testing.T) {
	tests := []struct {
		ending string
		end    func(*held) error
	}{
		{"node kill", func(h *held) error { return h.cmd.Process.Kill() }},
		{"node guard", func(h *held) error { return syscall.Kill(h.guard, syscall.SIGKILL) }},
		{"kill", func(h *held) error { return h.cmd.Process.Kill() }},
		{"guard", func(h *held) error { return syscall.Kill(h.guard, syscall.SIGKILL) }},
		{"Ctrl-C", func(h *held) error { return syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT) }},
		{"panic", func(h *held) error { return h.stdin.Close() }},
		{"exit", func(h *held) error { return h.stdin.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.ending, func(t *testing.T) {
			if strings.HasPrefix(tt.ending, "node ") && os.Geteuid() != 0 {
				t.Skip("a node needs root on Linux")
			}
			h := startHolder(t, tt.ending)
			if err := tt.end(h); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(tt.ending, "guard") {
				h.await(t, h.leftovers)
				return
			}
			// What the kernel does not remove, the next cluster does.
			h.await(t, h.running)
			if _, err := os.Stat(h.dir); err != nil {
				t.Fatalf("something other than the guard removed the directory: %v", err)
			}
			h.await(t, func(t *testing.T) []string {
				startNext(t, h.dir)
				return h.leftovers(t)
			})
		})
	}
}

func TestDetach(t *testing.T) {
	h := startHolder(t, "detach")
	if err := errors.Join(h.stdin.Close(), h.cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	kubectl, err := Kubectl(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	get := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", filepath.Join(h.dir, "kubeconfig"),
		"get", "namespace", "default", "--output", "name")
	if out, err := get.CombinedOutput(); err != nil || string(out) != "namespace/default\n" {
		t.Errorf("kubectl: %v, %q", err, out)
	}
	// Not EndDetached, which would end those of others.
	if err := endDetached(t.Context(), h.dir); err != nil {
		t.Error(err)
	}
	if left := h.leftovers(t); len(left) > 0 {
		t.Errorf("left are\n%s", strings.Join(left, "\n"))
	}
}

// startHolder returns when the holder has its cluster.
func startHolder(t *testing.T, ending string) *held {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &held{cmd: exec.Command(executable), namespaces: map[string]bool{}}
	h.cmd.Env = append(os.Environ(), holderVariable+"="+ending)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr strings.Builder
	h.cmd.Stderr = &stderr
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	if _, err := fmt.Fscan(stdout, &h.dir, &h.guard); err != nil {
		t.Fatal(err, stderr.String())
	}
	h.processes = descendants(t, h.guard)
	if len(h.processes) < 4 { // guard, runner, etcd, API server
		t.Fatalf("the cluster consists of %+v", h.processes)
	}
	for _, p := range h.processes {
		for _, namespace := range p.namespaces() {
			h.namespaces[namespace] = true
		}
	}
	for _, own := range (process{pid: os.Getpid()}).namespaces() {
		delete(h.namespaces, own)
	}
	return h
}

// startNext does what a cluster does before it starts anything.
func startNext(t *testing.T, dir string) {
	t.Helper()
	next, lock, stale, err := makeDir(filepath.Dir(filepath.Dir(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(removeStale(stale), lock.Close(), os.RemoveAll(next)); err != nil {
		t.Fatal(err)
	}
}

// await fails the test when something is still left after a minute.
func (h *held) await(t *testing.T, look func(*testing.T) []string) {
	t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, closeTimeout, true,
		func(context.Context) (bool, error) {
			left = look(t)
			return len(left) == 0, nil
		})
	if err != nil {
		t.Fatalf("%v; left are\n%s", err, strings.Join(left, "\n"))
	}
}

// leftovers describes what is left of the cluster.
func (h *held) leftovers(t *testing.T) []string {
	t.Helper()
	left := h.running(t)
	if _, err := os.Lstat(h.dir); err == nil {
		left = append(left, "directory "+h.dir)
	}
	cgroups, err := exec.Command("find", "/sys/fs/cgroup", "-type", "d", "-name", supervise.Cgroup(h.dir)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for cgroup := range strings.FieldsSeq(string(cgroups)) {
		left = append(left, "cgroup "+cgroup)
	}
	return left
}

// running describes the processes that are left, and where there are others in their namespaces or with their
// mounts, those.
func (h *held) running(t *testing.T) []string {
	t.Helper()
	var left []string
	for _, p := range allProcesses(t) {
		if slices.Contains(h.processes, p) {
			left = append(left, fmt.Sprintf("process %+v", p))
		}
		for _, namespace := range p.namespaces() {
			if h.namespaces[namespace] {
				left = append(left, fmt.Sprintf("namespace %s of %+v", namespace, p))
			}
		}
		mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", p.pid))
		if err == nil && strings.Contains(string(mounts), h.dir) {
			left = append(left, fmt.Sprintf("mounts of %+v", p))
		}
	}
	return left
}

// A process is identified by its number and the time at which it started.
type process struct {
	pid, parent int
	started     string
}

// descendants returns the process itself and all that it and its descendants started.
func descendants(t *testing.T, pid int) []process {
	t.Helper()
	var found []process
	all := allProcesses(t)
	pids := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if (pids[p.pid] || pids[p.parent]) && !slices.Contains(found, p) {
				found, pids[p.pid], grown = append(found, p), true, true
			}
		}
	}
	return found
}

func allProcesses(t *testing.T) []process {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended meanwhile
		}
		// The second field is the name in brackets, which can hold anything.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		var p process
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(stat))+" "+fields[1], &p.pid, &p.parent); err != nil {
			t.Fatal(err)
		}
		p.started = fields[19]
		if fields[0] != "Z" { // which has ended, and whose parent has not yet asked
			all = append(all, p)
		}
	}
	return all
}

// namespaces returns those that a node has of its own; none for a process that has ended.
func (p process) namespaces() []string {
	var names []string
	for _, kind := range []string{"pid", "net", "mnt"} {
		if name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", p.pid, kind)); err == nil {
			names = append(names, name)
		}
	}
	return names
}
