package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
)

func newSession() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "Run sessions: start, list, exec, forward, stop, resume, delete",
		Long: `Run agent sessions on a cluster, for trials and CI. Every call is a process of its own: a session goes on
when the call has ended, and what is known of it is in an inventory, a file of this machine. Without
--inventory each API server has a file of its own in the user's state directory.`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSessionStart(), newSessionList(), newSessionShow(), newSessionExec(), newSessionForward(), newSessionLogs(),
		newSessionStop(), newSessionResume(), newSessionDelete(), newSessionDoctor())
	return c
}

// sessionFlags say which cluster and which inventory a session command works with.
type sessionFlags struct {
	cluster   *clusterFlags
	inventory string
	takeOver  bool
}

func addSessionFlags(c *cobra.Command) *sessionFlags {
	f := &sessionFlags{cluster: addClusterFlags(c)}
	c.Flags().StringVar(&f.inventory, "inventory", "", "`FILE` of the inventory (default one for each API server in $XDG_STATE_HOME/kandev-podlint/sessions)")
	return f
}

// addTakeOver adds the flag of the commands that need to hold the session.
func (f *sessionFlags) addTakeOver(c *cobra.Command) {
	c.Flags().BoolVar(&f.takeOver, "take-over", false, "take the session from a process that holds it and has ended")
}

// sessions is what a session command works with: an executor and its inventory.
type sessions struct {
	*executor.Executor
	flags *sessionFlags
	store *sqlinventory.Inventory
}

// open opens the inventory and makes an executor of the options. Nothing is sent yet.
func (f *sessionFlags) open(ctx context.Context, o executor.Options) (*sessions, error) {
	client, namespace, err := f.cluster.connect()
	if err != nil {
		return nil, err
	}
	file, err := f.file(client)
	if err != nil {
		return nil, unusable(err)
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, unusable(err)
	}
	o.Client, o.Inventory, o.Namespace, o.Owner = client, store, namespace, newOwner()
	e, err := executor.New(o)
	if err != nil {
		return nil, errors.Join(unusable(err), store.Close())
	}
	return &sessions{e, f, store}, nil
}

// offline reports whether an inventory is named, and no cluster.
func (f *sessionFlags) offline() bool { return f.inventory != "" && f.cluster.absent() }

// records says which inventory is meant, and which namespace in it: "" is all, where neither a cluster nor a namespace is named.
func (f *sessionFlags) records() (file, namespace string, err error) {
	if f.offline() {
		return f.inventory, f.cluster.overrides.Context.Namespace, nil
	}
	client, namespace, err := f.cluster.connect()
	if err != nil {
		return "", "", err
	}
	file, err = f.file(client)
	return file, namespace, unusable(err)
}

// reading has f read an inventory.
func reading(ctx context.Context, file string, f func(*sqlinventory.Inventory) error) error {
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return unusable(err)
	}
	err = f(store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	return sessionError(err)
}

// file is the inventory's. One file holds sessions of one API server: on another, every one of them would look lost.
func (f *sessionFlags) file(client *executor.Client) (string, error) {
	if f.inventory != "" {
		return f.inventory, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as https://specifications.freedesktop.org/basedir-spec/latest/ has it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("name the inventory with --inventory: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kandev-podlint", "sessions", url.QueryEscape(client.Host())+".db"), nil
}

// newOwner names this process in the inventory, as no other ever was. The number is for whoever wonders whether it still runs.
func newOwner() string { return fmt.Sprintf("cli-%d-%s", os.Getpid(), newID()) }

// newID returns 16 random hex digits.
func newID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// do opens the sessions, has f use them, and closes them.
func (f *sessionFlags) do(ctx context.Context, o executor.Options, use func(*sessions) error) error {
	s, err := f.open(ctx, o)
	if err != nil {
		return err
	}
	err = use(s)
	if closeErr := s.store.Close(); err == nil {
		err = unusable(closeErr)
	}
	return err
}

// holding calls f, which works on an instance, and gives the instance up afterwards.
func (s *sessions) holding(ctx context.Context, instanceID string, f func() error) error {
	if s.flags.takeOver {
		if err := s.TakeOver(ctx, instanceID); err != nil {
			return sessionError(err)
		}
	}
	err := f()
	if releaseErr := s.Release(context.WithoutCancel(ctx), instanceID); err == nil {
		err = releaseErr
	}
	return sessionError(err)
}

// show prints a session as it is recorded, and as the cluster has it.
func (s *sessions) show(ctx context.Context, o *outputFlags, st Streams, instanceID string) error {
	status, err := s.Status(ctx, instanceID)
	if err != nil {
		return sessionError(err)
	}
	return o.write(st.Out, each(func(t *target) error {
		return report.Session(t.w, t.format, status, report.SessionOptions{Quiet: o.quiet, Now: time.Now()})
	}))
}

// addSessionOutput adds the flags of a command that prints sessions.
func addSessionOutput(c *cobra.Command) *outputFlags {
	o := addOutputFlags(c, report.SessionFormats())
	c.Flags().Lookup("quiet").Usage = "print instance IDs alone"
	return o
}

// sessionError marks an error of a session with its exit status: 2 where the inventory or the invocation cannot be used, 3
// where the cluster did not answer as a cluster should, 1 for everything that keeps the session from running.
func sessionError(err error) error {
	if errors.Is(err, inventory.ErrNotFound) {
		return unusable(fmt.Errorf("%w\nsession list shows what there is; an inventory is that of one API server, or of --inventory", err))
	}
	e, ok := errors.AsType[*executor.Error](err)
	if _, marked := errors.AsType[*exitError](err); !ok || marked {
		return unusable(err)
	}
	code := ExitFindings
	switch {
	case e.Reason == executor.Interrupted, e.Reason == executor.InventoryFailed, e.Reason == executor.InventoryConflict:
		code = ExitUnusable
	case e.Reason.ClusterTrouble(), e.Reason == executor.Forbidden:
		code = ExitCluster
	}
	if help := sessionHelp(e); help != "" {
		err = fmt.Errorf("%w\n%s", err, help)
	}
	return &exitError{code: code, err: err}
}

// sessionHelp says what to do about an error, in terms of these commands where that is it.
func sessionHelp(e *executor.Error) string {
	switch e.Reason {
	case executor.InventoryConflict:
		return "if that process has ended without giving the session up, add --take-over"
	case executor.AgentUnproven:
		return "an agent that cannot prove itself yet is accepted with --insecure-unproven-agent"
	case executor.PodLost:
		return "session resume with --agent goes on with a start, or replaces a Pod; session delete ends the session"
	case executor.WorkspaceLost:
		return "session delete ends the session"
	}
	return e.Remedy()
}

// oneSession completes the instance ID that a command takes.
func (f *sessionFlags) oneSession(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.completions(c.Context()), cobra.ShellCompDirectiveNoFileComp
}

// completions lists the recorded instance IDs, none where there is no inventory yet.
func (f *sessionFlags) completions(ctx context.Context) []cobra.Completion {
	file, namespace, err := f.records()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) { // opening it would make it
		return nil
	}
	var rows []inventory.Row
	if err := reading(ctx, file, func(store *sqlinventory.Inventory) (err error) {
		rows, err = store.List(ctx, inventory.Filter{Namespace: namespace})
		return err
	}); err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, r := range rows {
		out = append(out, cobra.CompletionWithDesc(r.Identity.InstanceID, string(r.State)))
	}
	return out
}
