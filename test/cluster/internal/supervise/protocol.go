// Package supervise runs the processes of one cluster and leaves nothing of them behind.
//
// It is two processes. The runner starts and stops programs as it is told over a pipe, and ends when the pipe
// does: when the test that holds the other end is done, panics, times out or is killed. A node's runner is the
// first process of its own PID, mount and network namespaces, so the kernel ends every process, mount and
// interface of the node together with it. The guard is the runner's parent: it waits for that end, whatever its
// cause, and removes what lies outside of the namespaces, which is the cgroups and the directory.
package supervise

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Config is what both processes are started with, as a file that is their argument.
type Config struct {
	// Root is the directory below which everything lies that the processes read: a node sees it at the same
	// path as the host.
	Root string `json:"root"`
	// Dir is the cluster's own directory, below Root. It is removed at the end.
	Dir string `json:"dir"`
	// Network is the address of a node, with its prefix length. Without one there is no node, and no namespace.
	Network string `json:"network,omitempty"`
	// Forward is the address, inside the node, to which connections to the inherited socket go.
	Forward string `json:"forward,omitempty"`
}

// ReadConfig reads what was written with json.Marshal.
func ReadConfig(path string) (Config, error) {
	var c Config
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	err = json.Unmarshal(text, &c)
	return c, err
}

// Cgroup returns the name of the cgroup, in every hierarchy, of a node's Pods.
func Cgroup(dir string) string { return "kandev-cluster-" + filepath.Base(dir) }

// The inherited file descriptors.
const (
	lockFD   = 3 // locked as long as one of the two processes, or a program that inherited it, lives
	socketFD = 4 // the API server's port on the host
)

// Op is what a request asks of the runner.
type Op string

// The operations.
const (
	// Start runs Args as Name, with its output appended to Log, and waits until it listens on Listen.
	Start Op = "start"
	// Stop ends Name, by force if it does not end by itself within ten seconds, and waits for it.
	Stop Op = "stop"
	// Pause stops Name in the middle of what it does, and waits until none of its threads runs.
	Pause Op = "pause"
	// Signal sends the signal to Name.
	Signal Op = "signal"
	// Detach lets the cluster outlive the pipe, until the guard gets SIGTERM.
	Detach Op = "detach"
)

// Request is a line on the runner's standard input.
type Request struct {
	Op     Op       `json:"op"`
	Name   string   `json:"name,omitempty"`
	Args   []string `json:"args,omitempty"`
	Env    []string `json:"env,omitempty"` // beside the runner's own
	Log    string   `json:"log,omitempty"`
	Listen string   `json:"listen,omitempty"` // network and address, such as "tcp 127.0.0.1:2379"
	Signal int      `json:"signal,omitempty"`
}

// Reply is the answer to one request: a line on standard output. The guard puts one before all others.
type Reply struct {
	// Runner is the runner's process ID on the host, in the guard's line.
	Runner int    `json:"runner,omitempty"`
	Error  string `json:"error,omitempty"`
}
