package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

func newSessionExec() *cobra.Command {
	var stdin, tty bool
	c := &cobra.Command{
		Use:   "exec ID -- COMMAND [ARG...]",
		Short: "Run a command in a session's main container",
		Long: `Run a command in a session's main container. The exit status is the command's, where it ran. Which user it
runs as, and what it can do, is the template's to say.`,
		Example: `  kandev-podlint session exec 4be0643f1d98573b -it -- sh
  kandev-podlint session exec 4be0643f1d98573b -- git -C /workspace status
  tar c . | kandev-podlint session exec 4be0643f1d98573b -i -- tar x -C /workspace`,
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 1 || len(args) < 2 {
				return seeHelp(c, fmt.Errorf("%s takes an ID, then --, then a command", c.CommandPath()))
			}
			return nil
		},
	}
	flags := addSessionFlags(c)
	c.Flags().BoolVarP(&stdin, "stdin", "i", false, "pass standard input on to the command")
	c.Flags().BoolVarP(&tty, "tty", "t", false, "give the command this terminal, with --stdin")
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		run := executor.Run{Command: args[1:], Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()}
		if stdin {
			run.Stdin = c.InOrStdin()
		}
		if tty {
			restore, err := useTerminal(&run, c.ErrOrStderr())
			if err != nil {
				return unusable(err)
			}
			defer restore()
		}
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			err := s.Exec(c.Context(), args[0], run)
			if exit, ok := errors.AsType[*executor.ExitError](err); ok {
				return &exitError{code: exit.Code}
			}
			return sessionError(err)
		})
	}
	return c
}

func newSessionLogs() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "logs ID",
		Short: "Print what a session's main container has printed",
		Args:  arguments(1, 1, "ID"),
	}
	flags := addSessionFlags(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what it prints from now on")
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			log, err := s.Logs(c.Context(), args[0], follow)
			if err != nil {
				return sessionError(err)
			}
			defer log.Close() //nolint:errcheck // what was read counts
			_, err = io.Copy(c.OutOrStdout(), clusterReader{log})
			if c.Context().Err() != nil {
				err = c.Context().Err()
			}
			return err
		})
	}
	return c
}

// clusterReader marks what keeps it from reading as the cluster's trouble: io.Copy returns errors of writing too.
type clusterReader struct{ io.Reader }

func (r clusterReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &exitError{code: ExitCluster, err: err}
	}
	return n, err
}

func newSessionForward() *cobra.Command {
	c := &cobra.Command{
		Use:   "forward ID [[LOCAL:]PORT]",
		Short: "Reach a port of a session's Pod from this machine",
		Long: `Listen on 127.0.0.1 for a port of a session's Pod, until an interrupt (Ctrl-C). Without a PORT it is the
agent's control port, on a free port of this machine; LOCAL is the port here, and the same as PORT where it
is left out, or any free one where it is 0. The forward survives broken connections and restarts of the API
server and of the container. When the Pod is gone, it ends with status 3.`,
		Example: `  kandev-podlint session forward 4be0643f1d98573b
  kandev-podlint session forward 4be0643f1d98573b 8080:3000`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return seeHelp(c, fmt.Errorf("%s takes an ID and at most one port", c.CommandPath()))
			}
			return nil
		},
	}
	flags := addSessionFlags(c)
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		var local, remote uint16
		if len(args) == 2 {
			var err error
			if local, remote, err = parsePorts(args[1]); err != nil {
				return unusable(err)
			}
		}
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			return s.forward(c.Context(), c.OutOrStdout(), args[0], local, remote)
		})
	}
	return c
}

// forward forwards a port, the control port for 0, until the context ends, which is how it is meant to end, or the Pod does.
func (s *sessions) forward(ctx context.Context, stdout io.Writer, instanceID string, local, remote uint16) error {
	port := int32(remote)
	if port == 0 {
		row, err := s.store.Get(ctx, instanceID)
		if err != nil {
			return sessionError(err)
		}
		if port = row.ControlPort; port == 0 {
			return unusable(fmt.Errorf("session %s has not come far enough to have a control port: name a PORT", instanceID))
		}
	}
	listener, err := s.Forward(ctx, instanceID, port, int(local))
	if err != nil {
		return sessionError(err)
	}
	_, err = fmt.Fprintf(stdout, "Forwarding from %s -> %d\n", listener.Addr(), port)
	if err == nil {
		err = s.AwaitLoss(ctx, instanceID)
	}
	closeErr := listener.Close()
	switch {
	case ctx.Err() != nil:
		return closeErr
	case ofPod(err):
		return &exitError{code: ExitCluster, err: sessionError(err)}
	}
	return sessionError(err)
}

// ofPod reports whether an error is the loss of a session's Pod.
func ofPod(err error) bool {
	e, ok := errors.AsType[*executor.Error](err)
	return ok && e.Reason == executor.PodLost
}

// parsePorts reads [LOCAL:]PORT.
func parsePorts(text string) (local, remote uint16, err error) {
	before, after, both := strings.Cut(text, ":")
	if !both {
		before, after = text, text
	}
	l, err1 := strconv.ParseUint(before, 10, 16)
	r, err2 := strconv.ParseUint(after, 10, 16)
	if err1 != nil || err2 != nil || r == 0 {
		return 0, 0, fmt.Errorf("%q is not [LOCAL:]PORT", text)
	}
	return uint16(l), uint16(r), nil
}
