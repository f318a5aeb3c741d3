package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// Transport is the protocol that carries streams.
type Transport string

// The transports. The empty one is WebSocket, or SPDY where the connection cannot be upgraded to WebSocket.
const (
	WebSocket Transport = "websocket"
	SPDY      Transport = "spdy"
)

// ExecOptions say what to run, and where its streams go. A nil stream is closed from the start. Stdout and Stderr may be the same
// writer, as in os/exec: then one is written to it at a time, in no certain order.
type ExecOptions struct {
	Namespace, Pod string
	Container      string // always named: which is the first, admission decides
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal gives the command a terminal, of each size that comes; nil is none. Its one output is Stdout, and Stderr must be nil.
	Terminal  <-chan TerminalSize
	Transport Transport
}

// lockedWriter is where two streams go.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes for one of them.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct{ Width, Height uint16 }

// sizes hand a terminal's sizes on until they or the context end.
type sizes struct {
	ctx context.Context //nolint:containedctx // remotecommand's Next takes none
	of  <-chan TerminalSize
}

// Next waits for the next size.
func (s *sizes) Next() *remotecommand.TerminalSize {
	select {
	case size, ok := <-s.of:
		if !ok {
			return nil
		}
		return (*remotecommand.TerminalSize)(&size)
	case <-s.ctx.Done():
		return nil
	}
}

// ExitError is the error of a command that ended with a status other than 0.
type ExitError struct{ Code int }

// ExitStatus returns the status.
func (e *ExitError) ExitStatus() int { return e.Code }

// Error names the status.
func (e *ExitError) Error() string { return fmt.Sprintf("the command ended with status %d", e.Code) }

// Exec runs a command in a container. The context bounds it as a whole, the client's timeout its beginning.
//
// A nil error is no proof that the command ran to its end, nor that it read all its input: a connection cut in
// mid-stream can look like either. What matters must be acknowledged by the command itself, on its output.
//
// The error is an *ExitError or an *Error. After an error, or the end of the context, the streams may still be in use for a
// moment.
func (c *Client) Exec(ctx context.Context, o ExecOptions) error {
	ctx, end := context.WithCancel(quiet(ctx))
	defer end()
	executor, opening, err := c.executor(ctx, o)
	if err != nil {
		return streamError(err)
	}
	if o.Stdout != nil && reflect.ValueOf(o.Stdout).Comparable() && o.Stdout == o.Stderr {
		both := &lockedWriter{w: o.Stdout}
		o.Stdout, o.Stderr = both, both
	}
	streams := remotecommand.StreamOptions{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr}
	if o.Terminal != nil {
		streams.Tty, streams.TerminalSizeQueue = true, &sizes{ctx, o.Terminal}
	}
	_, err = within(ctx, func() (struct{}, error) { return struct{}{}, executor.StreamWithContext(ctx, streams) }, nil)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return opening.explain(err)
}

// quiet returns a context in which client-go logs nothing: everything that it would say comes back as an error.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.New(nil)) }

func (c *Client) executor(ctx context.Context, o ExecOptions) (remotecommand.Executor, *opening, error) {
	at := c.streamURL(o.Namespace, o.Pod, "exec", &corev1.PodExecOptions{
		Container: o.Container, Command: o.Command,
		Stdin: o.Stdin != nil, Stdout: o.Stdout != nil, Stderr: o.Stderr != nil, TTY: o.Terminal != nil,
	})
	websocket, err := remotecommand.NewWebSocketExecutor(c.streamConfig(ctx), http.MethodGet, at.String())
	if err != nil {
		return nil, nil, err
	}
	opening, upgrader, err := c.spdy(ctx)
	if err != nil {
		return nil, nil, err
	}
	old, err := remotecommand.NewSPDYExecutorForTransports(opening, upgrader, http.MethodPost, at)
	if err != nil {
		return nil, nil, err
	}
	switch o.Transport {
	case WebSocket:
		return websocket, opening, nil
	case SPDY:
		return old, opening, nil
	}
	fallback, err := remotecommand.NewFallbackExecutor(websocket, old, fallsBack)
	return fallback, opening, err
}

// streamURL is the address of a subresource that is upgraded to a stream.
func (c *Client) streamURL(namespace, pod, subresource string, o runtime.Object) *url.URL {
	return c.rest.Post().Namespace(namespace).Resource(podResource).Name(pod).SubResource(subresource).
		VersionedParams(o, parameters()).URL()
}

// fallsBack reports whether SPDY may work where WebSocket did not: the connection was not upgraded, and not because the
// API server knows neither the client nor the Pod.
func fallsBack(err error) bool {
	switch {
	case apierrors.IsUnauthorized(causeOf(err)), apierrors.IsForbidden(causeOf(err)), apierrors.IsNotFound(causeOf(err)):
		return false
	}
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}

// causeOf is the answer that an upgrade got in place of a stream, or the error itself.
func causeOf(err error) error {
	if failure, ok := errors.AsType[*httpstream.UpgradeFailureError](err); ok {
		return failure.Cause
	}
	return err
}

// streamConfig is the configuration for one WebSocket, whose handshake is bounded.
func (c *Client) streamConfig(ctx context.Context) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return &opening{ctx: ctx, rt: rt, timeout: c.timeout} })
	return config
}

