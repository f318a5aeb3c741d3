package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// pty is a terminal, seen from the side of who sits at it.
type pty struct {
	t             *testing.T
	master, slave *os.File
	lines         chan string // of the screen, without what is not a line yet; closed at its end
	screen        strings.Builder
}

func newPTY(t *testing.T) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	p := &pty{t: t, master: master, slave: slave, lines: make(chan string)}
	go func() {
		defer close(p.lines)
		for screen := bufio.NewReader(master); ; {
			line, err := screen.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimRight(line, "\r\n")
		}
	}()
	return p
}

func (p *pty) resize(width, height uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pty) settings() unix.Termios {
	p.t.Helper()
	settings, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *settings
}

// types types something, and waits for a line of the screen.
func (p *pty) types(text, want string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
	for timeout := time.After(time.Minute); ; {
		select {
		case line, ok := <-p.lines:
			p.screen.WriteString(line + "\n")
			if line == want {
				return
			}
			if !ok {
				p.t.Fatalf("the screen ended without %q:\n%s", want, &p.screen)
			}
		case <-timeout:
			p.t.Fatalf("the screen does not show %q:\n%s", want, &p.screen)
		}
	}
}

// TestCommandLineTerminal: exec -it is a shell at a terminal, with its size, its keys and its end.
func TestCommandLineTerminal(t *testing.T) {
	w := newWorld(t)
	s := w.newTerminal()
	const id = "typed-at"
	e := w.executor("owner-" + id)
	session := w.launch(e, id, compose.EmptyDir)
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	p := newPTY(t)
	p.resize(100, 40)
	before := p.settings()
	c := s.command(t.Context(), "exec "+id+" -it -- PS1= exec sh")
	c.Stdin, c.Stdout, c.Stderr = p.slave, p.slave, p.slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.types("stty size\n", "40 100")
	p.types("test -t 0 && test -t 1 && test -t 2 && echo all of'' them\n", "all of them")
	p.resize(90, 30)
	p.types("until [ \"$(stty size)\" = '30 90' ]; do sleep 0.1; done; echo re''sized\n", "resized")
	p.types("echo now''; sleep 1000\n", "now")
	p.types("\x03", "^C")
	p.types("echo status=$?\n", "status=130")
	p.types("echo by''e; exit 7\n", "bye")
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v\n%s", err, &p.screen)
	}
	if after := p.settings(); after != before {
		t.Errorf("the terminal was left with other settings: %+v, before %+v", after, before)
	}
	if out := s.must("no terminal\n", "exec "+id+" -it -- tty; cat"); out != "not a tty\nno terminal\n" {
		t.Errorf("without a terminal: %q", out)
	}
	s.want(2, "exec "+id+" -t -- true")
	if err := e.Cleanup(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.nothing(e, id)
}
