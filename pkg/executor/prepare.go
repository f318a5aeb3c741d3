package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// prepare runs the preparation script to its end. What it prints stays out of errors: a script may print what it was given.
//
// The shell that ran the script tells its status, and nothing after that is waited for: a process that the script left behind may hold
// the stream open for as long as it lives. The status may stand anywhere in the output, for such a process may print too.
func (c container) prepare(ctx context.Context) error {
	const script = `word=$1; shift; "$@" </dev/null; printf '\n%s %s\n' "$word" "$?"`
	ctx, end := context.WithCancel(ctx)
	defer end()
	word := compose.NewNonce()
	out := &statusLine{begins: []byte("\n" + word + " "), told: end}
	err := c.sure(ctx, script, append([]string{word}, bootstrap.PrepareCommand(bootstrap.Options{})...), out)
	switch status := out.status(); status {
	case "":
	case "0":
		return nil
	default:
		return &Error{Reason: PrepareFailed, Message: fmt.Sprintf("the preparation script ended with status %s", status)}
	}
	if _, ended := errors.AsType[*ExitError](err); err != nil && !ended {
		return err
	}
	return &Error{Reason: StreamBroken, Message: "the stream ended before the preparation script did", cause: err}
}

// statusLine is a stream of which one line tells a status. It keeps nothing else.
type statusLine struct {
	begins []byte // the line's beginning, from the newline before it
	told   func() // is called once the line is whole

	mu   sync.Mutex
	kept []byte // the end of the stream, which may be the beginning of the line
	said string
}

// Write takes more of the stream.
func (l *statusLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said != "" {
		return len(p), nil
	}
	l.kept = append(l.kept, p...)
	_, after, begun := bytes.Cut(l.kept, l.begins)
	switch status, _, whole := bytes.Cut(after, []byte("\n")); {
	case whole:
		l.said, l.kept = string(status), nil
		l.told()
	case !begun:
		l.kept = append(l.kept[:0], l.kept[max(0, len(l.kept)-len(l.begins)):]...)
	}
	return len(p), nil
}

// status is what the line told, "" before it has come.
func (l *statusLine) status() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said
}
