package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// Token authorises calls to an agent. It prints as nothing.
type Token string

// Reveal returns the token itself, for an Authorization header.
func (t Token) Reveal() string { return string(t) }

// String keeps the token out of texts.
func (t Token) String() string { return "[token]" }

// GoString is String.
func (t Token) GoString() string { return t.String() }

// LogValue is String.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText is String.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Session is a session that runs, and the way to its agent.
type Session struct {
	// Row is what was recorded when the session was reached.
	Row inventory.Row
	// Token authorises calls to the agent.
	Token Token

	client    *Client
	namespace string
	listener  *Listener
}

// Addr is the agent's control port, as an address on this machine.
func (s *Session) Addr() string { return s.listener.Addr() }

// Forward listens on 127.0.0.1 for another port of the agent's. Port is the local one, 0 any that is free.
func (s *Session) Forward(ctx context.Context, remote int32, port int) (*Listener, error) {
	return s.client.Listen(ctx, Target{Namespace: s.namespace, Pod: s.Row.Pod.Name, UID: s.Row.Pod.UID, Port: remote}, port)
}

// Close ends the local side. Pod and claim stay.
func (s *Session) Close() error { return s.listener.Close() }

// reconnect reaches the agent of the recorded Pod.
func (i *instance) reconnect(ctx context.Context) (*Session, error) {
	switch i.row.State {
	case inventory.Running, inventory.Preserved:
	default:
		return nil, &Error{Reason: PodLost, Subject: i.row.Identity.PodName(), Message: "the session is " + string(i.row.State) + ", and does not run yet"}
	}
	if i.fresh == "" { // otherwise this call has just found it, and given it its material
		if err := i.verifyPod(ctx); err != nil {
			return nil, err
		}
		if _, err := i.awaitPod(ctx, true); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, i.AgentTimeout)
	defer cancel()
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	target := Target{Namespace: i.Namespace, Pod: i.row.Pod.Name, UID: i.row.Pod.UID, Port: i.row.ControlPort}
	listener, err := i.Client.listen(ctx, target, 0, lost)
	if err != nil {
		return nil, err
	}
	if i.fresh != "" {
		listener.open() // while the agent starts
	}
	token, err := i.shake(ctx, listener.Addr())
	if err == nil && i.row.State != inventory.Running {
		err = i.enter(ctx, inventory.Running)
	}
	if cause, ok := errors.AsType[*Error](context.Cause(ctx)); ok && err != nil {
		err = cause // the Pod, and not the agent
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &Session{Row: i.row, Token: Token(token), client: i.Client, namespace: i.Namespace, listener: listener}, nil
}

// shake gets a token from the agent, and leaves it in the Pod.
func (i *instance) shake(ctx context.Context, address string) (string, error) {
	if i.fresh == "" {
		return i.laterShake(ctx, address)
	}
	token, err := i.firstShake(ctx, address)
	if err == nil {
		return token, nil
	}
	if token == "" {
		token, err = i.Handshake.Shake(ctx, address, i.fresh)
		if i.outlived(err) {
			token, err = i.startAgain(ctx, address, i.fresh)
		}
		if err != nil {
			return "", err
		}
	}
	return token, i.keep(ctx, token)
}

// firstShake gets a token from an agent that is just being started, and leaves it in the Pod, by one command there that answers
// as soon as the agent listens. A token that comes with an error was not left.
func (i *instance) firstShake(ctx context.Context, address string) (token string, err error) {
	err = i.container().send(ctx, upload.Request{Port: i.row.ControlPort, Before: func(ctx context.Context) ([]upload.File, error) {
		var err error
		token, err = i.Handshake.Shake(ctx, address, i.fresh)
		return []upload.File{tokenFile(token)}, err
	}})
	return token, err
}

// laterShake gets a token from an agent that was started before. One that has given its token already refuses; then the token is
// the one that was left in the Pod.
func (i *instance) laterShake(ctx context.Context, address string) (string, error) {
	nonce, kept, err := i.secrets(ctx)
	if err != nil {
		return "", err
	}
	token, err := i.Handshake.Shake(ctx, address, nonce)
	if reasonOf(err) == AgentRefused && kept != "" {
		return kept, nil
	}
	if i.outlived(err) {
		token, err = i.startAgain(ctx, address, nonce)
	}
	if err != nil {
		return "", err
	}
	return token, i.keep(ctx, token)
}

// keep leaves a token in the Pod.
func (i *instance) keep(ctx context.Context, token string) error {
	err := i.container().send(ctx, upload.Request{Files: []upload.File{tokenFile(token)}})
	if err != nil {
		return fmt.Errorf("keep the agent's token: %w", err)
	}
	return nil
}

// tokenFile is where a token is left.
func tokenFile(token string) upload.File {
	return upload.File{Path: bootstrap.TokenPath, Mode: 0o600, Content: upload.NewBlob([]byte(token + "\n"))}
}

// secrets reads the secrets in the Pod, also while its container is being started again: the API server hears of that later.
func (i *instance) secrets(ctx context.Context) (nonce, token string, err error) {
	for {
		nonce, token, err = i.container().secrets(ctx)
		if reasonOf(err) != ExecFailed {
			return nonce, token, err
		}
		if wait(ctx, pause); ctx.Err() != nil {
			return "", "", err
		}
	}
}

// outlived reports whether the agent that answered is one that an earlier call started, and that nobody can use: it gave a token
// that was lost on its way, or has the nonce of an upload whose end was not recorded. Only who may start a session may end it.
func (i *instance) outlived(err error) bool {
	reason := reasonOf(err)
	return i.material != nil && (reason == AgentRefused || reason == AgentUnproven && i.fresh != "")
}

// startAgain ends the agent, whose container starts again from what was uploaded, and shakes hands with the one that comes. Until
// then the one that goes may answer.
func (i *instance) startAgain(ctx context.Context, address, nonce string) (token string, err error) {
	if err := i.container().end(ctx); err != nil {
		return "", err
	}
	for {
		token, err = i.Handshake.Shake(ctx, address, nonce)
		if reason := reasonOf(err); reason != AgentRefused && reason != AgentUnproven {
			return token, err
		}
		if wait(ctx, pause); ctx.Err() != nil {
			return "", err
		}
	}
}
