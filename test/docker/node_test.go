package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nodeAddress is where Pods reach the node.
const nodeAddress = "10.254.0.1"

// serve runs a command on the node until the test ends. The command ends with its standard input.
func (w *world) serve(name string, args ...string) {
	w.t.Helper()
	c := w.cluster.NodeCommand(w.t.Context(), name, args...)
	input, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = input.Close()
		_ = c.Wait()
	})
}

// dir makes a directory on the node, whose /tmp is its own and ends with it.
func (w *world) dir() string {
	w.t.Helper()
	return w.on("mktemp -d /tmp/served-XXXXXX")
}

// install copies a program to the node and returns its path there.
func (w *world) install(program string) string {
	w.t.Helper()
	at := w.dir() + "/" + filepath.Base(program)
	content, err := os.Open(program)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	c := w.cluster.NodeCommand(w.t.Context(), "sh", "-euc", `cat >"$1"; chmod +x "$1"`, "sh", at)
	c.Stdin = content
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return at
}

// serveRepository serves a repository with one commit, and returns its URL.
func (w *world) serveRepository() string {
	w.t.Helper()
	dir := w.dir()
	w.on("cd " + dir + `
git init -q -b main project
echo original >project/README
git -C project add README
git -C project -c user.name=test -c user.email=test@example.com commit -q -m first`)
	const script = `git daemon --reuseaddr --export-all --listen="$1" --base-path="$2" & read -r _; kill $!`
	w.serve("sh", "-c", script, "sh", nodeAddress, dir)
	return "git://" + nodeAddress + "/project"
}

// process is a process of the host.
type process struct {
	pid     int
	command string
	cgroups map[string]string // by controllers, as /proc/PID/cgroup has them
}

// processes lists the processes of the host that belong to a Pod, whatever started them.
func (w *world) processes(uid string) []process {
	w.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		w.t.Fatal(err)
	}
	var out []process
	for _, dir := range dirs {
		groups, err := os.ReadFile(filepath.Join(dir, "cgroup"))
		if err != nil || !strings.Contains(string(groups), "pod"+uid) {
			continue // it has ended, or is none of the Pod's
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		p := process{pid: pid, command: strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " ")), cgroups: map[string]string{}}
		for line := range strings.Lines(string(groups)) {
			if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 {
				p.cgroups[fields[1]] = fields[2]
			}
		}
		out = append(out, p)
	}
	return out
}

// process returns the one process of a Pod whose command begins so.
func (w *world) process(uid, command string) process {
	w.t.Helper()
	all := w.processes(uid)
	all = slices.DeleteFunc(all, func(p process) bool { return !strings.HasPrefix(p.command, command) })
	if len(all) != 1 {
		w.t.Fatalf("%d processes %q", len(all), command)
	}
	return all[0]
}

// cgroups is where the host's are.
const cgroups = "/sys/fs/cgroup"

// usage is what a cgroup is charged with.
type usage struct {
	memory int64         // bytes, now
	peak   int64         // bytes, at most
	cpu    time.Duration // since it is there
	pids   int64         // now
}

// charged returns what the cgroups of a process are charged with, or of an ancestor: outer cuts a path to the ancestor's.
func (w *world) charged(p process, outer func(path string) string) usage {
	w.t.Helper()
	read := func(controller, file string) int64 {
		at := outer(p.cgroups[controller])
		return w.number(filepath.Join(cgroups, controller, at, file))
	}
	if cgroupVersion() == "2" {
		return usage{
			memory: read("", "memory.current"), peak: read("", "memory.peak"), pids: read("", "pids.current"),
			cpu: time.Duration(read("", "cpu.stat")) * time.Microsecond,
		}
	}
	return usage{
		memory: read("memory", "memory.usage_in_bytes"), peak: read("memory", "memory.max_usage_in_bytes"), pids: read("pids", "pids.current"),
		cpu: time.Duration(read("cpuacct", "cpuacct.usage")),
	}
}

// cgroupVersion is 2 where the host has cgroups of that version alone.
func cgroupVersion() string {
	if _, err := os.Stat(cgroups + "/cgroup.controllers"); err == nil {
		return "2"
	}
	return "1"
}

// number reads the first number in a file.
func (w *world) number(file string) int64 {
	w.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	first := regexp.MustCompile(`\d+`).Find(text)
	n, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		w.t.Fatalf("%s: %v", file, err)
	}
	return n
}

// streamSum is the digest of what transfer serves.
func streamSum(size int64) string {
	h := sha256.New()
	_, _ = io.CopyN(h, mathrand.NewChaCha8([32]byte{}), size)
	return hex.EncodeToString(h.Sum(nil))
}