// spdy returns what opens one SPDY connection, in bounded time.
func (c *Client) spdy(ctx context.Context) (*opening, spdy.Upgrader, error) {
	transport, upgrader, err := spdy.RoundTripperFor(c.config)
	if err != nil {
		return nil, nil, err
	}
	late := func(answer *http.Response) {
		if connection, err := upgrader.NewConnection(answer); err == nil {
			_ = connection.Close()
		}
	}
	return &opening{ctx: ctx, rt: transport, timeout: c.timeout, late: late}, upgrader, nil
}

// opening bounds the opening of a stream and leaves the stream itself alone. client-go gives up a WebSocket's handshake only
// at a deadline, and waits for the answer to a SPDY upgrade for ever.
type opening struct {
	ctx     context.Context //nolint:containedctx // client-go's port-forward dialers take none
	rt      http.RoundTripper
	timeout time.Duration
	late    func(*http.Response) // closes what was opened too late

	failure atomic.Pointer[Error] // why it could not be opened, which client-go flattens into a text
}

// RoundTrip opens one stream.
func (o *opening) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(o.ctx, o.timeout, errRequestTimeout)
	defer cancel()
	answer, err := within(ctx, func() (*http.Response, error) { return o.rt.RoundTrip(r.WithContext(ctx)) }, o.late)
	if errors.Is(err, os.ErrDeadlineExceeded) { // of the connection, a moment before the context's own
		err = errRequestTimeout
	}
	if err != nil {
		o.failure.Store(broken(err))
	}
	return answer, err
}

// explain classifies an error of a stream that may come from its opening.
func (o *opening) explain(err error) error {
	if failure := o.failure.Load(); failure != nil && err != nil && strings.Contains(err.Error(), "error sending request") {
		return failure
	}
	return streamError(err)
}

// within calls f and stops waiting for it when the context ends; what comes after goes to late. The call itself ends with its
// connection.
func within[T any](ctx context.Context, f func() (T, error), late func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	go func() {
		value, err := f()
		select {
		case done <- result{value, err}:
		case <-ctx.Done():
			if err == nil && late != nil {
				late(value)
			}
		}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// streamError classifies an error of a stream.
func streamError(err error) error {
	if err == nil {
		return nil
	}
	if exit, ok := errors.AsType[exec.CodeExitError](err); ok {
		return &ExitError{Code: exit.Code}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if cause := causeOf(err); cause != err { //nolint:errorlint // is it another one
		return notUpgraded(cause)
	}
	if text, ok := strings.CutPrefix(err.Error(), spdyRefusal); ok {
		return spdyNotUpgraded(text, err)
	}
	if reportedByNode(err) {
		return &Error{Reason: ExecFailed, Message: err.Error(), cause: err}
	}
	return broken(err)
}

// broken classifies a stream that could not be opened, or ended before its time.
func broken(err error) *Error {
	e := ofTransport(err)
	if e.Reason == Ambiguous {
		e.Reason = StreamBroken
	}
	return e
}

// notUpgraded classifies the answer to a WebSocket's handshake that was no stream.
func notUpgraded(cause error) *Error {
	status, ok := errors.AsType[*apierrors.StatusError](cause)
	if !ok {
		return &Error{Reason: StreamRefused, Message: cause.Error(), cause: cause}
	}
	e := ofStatus(status.ErrStatus, cause)
	switch e.Reason {
	case InvalidObject: // a bad request: what asks for the upgrade was removed on the way
		e.Reason = StreamRefused
	case Ambiguous:
		e.Reason = ExecFailed
	}
	return e
}

// spdyRefusal starts the text of a SPDY upgrade that was refused; what follows is the message of the answer, whose kind
// client-go drops (k8s.io/streaming pkg/httpstream/spdy).
const spdyRefusal = "unable to upgrade connection: "

// spdyWords tell the API server's and the kubelet's refusals from those of a proxy.
var spdyWords = []struct {
	words  string
	reason Reason
}{
	{`is forbidden: User "`, Forbidden},
	{"Unauthorized", Unauthenticated},
	{"container not found", ExecFailed},
	{"error dialing backend", ExecFailed},
}

func spdyNotUpgraded(text string, cause error) *Error {
	e := &Error{Reason: StreamRefused, Message: text, cause: cause}
	if regexp.MustCompile(`^pods "[^"]+" not found`).MatchString(text) {
		e.Reason = NotFound
	}
	for _, w := range spdyWords {
		if strings.Contains(text, w.words) {
			e.Reason = w.reason
		}
	}
	return e
}

// reportedByNode reports whether an error is a text that the node sent over the stream, and so no fault of the stream. Those
// of the stream are an error's of another package, or client-go's own (k8s.io/client-go tools/remotecommand).
func reportedByNode(err error) bool {
	for _, own := range []error{io.EOF, io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, errRequestTimeout} {
		if errors.Is(err, own) {
			return false
		}
	}
	return reflect.TypeOf(err) == reflect.TypeOf(io.EOF) && // made of a text alone
		!strings.HasPrefix(err.Error(), "error stream protocol error") && !strings.HasPrefix(err.Error(), "error sending request")
}
