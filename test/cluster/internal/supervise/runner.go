package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	listenTimeout = 2 * time.Minute  // for a program to listen
	stopTimeout   = 10 * time.Second // for a program to end by itself
)

// Run serves requests from standard input until it ends. The programs that it started end with it. Its caller has
// locked the main goroutine to the main thread, with whose end the kernel ends them.
func Run(configFile string) error {
	c, err := ReadConfig(configFile)
	if err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	syscall.CloseOnExec(socketFD)
	if c.Network != "" {
		if err := enterNode(c); err != nil {
			return fmt.Errorf("making the node's namespaces: %w", err)
		}
		listener, err := net.FileListener(os.NewFile(socketFD, "socket"))
		if err != nil {
			return err
		}
		go forward(listener, c.Forward)
	}
	r := &runner{programs: map[string]*running{}}
	defer r.killAll() // for systems that do not do it by themselves
	return r.serve(os.Stdin, os.Stdout)
}

type runner struct {
	programs map[string]*running
	detached bool
}

// A running program; ended is closed when it is no more.
type running struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func (r *runner) serve(in io.Reader, out io.Writer) error {
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var req Request
		err := requests.Decode(&req)
		if r.detached {
			select {} // until the guard ends this process
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var reply Reply
		if err := r.do(req); err != nil {
			reply.Error = err.Error()
		}
		if err := replies.Encode(reply); err != nil {
			return err
		}
	}
}

func (r *runner) killAll() {
	for _, p := range r.programs {
		_ = p.cmd.Process.Kill()
	}
}

func (r *runner) do(req Request) error {
	p := r.programs[req.Name]
	switch {
	case req.Op == Detach:
		r.detached = true
		return nil
	case req.Op == Start:
		return r.start(req)
	case p == nil:
		return fmt.Errorf("%s was never started", req.Name)
	case req.Op == Pause:
		return p.pause()
	case req.Op == Signal:
		return p.cmd.Process.Signal(syscall.Signal(req.Signal))
	case req.Op == Stop:
		return p.stop()
	default:
		return fmt.Errorf("unknown operation %q", req.Op)
	}
}

func (r *runner) start(req Request) error {
	if p := r.programs[req.Name]; p != nil && !p.hasEnded() {
		return fmt.Errorf("%s runs already", req.Name)
	}
	log, err := os.OpenFile(req.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(req.Args[0], req.Args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), req.Env...)
	cmd.SysProcAttr = programAttr()
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &running{cmd: cmd, ended: make(chan struct{})}
	r.programs[req.Name] = p
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p.awaitListening(req.Listen)
}

func (p *running) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// awaitListening returns when address takes connections, or an error when the program ends before.
func (p *running) awaitListening(address string) error {
	network, address, _ := strings.Cut(address, " ")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(listenTimeout)
	for {
		select {
		case <-p.ended:
			return fmt.Errorf("ended with %s", p.cmd.ProcessState)
		case <-timeout:
			return fmt.Errorf("does not listen on %s after %s", address, listenTimeout)
		case <-tick.C:
			if conn, err := net.DialTimeout(network, address, time.Second); err == nil {
				return conn.Close()
			}
		}
	}
}

func (p *running) pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.cmd.Process.Pid)
}

func (p *running) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // a stopped process does not see the first
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTimeout):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return nil
}
