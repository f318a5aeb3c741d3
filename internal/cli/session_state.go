package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

func newSessionList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of a namespace",
		Long: `List the sessions of a namespace that the inventory has. The cluster is not asked. With --inventory no
kubeconfig is needed; where there is none, the sessions of every namespace are listed.`,
		Args: arguments(0, 0, ""),
	}
	output, flags := addSessionOutput(c), addSessionFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, namespace, err := flags.records()
		if err != nil {
			return err
		}
		return reading(c.Context(), file, func(store *sqlinventory.Inventory) error {
			rows, err := store.List(c.Context(), inventory.Filter{Namespace: namespace})
			if err != nil {
				return err
			}
			return output.write(c.OutOrStdout(), each(func(t *target) error {
				return report.Sessions(t.w, t.format, rows, report.SessionOptions{Quiet: output.quiet, Now: time.Now()})
			}))
		})
	}
	return c
}

func newSessionShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show what is known of a session, and how its Pod is",
		Long: `Show what the inventory has of a session, and how its Pod is. With --inventory and without a kubeconfig it
is what the inventory has.`,
		Args: arguments(1, 1, "ID"),
	}
	output, flags := addSessionOutput(c), addSessionFlags(c)
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		if flags.offline() {
			return showRecord(c.Context(), flags.inventory, output, c.OutOrStdout(), args[0])
		}
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			return s.show(c.Context(), output, streamsOf(c), args[0])
		})
	}
	return c
}

// showRecord prints a session as it is recorded.
func showRecord(ctx context.Context, file string, output *outputFlags, w io.Writer, instanceID string) error {
	return reading(ctx, file, func(store *sqlinventory.Inventory) error {
		row, err := store.Get(ctx, instanceID)
		if err != nil {
			return err
		}
		return output.write(w, each(func(t *target) error {
			return report.Session(t.w, t.format, executor.Status{Row: row}, report.SessionOptions{Quiet: output.quiet, Now: time.Now(), Recorded: true})
		}))
	})
}

func newSessionStop() *cobra.Command {
	c := &cobra.Command{
		Use:   "stop ID",
		Short: "Record that a session is not used for now; Pod and claim stay",
		Long: `Record that a session is not used for now. Its Pod and its claim stay, and the agent goes on with what it
does; session resume makes it running again.`,
		Args: arguments(1, 1, "ID"),
	}
	flags := addSessionFlags(c)
	flags.addTakeOver(c)
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			err := s.holding(c.Context(), args[0], func() error { return s.Stop(c.Context(), args[0]) })
			return said(c.OutOrStdout(), err, "session %s stopped\n", args[0])
		})
	}
	return c
}

// said prints that something was done, if it was.
func said(w io.Writer, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, format, args...)
	return err
}

func newSessionResume() *cobra.Command {
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Make a recorded session run: reconnect, or replace a lost Pod",
		Long: `Make a recorded session run, from wherever it is. Without --agent its Pod must be there, and nothing is
created. With --agent, and what else session start was given, a start that was cut off is gone on with, and
a Pod that was lost is replaced from the recorded template, with the same claim; a template that was edited
since has no effect. The workspace of mode empty_dir is lost with its Pod.`,
		Example: `  kandev-podlint session resume 4be0643f1d98573b
  kandev-podlint session resume 4be0643f1d98573b --agent agentctl --auth-env-file credentials.env`,
		Args: arguments(1, 1, "ID"),
	}
	output, flags := addSessionOutput(c), addSessionFlags(c)
	flags.addTakeOver(c)
	launch := addLaunchFlags(c)
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return resume(c.Context(), flags, launch, output, streamsOf(c), args[0])
	}
	return c
}

func resume(ctx context.Context, flags *sessionFlags, launch *launchFlags, output *outputFlags, st Streams, instanceID string) error {
	if _, err := output.requests(); err != nil {
		return unusable(err)
	}
	var material executor.Material
	if launch.material.given() {
		var err error
		if material, err = launch.material.load(); err != nil {
			return err
		}
	}
	o, status := launch.options(st.Err, output.verbose)
	return flags.do(ctx, o, func(s *sessions) error {
		err := s.holding(ctx, instanceID, func() error {
			session, err := s.reach(ctx, instanceID, material)
			status.clear()
			if err != nil {
				return err
			}
			return session.Close()
		})
		if err != nil {
			return err
		}
		return s.show(ctx, output, st, instanceID)
	})
}

// reach resumes a session with material, and reconnects to it without.
func (s *sessions) reach(ctx context.Context, instanceID string, m executor.Material) (*executor.Session, error) {
	if m.Agent == nil {
		return s.Reconnect(ctx, instanceID)
	}
	return s.Resume(ctx, instanceID, m)
}

func newSessionDelete() *cobra.Command {
	var verbose bool
	c := &cobra.Command{
		Use:   "delete ID",
		Short: "End a session for ever: its Pod, the claim that it created, its record",
		Long: `End a session for ever: its Pod, then the claim that it created, then its record. Each is deleted only if
its UID and its labels are the recorded ones. An existing claim that the profile named is left alone.`,
		Args: arguments(1, 1, "ID"),
	}
	flags := addSessionFlags(c)
	flags.addTakeOver(c)
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "say more of what is done")
	c.ValidArgsFunction = flags.oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		status := newStatusLine(c.ErrOrStderr())
		o := executor.Options{Observe: func(e executor.Event) { tellEvent(c.ErrOrStderr(), status, verbose, e) }}
		return flags.do(c.Context(), o, func(s *sessions) error {
			if _, err := s.store.Get(c.Context(), args[0]); err != nil { // which Cleanup takes for one that is gone
				return sessionError(err)
			}
			err := s.holding(c.Context(), args[0], func() error { return s.Cleanup(c.Context(), args[0]) })
			status.clear()
			return said(c.OutOrStdout(), err, "session %s deleted\n", args[0])
		})
	}
	return c
}

func newSessionDoctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "List what the inventory and the cluster do not agree about",
		Long: `List the Pods and claims of the namespace that bear Kandev's labels and are in no record, and the records
whose objects are gone, replaced or uncertain. Nothing is changed. Sessions of other inventories look like
strays from here. The exit status is 1 where there are any.`,
		Args: arguments(0, 0, ""),
	}
	output, flags := addOutputFlags(c, report.SessionFormats()), addSessionFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return flags.do(c.Context(), executor.Options{}, func(s *sessions) error {
			strays, err := s.Doctor(c.Context())
			if err != nil {
				return sessionError(err)
			}
			err = output.write(c.OutOrStdout(), each(func(t *target) error {
				return report.Strays(t.w, t.format, strays, report.SessionOptions{Quiet: output.quiet})
			}))
			if err == nil && len(strays) > 0 {
				return errFindings
			}
			return err
		})
	}
	return c
}
