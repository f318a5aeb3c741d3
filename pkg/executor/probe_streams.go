package executor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// probeBytes is how much an exec round trip sends: more than the buffers on the way hold.
const probeBytes = 256 << 10

// streams makes the steps that send something through the API server to the Pod and back.
func (p *probe) streams(ctx context.Context, pod *created) {
	execs := []permission{{"pods/exec", "get"}, {"pods/exec", "create"}}
	forwards := []permission{{"pods/portforward", "get"}, {"pods/portforward", "create"}}
	carries := p.bothTransports(ctx, "exec", execs, func(ctx context.Context, t Transport, o *outcome) error {
		return p.execRoundTrip(ctx, pod, t, o)
	})
	if carries {
		p.step(ctx, "tools", "look for the start script's tools", func(ctx context.Context, o *outcome) error { return p.tools(ctx, pod, o) })
		p.step(ctx, "volumes", "write the owned volumes", func(ctx context.Context, o *outcome) error { return p.volumes(ctx, pod, o) })
	} else {
		p.skip("tools", cmp.Or(p.barred, "needs exec"))
		p.skip("volumes", cmp.Or(p.barred, "needs exec"))
	}
	p.bothTransports(ctx, "forward", forwards, func(ctx context.Context, t Transport, o *outcome) error {
		return p.forwardRoundTrip(ctx, pod, t, o)
	})
	p.step(ctx, "logs", "read the log", func(ctx context.Context, o *outcome) error { return p.logs(ctx, pod, o) }, permission{"pods/log", "get"})
}

// bothTransports makes one step a transport, and reports whether sessions can stream: by WebSocket, or by SPDY where WebSocket
// is refused. The one of the two that they can do without is then optional.
func (p *probe) bothTransports(ctx context.Context, what string, needed []permission, work func(context.Context, Transport, *outcome) error) bool {
	through := func(t Transport) (Step, error) {
		return p.try(ctx, what+"-"+string(t), what+" by "+string(t), func(ctx context.Context, o *outcome) error {
			ctx, cancel := context.WithTimeoutCause(ctx, streamTimeout, errStreamTimeout)
			defer cancel()
			return work(ctx, t, o)
		}, needed...)
	}
	websocket, refused := through(WebSocket)
	spdy, _ := through(SPDY)
	spdy.Optional = websocket.Verdict == Pass && spdy.Verdict == Fail
	websocket.Optional = websocket.Verdict == Fail && reasonOf(refused) == StreamRefused && spdy.Verdict == Pass
	p.done(websocket)
	p.done(spdy)
	return websocket.Verdict == Pass || websocket.Optional
}

// errStreamTimeout is the cause of a stream that ended with its own bound.
var errStreamTimeout = &Error{Reason: StreamBroken, Message: fmt.Sprintf("no end after %s", streamTimeout)}

// run runs a shell script in the main container and returns what it printed.
func (p *probe) run(ctx context.Context, pod *created, t Transport, script string, stdin io.Reader) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, streamTimeout, errStreamTimeout)
	defer cancel()
	var stdout, stderr lockedBuffer
	err := p.client.Exec(ctx, ExecOptions{
		Namespace: p.options.Namespace, Pod: pod.admitted.GetName(), Container: p.options.Profile.MainContainer,
		Command: []string{"/bin/sh", "-c", script}, Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Transport: t,
	})
	if said := strings.TrimSpace(stderr.String()); said != "" && err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return stdout.String(), p.diagnosed(ctx, pod, err)
}

// execRoundTrip sends random bytes and has their digest come back: proof that all of them arrived, and that the answer did.
func (p *probe) execRoundTrip(ctx context.Context, pod *created, t Transport, o *outcome) error {
	data := make([]byte, probeBytes)
	_, _ = rand.Read(data) // never fails
	answer, err := p.run(ctx, pod, t, "sha256sum", bytes.NewReader(data))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if got, _, _ := strings.Cut(answer, " "); got != hex.EncodeToString(sum[:]) {
		return &Error{Reason: StreamBroken, Message: fmt.Sprintf("%d bytes were sent, and the digest that came back is not theirs: %q", len(data), answer)}
	}
	o.message = fmt.Sprintf("%d KiB sent, and their digest came back", probeBytes>>10)
	return nil
}

// tools looks for each of the programs that the start script and the uploads need.
func (p *probe) tools(ctx context.Context, pod *created, o *outcome) error {
	script := "for t in " + strings.Join(bootstrap.Tools(), " ") + `; do command -v "$t" >/dev/null || printf '%s ' "$t"; done
command -v mkfifo >/dev/null || command -v sleep >/dev/null || printf 'mkfifo-or-sleep '
echo .`
	answer, err := p.run(ctx, pod, "", script, nil)
	if err != nil {
		return err
	}
	missing, whole := strings.CutSuffix(strings.TrimSpace(answer), ".")
	if !whole {
		return &Error{Reason: StreamBroken, Message: fmt.Sprintf("the answer was cut off: %q", answer)}
	}
	if missing = strings.TrimSpace(missing); missing != "" {
		return &Error{Reason: MissingTools, Subject: missing, Message: "the image has no " + strings.ReplaceAll(missing, " ", ", ")}
	}
	o.message = "the image has sh, " + strings.Join(bootstrap.Tools(), ", ")
	return nil
}

