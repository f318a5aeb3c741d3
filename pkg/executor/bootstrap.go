package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// container is the main container of one Pod, in which commands are run.
type container struct {
	client *Client
	pod    place
	uid    types.UID
	name   string
	id     string // the node's, of one run of the container; "" is whichever runs
}

// exec runs a command in the container; it is an upload.Exec.
func (c container) exec(ctx context.Context, command []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return c.run(ctx, ExecOptions{Command: command, Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

// run runs a command in the container, and ends when that does. A node may never tell: containerd 1.6 does not where the
// command's input was being read when the container ended.
func (c container) run(ctx context.Context, o ExecOptions) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go c.watch(ctx, end)
	o.Namespace, o.Pod, o.Container = c.pod.namespace, c.pod.name, c.name
	return c.client.Exec(ctx, o)
}

// briefly is how long a command takes that nobody has to look after.
const briefly = 2 * time.Second

// watch waits until the container has ended, and calls end then.
func (c container) watch(ctx context.Context, end context.CancelCauseFunc) {
	wait(ctx, briefly)
	over := &Error{Reason: StreamBroken, Subject: c.pod.name, Message: "the container ended"}
	err := follow(ctx, c.client, c.pod, c.uid, func(pod *corev1.Pod) (bool, error) {
		id := runningID(pod, c.name)
		if c.id == "" { // what is known of a container that has just been started comes late
			c.id = id
		}
		return id != c.id, nil
	})
	if err == nil || errors.Is(err, errGone) {
		end(over)
	}
}

// runningID is the node's name for what runs as a container of a Pod, "" where nothing does.
func runningID(pod *corev1.Pod, name string) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == name && s.State.Running != nil {
			return s.ContainerID
		}
	}
	return ""
}

// bootstrap uploads everything, runs the preparation, and has the agent started. It may be repeated whole.
func (c container) bootstrap(ctx context.Context, d *delivery, prepare bool) error {
	request := upload.Request{Remove: []string{bootstrap.MarkerPath, bootstrap.TokenPath}, Files: d.files}
	if !prepare {
		request.Last = d.marker
	}
	if err := c.send(ctx, request); err != nil || !prepare {
		return err
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	return c.send(ctx, upload.Request{Last: d.marker})
}

// verify makes sure that a stream which is open goes to the Pod of the UID, and to the container of the ID: the API takes only
// names, and what has gone cannot have come back to a name that was another's meanwhile.
func (c container) verify(ctx context.Context) error {
	pod, err := currently[*corev1.Pod](ctx, c.client, c.pod)
	switch {
	case err != nil:
		return err
	case pod.UID != c.uid:
		return replaced(c.pod, pod.UID, c.uid)
	case c.id != "" && runningID(pod, c.name) != c.id:
		return &Error{Reason: StreamBroken, Subject: c.pod.name, Message: "the container was started again"}
	}
	return nil
}

// replaced is the error of a name that another object has.
func replaced(at place, have, want types.UID) error {
	return &Error{Reason: Replaced, Subject: at.name, Message: fmt.Sprintf("%s/%s has UID %s, not %s", at.namespace, at.name, have, want)}
}

// send uploads, and tells what the Pod refused from what the connection did.
func (c container) send(ctx context.Context, r upload.Request) error {
	before := r.Before
	r.Before = func(ctx context.Context) ([]upload.File, error) {
		if err := c.verify(ctx); err != nil || before == nil {
			return nil, err
		}
		return before(ctx)
	}
	err := upload.Send(ctx, c.exec, r)
	if err != nil && ctx.Err() != nil {
		return endedError(ctx)
	}
	if rejected, ok := errors.AsType[*upload.RejectedError](err); ok {
		reason := UploadFailed
		switch {
		case rejected.Code == bootstrap.ExitNoTool:
			reason = MissingTools
		case rejected.Code > killed:
			reason = StreamBroken
		}
		return &Error{Reason: reason, Message: rejected.Error(), cause: err}
	}
	if errors.Is(err, upload.ErrNoReceipt) || errors.Is(err, upload.ErrIncompatible) {
		return &Error{Reason: StreamBroken, Message: err.Error(), cause: err}
	}
	return err
}

// killed is what a shell adds to the number of the signal that ended a command.
const killed = 128

// secrets reads back what the executor left in the auth volume: the agent's bootstrap nonce, and the token where a handshake
// was finished.
func (c container) secrets(ctx context.Context) (nonce, token string, err error) {
	const (
		script = `while IFS= read -r line; do case $line in ` + envNonce + `=*) printf 'nonce %s\n' "${line#*=}" ;; esac; done <` + bootstrap.AuthEnvPath +
			`; if [ -f ` + bootstrap.TokenPath + ` ]; then IFS= read -r line <` + bootstrap.TokenPath + `; printf 'token %s\n' "$line"; fi; echo end`
	)
	var out lockedBuffer
	err = c.exec(ctx, []string{"/bin/sh", "-c", script}, nil, &out, io.Discard)
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if lines[len(lines)-1] != "end" {
		if err == nil {
			err = &Error{Reason: StreamBroken, Message: "the stream ended before its last line"}
		}
		return "", "", err
	}
	for _, line := range lines {
		if value, ok := strings.CutPrefix(line, "nonce "); ok {
			nonce = value
		} else if value, ok := strings.CutPrefix(line, "token "); ok {
			token = value
		}
	}
	return nonce, token, nil
}

// end ends the container's first process, the agent. The stream may end with it.
func (c container) end(ctx context.Context) error {
	err := c.sure(ctx, `kill 1`, nil, io.Discard)
	if _, ended := errors.AsType[*ExitError](err); ended || reasonOf(err) == StreamBroken {
		return nil
	}
	return err
}

// sure runs a shell script with arguments, once it is certain that the shell which has answered is in this Pod: a command of an
// exec runs at once, in whatever Pod has the name. What it says on its standard error is dropped: that has no order with what it
// says on its output.
func (c container) sure(ctx context.Context, script string, args []string, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdin, to := io.Pipe()
	defer stdin.Close() //nolint:errcheck // nothing more is read
	answer := &answered{Writer: out, heard: make(chan struct{})}
	go func() {
		select {
		case <-answer.heard:
		case <-ctx.Done():
			return
		}
		if err := c.verify(ctx); err != nil {
			cancel(err) // the shell ends with its stream, and does nothing
			return
		}
		_, err := io.WriteString(to, "sure\n")
		_ = to.CloseWithError(err)
	}()
	command := append([]string{"/bin/sh", "-c", `echo here; read -r sure && [ "$sure" = sure ] || exit; ` + script, "sh"}, args...)
	return c.exec(ctx, command, stdin, answer, io.Discard)
}

// answered is the output of a command, and tells when it has begun.
type answered struct {
	io.Writer
	once  sync.Once
	heard chan struct{}
}

// Write takes what is written.
func (a *answered) Write(p []byte) (int, error) {
	a.once.Do(func() { close(a.heard) })
	return a.Writer.Write(p)
}
