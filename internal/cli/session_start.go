package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// launchFlags are the flags of the commands that make a session run.
type launchFlags struct {
	material     *materialFlags
	startTimeout time.Duration
	unproven     bool
}

func addLaunchFlags(c *cobra.Command) *launchFlags {
	l := &launchFlags{material: addMaterialFlags(c)}
	c.Flags().DurationVar(&l.startTimeout, "start-timeout", executor.DefaultStartTimeout, "`TIME` that the Pod may take to run")
	c.Flags().BoolVar(&l.unproven, "insecure-unproven-agent", false,
		"accept an agent that gives no proof that it is the agent: any container of the Pod could pass for it")
	return l
}

// options are the executor's, with progress to standard error.
func (l *launchFlags) options(stderr io.Writer, verbose bool) (executor.Options, *statusLine) {
	status := newStatusLine(stderr)
	return executor.Options{
		Handshake:    executor.HTTPHandshake{Unproven: l.unproven},
		StartTimeout: l.startTimeout,
		Observe:      func(e executor.Event) { tellEvent(stderr, status, verbose, e) },
	}, status
}

// tellEvent shows on a terminal what is done now, and prints with --verbose what was done.
func tellEvent(stderr io.Writer, status *statusLine, verbose bool, e executor.Event) {
	text := eventText(e)
	status.clear()
	if verbose {
		fmt.Fprintln(stderr, printable(text)) //nolint:errcheck // nothing depends on it
	}
	status.show(text)
}

// eventText says what happens, in one line.
func eventText(e executor.Event) string {
	what := fmt.Sprintf("%s %s", e.Object, e.Name)
	switch e.Kind {
	case executor.Requested:
		return "creating " + what
	case executor.Created:
		return "created " + what
	case executor.Unconfirmed:
		return "finding out whether " + what + " was created: " + e.Detail
	case executor.Waiting:
		return "waiting for " + what + ": " + e.Detail
	case executor.Deleted:
		return what + " is gone"
	}
	return stateText[e.State]
}

// stateText says what a session does in the state that it has entered.
var stateText = map[inventory.State]string{
	inventory.ProvisioningStorage: "providing the workspace",
	inventory.Scheduling:          "providing the Pod",
	inventory.Bootstrapping:       "uploading the agent and its files",
	inventory.Running:             "waiting for the agent's answer",
	inventory.Preserved:           "keeping what there is",
	inventory.Cleaning:            "deleting what the session created",
	inventory.Cleaned:             "everything is gone",
}

// sessionStart is one run of session start.
type sessionStart struct {
	profile  *profileFlags
	output   *outputFlags
	session  *sessionFlags
	launch   *launchFlags
	identity compose.Identity
}

func newSessionStart() *cobra.Command {
	s := &sessionStart{}
	c := &cobra.Command{
		Use:   "start TEMPLATE",
		Short: "Start a session from a template or profile",
		Long: `Start a session from a template, or a profile with a template: its claim, its Pod, the agent and its files,
and the first exchange with the agent. The command ends when the session runs, and leaves nothing running
on this machine. IDs that are not given are random.

A start that fails for a reason that is certain takes back what it created. After an interrupt, or where
the cluster's answer was lost, everything stays recorded: session resume goes on, session delete takes it
back.`,
		Example: `  kandev-podlint session start template.yaml --agent agentctl -n kandev
  kandev-podlint session start profile.yaml --agent agentctl --auth-env-file credentials.env --file ~/.netrc=.netrc -q`,
		Args: arguments(1, 1, "TEMPLATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.run(c.Context(), args[0], streamsOf(c))
		},
	}
	s.profile = addProfileFlags(c)
	s.output = addSessionOutput(c)
	s.session = addSessionFlags(c)
	s.launch = addLaunchFlags(c)
	addIdentityFlags(c.Flags(), &s.identity)
	return c
}

func (s *sessionStart) run(ctx context.Context, file string, st Streams) error {
	if _, err := s.output.requests(); err != nil {
		return unusable(err)
	}
	loaded, err := s.profile.load(ctx, file, st, s.output.colored(st.Err))
	if err != nil {
		return err
	}
	material, err := s.launch.material.load()
	if err != nil {
		return err
	}
	if s.output.verbose {
		sayProfile(st.Err, loaded)
	}
	id := filledIdentity(s.identity)
	o, status := s.launch.options(st.Err, s.output.verbose)
	return s.session.do(ctx, o, func(all *sessions) error {
		err := all.holding(ctx, id.InstanceID, func() error {
			session, err := all.Launch(ctx, executor.Request{Identity: id, Template: loaded.Template, Profile: loaded.Profile, Material: material})
			status.clear()
			if err != nil {
				all.sayKept(ctx, st.Err, id.InstanceID, err)
				return err
			}
			return session.Close()
		})
		if err != nil {
			return err
		}
		return all.show(ctx, s.output, st, id.InstanceID)
	})
}

// filledIdentity has a random ID in each place that is empty.
func filledIdentity(id compose.Identity) compose.Identity {
	for _, part := range []*string{&id.InstanceID, &id.ExecutorID, &id.ProfileID, &id.TaskID, &id.SessionID, &id.EnvironmentID} {
		if *part == "" {
			*part = newID()
		}
	}
	return id
}

// sayKept says of a session that did not start what can be done with it, where it is still recorded.
func (s *sessions) sayKept(ctx context.Context, stderr io.Writer, instanceID string, err error) {
	row, getErr := s.store.Get(context.WithoutCancel(ctx), instanceID)
	if getErr == nil && !errors.Is(err, inventory.ErrExists) {
		complain(stderr, fmt.Sprintf("session %s stays recorded, %s: session resume goes on with it, session delete takes it back", instanceID, row.State))
	}
}