// volumes writes, renames, reads and removes a file in each owned volume as the container's user, and runs a program from
// the one that holds the agent's.
func (p *probe) volumes(ctx context.Context, pod *created, o *outcome) error {
	name := ".kandev-probe-" + compose.NewNonce()[:16]
	var script strings.Builder
	for _, path := range compose.OwnedPaths() {
		file := path + "/" + name
		fmt.Fprintf(&script, `f=%s
{ echo probe >"$f.tmp" && mv "$f.tmp" "$f" && [ "$(cat "$f")" = probe ]; } || echo "%s: cannot be written by this user"
rm -f "$f" "$f.tmp"
`, file, path)
	}
	fmt.Fprintf(&script, `f=%s/%s
{ printf '#!/bin/sh\nexit 0\n' >"$f" && chmod 755 "$f" && "$f"; } || echo "%s: no program can be run from it"
rm -f "$f"
echo .`, compose.RuntimePath, name, compose.RuntimePath)
	answer, err := p.run(ctx, pod, "", script.String(), nil)
	if err != nil {
		return err
	}
	faults, whole := strings.CutSuffix(strings.TrimSpace(answer), ".")
	if !whole {
		return &Error{Reason: StreamBroken, Message: fmt.Sprintf("the answer was cut off: %q", answer)}
	}
	if faults = strings.TrimSpace(faults); faults != "" {
		path, _, _ := strings.Cut(faults, ":")
		return &Error{Reason: NotWritable, Subject: path, Message: strings.ReplaceAll(faults, "\n", "; ")}
	}
	o.message = "the main container's user can use " + strings.Join(compose.OwnedPaths(), ", ")
	return nil
}

// forwardRoundTrip dials the control port. Nothing listens there, and no listener can be made of the tools that an image must
// have, so the proof is the node's refusal: it tried the port in the Pod's network, and its words came back. That data flows
// both ways over the same streams is left to the first session.
func (p *probe) forwardRoundTrip(ctx context.Context, pod *created, t Transport, o *outcome) error {
	forward, err := p.client.OpenForward(ctx, p.options.Namespace, pod.admitted.GetName(), t)
	if err != nil {
		return p.diagnosed(ctx, pod, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = forward.Close() })
	defer stop()
	defer forward.Close() //nolint:errcheck // nothing is sent
	answer, err := within(ctx, func() (string, error) {
		conn, err := forward.Dial(compose.ControlPort)
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(conn)
		return string(data), err
	}, nil)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		if !strings.Contains(strings.ToLower(refused.Message), "refused") {
			return &Error{Reason: StreamBroken, Message: refused.Message, cause: err}
		}
		o.message = "the node tried the control port and sent back that nothing listens yet"
		return nil
	}
	if err != nil {
		return p.diagnosed(ctx, pod, streamError(err))
	}
	return &Error{Reason: StreamBroken, Message: fmt.Sprintf("nothing should listen on port %d, and %d bytes came from it", compose.ControlPort, len(answer))}
}

// logs reads the main container's log.
func (p *probe) logs(ctx context.Context, pod *created, o *outcome) error {
	ctx, cancel := p.client.bounded(ctx)
	defer cancel()
	err := p.client.rest.Get().Namespace(p.options.Namespace).Resource(podResource).Name(pod.admitted.GetName()).SubResource("log").
		VersionedParams(&corev1.PodLogOptions{Container: p.options.Profile.MainContainer, LimitBytes: new(int64(1024))}, parameters()).
		Do(ctx).Error()
	o.message = "the log can be read"
	return classify(err)
}

// diagnosed explains a stream's error by the Pod's state, where that is the cause: the container may have ended meanwhile, which
// the API tells a little later than the stream.
func (p *probe) diagnosed(ctx context.Context, pod *created, err error) error {
	switch reasonOf(err) {
	case ExecFailed, StreamBroken, NotFound:
	default:
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	state := follow(ctx, p.client, placeOf(podResource, pod.admitted), pod.admitted.GetUID(), func(current *corev1.Pod) (bool, error) {
		if _, fault := inspect(current, p.options.Profile.MainContainer); fault != nil {
			return true, fault.err
		}
		return false, nil
	})
	if errors.Is(state, errGone) {
		return &Error{Reason: Vanished, Message: "the Pod was deleted by someone else", cause: err}
	}
	if e, ok := errors.AsType[*Error](state); ok {
		return e
	}
	return err
}

// settleTime is how long the API may take to tell what the node has done, at most.
const settleTime = 5 * time.Second

// lockedBuffer is written by a stream that may outlive the call that read it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps what a short answer needs, and drops the rest.
func (l *lockedBuffer) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < maxAnswer {
		l.b.Write(data)
	}
	return len(data), nil
}

// maxAnswer is the longest answer that is kept, about, in bytes.
const maxAnswer = 64 << 10

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
