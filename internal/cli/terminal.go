package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

// useTerminal has a command run on the terminal that is its standard input: every key goes to the command, Ctrl-C too. Restore
// gives the terminal back. Where it is no terminal the command runs without one, as with kubectl.
func useTerminal(run *executor.Run, stderr io.Writer) (restore func(), err error) {
	if run.Stdin == nil {
		return nil, errors.New("--tty needs --stdin: a terminal is typed at")
	}
	in, ok := terminalOf(run.Stdin)
	if !ok {
		complain(stderr, "standard input is no terminal: the command runs without one")
		return func() {}, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("take the terminal: %w", err)
	}
	sizes, stop := sizesOf(in)
	run.Terminal, run.Stderr = sizes, nil
	return func() {
		stop()
		_ = term.Restore(int(in.Fd()), before)
	}, nil
}

// terminalOf returns the terminal that a command reads, if it is one.
func terminalOf(r io.Reader) (*os.File, bool) {
	if i, ok := r.(*interruptible); ok {
		r = i.r
	}
	f, ok := r.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// sizesOf tells a terminal's size, and each that it changes to.
func sizesOf(f *os.File) (sizes <-chan executor.TerminalSize, stop func()) {
	out, changed, done := make(chan executor.TerminalSize), make(chan os.Signal, 1), make(chan struct{})
	notifyResize(changed)
	go func() {
		for {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return
			}
			select {
			case out <- executor.TerminalSize{Width: uint16(width), Height: uint16(height)}: //nolint:gosec // the kernel holds 16 bits of each
			case <-done:
				return
			}
			select {
			case <-changed:
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(changed)
		close(done)
	}
}
