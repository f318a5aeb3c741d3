// Package cli is the command line: it reads flags, calls the packages below and chooses the exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Streams are the standard streams of one run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// streamsOf are a command's streams.
func streamsOf(c *cobra.Command) Streams {
	return Streams{c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()}
}

// Run executes one command line and returns the exit status. It needs SIGPIPE ignored to end a run into a
// closed pipe in good order.
func Run(ctx context.Context, args []string, s Streams) int {
	if s.In != nil {
		s.In = &interruptible{ctx, s.In}
	}
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	switch {
	case errors.Is(err, syscall.EPIPE): // whoever read the output has seen enough
		return ExitClosedPipe
	case code == ExitUnusable && ctx.Err() != nil:
		complain(s.Err, "interrupted")
		return ExitInterrupted
	case err != nil && err.Error() != "":
		complain(s.Err, err.Error())
	}
	return code
}

// complain prints a text to standard error, every line of it marked as this program's.
func complain(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, "kandev-podlint: "+printable(strings.TrimRight(line, "\n"))) //nolint:errcheck // nothing is left to do about it
	}
}

// printable escapes what a terminal would obey: file names are anybody's.
func printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kandev-podlint",
		Short: "Lint, render, diff and probe the Pod templates of Kandev's Kubernetes executor, and run sessions of them",
		Long: `kandev-podlint checks Pod templates before they are saved, shows the exact Pod that Kandev composes
from one, compares what was requested with what a cluster admits, proves that a cluster can run it, and
runs sessions of it.

Exit status: 0 nothing found at or above --fail-on; 1 findings, a diff violation, a failed policy test or a
session that cannot run; 2 the invocation, configuration or input could not be used; 3 the cluster could not
be reached or answered with an error; 130 interrupted; 141 the output was closed.`,
		Version:       toolVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetVersionTemplate(versionLine())
	root.Flags().Bool("version", false, "print the version")
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newLint(), newRender(), newDiff(), newProbe(), newSession(), newRules(), newPolicy(), newVersion())
	return root
}

// terminal returns the width of a writer's terminal, and whether it is one.
func terminal(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return width, true
}
