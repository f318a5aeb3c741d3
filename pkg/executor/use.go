package executor

import (
	"context"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Run is a command in a session's main container, and where its streams go, as in ExecOptions.
type Run struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       <-chan TerminalSize
}

// Exec runs a command in a session's main container. What is said of Client.Exec holds here too. It neither takes nor needs
// the instance: it may run beside every other call.
func (e *Executor) Exec(ctx context.Context, instanceID string, r Run) error {
	row, err := e.usable(ctx, instanceID)
	if err != nil {
		return err
	}
	c := container{client: e.Client, pod: place{podResource, e.Namespace, row.Pod.Name}, uid: row.Pod.UID, name: row.MainContainer}
	return c.run(ctx, ExecOptions{Command: r.Command, Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr, Terminal: r.Terminal})
}

// Forward listens on 127.0.0.1 for a port of a session's Pod. Port is the local one, 0 any that is free.
func (e *Executor) Forward(ctx context.Context, instanceID string, remote int32, port int) (*Listener, error) {
	row, err := e.usable(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	return e.Client.Listen(ctx, Target{Namespace: e.Namespace, Pod: row.Pod.Name, UID: row.Pod.UID, Port: remote}, port)
}

// AwaitLoss waits until a session's Pod is lost: gone, another one or ended. It watches, and does not poll. The error is never
// nil: it is an *Error, of reason PodLost in that case, and of Interrupted when the context ends.
func (e *Executor) AwaitLoss(ctx context.Context, instanceID string) error {
	row, err := e.usable(ctx, instanceID)
	if err != nil {
		return err
	}
	at := place{podResource, e.Namespace, row.Pod.Name}
	err = follow(ctx, e.Client, at, row.Pod.UID, func(pod *corev1.Pod) (bool, error) {
		if hasEnded(pod) {
			return false, podLost(row, "Pod %s has ended: %s", pod.Name, podEnd(pod))
		}
		return false, nil
	})
	switch {
	case errors.Is(err, errGone):
		return podLost(row, "Pod %s is gone", row.Pod.Name)
	case ctx.Err() != nil:
		return endedError(ctx)
	}
	return err
}

// Logs returns what a session's main container has printed; with follow, what it prints until it ends too. The caller closes it.
func (e *Executor) Logs(ctx context.Context, instanceID string, follow bool) (io.ReadCloser, error) {
	row, err := e.usable(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	o := &corev1.PodLogOptions{Container: row.MainContainer, Follow: follow}
	stream, err := e.Client.rest.Get().Namespace(e.Namespace).Resource(podResource).Name(row.Pod.Name).SubResource("log").
		VersionedParams(o, parameters()).Stream(ctx)
	return stream, classify(err)
}

// usable returns the row of a session whose Pod is there.
func (e *Executor) usable(ctx context.Context, instanceID string) (*inventory.Row, error) {
	row, err := e.rowOf(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	_, err = e.livePod(ctx, &row)
	return &row, err
}

// Telemetry receives the beginning and the end of every call of an Executor, for spans and metrics of whatever kind. It is
// not asked anything when it is nil.
type Telemetry interface {
	// Start begins an operation, such as "launch", on an instance. The context that it returns is the operation's; the function
	// is called once, at its end.
	Start(ctx context.Context, operation, instanceID string) (context.Context, func(error))
}

// measured runs one operation under the Executor's telemetry.
func (e *Executor) measured(ctx context.Context, operation, instanceID string, f func(context.Context) error) error {
	if e.Telemetry == nil {
		return f(ctx)
	}
	ctx, end := e.Telemetry.Start(ctx, operation, instanceID)
	err := errors.New("panicked")
	defer func() { end(err) }()
	err = f(ctx)
	return err
}
