package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// closeTimeout bounds the end of a cluster: the kernel takes some time to take a node apart.
const closeTimeout = 2 * time.Minute

// A supervisor is this side of the pipe to the processes that run a cluster.
type supervisor struct {
	guard  *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	runner int // its process ID

	mu       sync.Mutex
	requests *json.Encoder
	replies  *json.Decoder
}

// newSupervisor starts the guard, which holds lock as long as the cluster is there, and the runner, which holds
// socket.
func newSupervisor(executable string, config supervise.Config, lock, socket *os.File) (*supervisor, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	configFile := filepath.Join(config.Dir, "supervise.json")
	if err := os.WriteFile(configFile, text, 0o600); err != nil {
		return nil, err
	}
	s := &supervisor{guard: exec.Command(executable, "guard", configFile)}
	s.guard.Stderr = &s.stderr
	s.guard.ExtraFiles = []*os.File{lock, socket}
	// Out of reach of what is sent to the process group of a terminal or of a test.
	s.guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := s.guard.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := s.guard.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.guard.Start(); err != nil {
		return nil, err
	}
	s.stdin, s.requests, s.replies = stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)
	var hello supervise.Reply
	if err := s.replies.Decode(&hello); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.runner = hello.Runner
	return s, nil
}

// do sends one request and returns the error in its reply.
func (s *supervisor) do(req supervise.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.requests.Encode(req); err != nil {
		return fmt.Errorf("the cluster's runner has ended: %w", err)
	}
	var reply supervise.Reply
	if err := s.replies.Decode(&reply); err != nil {
		return fmt.Errorf("the cluster's runner has ended: %w", err)
	}
	if reply.Error != "" {
		return fmt.Errorf("%s %s: %s", req.Op, req.Name, reply.Error)
	}
	return nil
}

// hangUp makes the cluster end.
func (s *supervisor) hangUp() { _ = s.stdin.Close() }

// close ends the cluster and returns when nothing of it is left.
func (s *supervisor) close() error {
	s.hangUp()
	ended := make(chan error, 1)
	go func() { ended <- s.guard.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("the cluster's guard: %w\n%s", err, s.stderr.String())
		}
		return nil
	case <-time.After(closeTimeout):
		return fmt.Errorf("the cluster did not end within %s", closeTimeout)
	}
}

// A Process is one program of a cluster.
type Process struct {
	name   string
	args   []string
	env    []string
	listen string
	ready  func(context.Context) error // asks once; nil where to listen is enough
	c      *Cluster
}

// Start starts the process, which must not be running, and returns when it is ready.
func (p *Process) Start() error {
	err := p.c.supervisor.do(supervise.Request{
		Op: supervise.Start, Name: p.name, Args: p.args, Env: p.env, Log: p.Log(), Listen: p.listen,
	})
	if err == nil && p.ready != nil {
		err = p.awaitReady()
	}
	if err != nil {
		return fmt.Errorf("%w\nthe end of its log:\n%s", err, tail(p.Log()))
	}
	return nil
}

func (p *Process) awaitReady() error {
	var last error
	err := poll(context.Background(), func(ctx context.Context) (bool, error) {
		if last = p.ready(ctx); last == nil {
			return true, nil
		}
		return false, p.signal(0) // what has ended does not become ready
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w: %w", p.name, err, last)
	}
	return nil
}

// Stop asks the process to end, kills it if it has not ended after ten seconds, and returns when it is no more.
func (p *Process) Stop() error {
	return p.c.supervisor.do(supervise.Request{Op: supervise.Stop, Name: p.name})
}

// Restart is Stop and Start.
func (p *Process) Restart() error {
	if err := p.Stop(); err != nil {
		return err
	}
	return p.Start()
}

// Pause stops the process in the middle of what it does, with its connections open, and returns when nothing of it
// runs.
func (p *Process) Pause() error {
	return p.c.supervisor.do(supervise.Request{Op: supervise.Pause, Name: p.name})
}

// Resume lets a paused process go on.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	return p.c.supervisor.do(supervise.Request{Op: supervise.Signal, Name: p.name, Signal: int(s)})
}

// Log returns the path of the file with what the process wrote to its standard output and error.
func (p *Process) Log() string { return filepath.Join(p.c.dir, "logs", p.name+".log") }
