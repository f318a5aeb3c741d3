// Package cli is the command line: it reads flags, calls the packages below and chooses the exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Streams are the standard streams of one run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, args []string, s Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil {
		fmt.Fprintln(s.Err, "kandev-podlint: interrupted") //nolint:errcheck // nothing is left to do about it
		return ExitInterrupted
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(s.Err, "kandev-podlint: "+strings.ReplaceAll(err.Error(), "\n", "\nkandev-podlint: ")) //nolint:errcheck // likewise
	}
	return exitCode(err)
}

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kandev-podlint",
		Short: "Lint, render and diff the Pod templates of Kandev's Kubernetes executor",
		Long: `kandev-podlint checks Pod templates before they are saved, shows the exact Pod that Kandev composes
from one, and compares what was requested with what a cluster admitted.

Exit status: 0 nothing found at or above --fail-on; 1 findings, or a diff violation; 2 the invocation,
configuration or input could not be used; 3 the cluster could not be reached or answered with an error.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return unusable(fmt.Errorf("%w\nsee %s --help", err, c.CommandPath()))
	})
	root.AddCommand(newLint(), newRender(), newDiff(), newRules(), newPolicy(), newVersion())
	return root
}

// noCommand refuses a word that is no command, and names the nearest one.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return unusable(errors.New(text + "\nsee " + c.CommandPath() + " --help"))
}

// terminal returns the width of a writer's terminal, and whether it is one.
func terminal(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) { //nolint:gosec // a file descriptor fits an int
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd())) //nolint:gosec // likewise
	if err != nil {
		return 0, true
	}
	return width, true
}
