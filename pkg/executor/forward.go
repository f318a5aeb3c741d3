package executor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// Forward is a connection to a Pod over which its ports are reached. It has no listener: one refused connection ends
// client-go's own forwarder, listener and all.
type Forward struct {
	connection httpstream.Connection
	requests   atomic.Int64
}

// OpenForward opens a connection to a Pod. The client's timeout bounds the opening. The error is an *Error.
func (c *Client) OpenForward(ctx context.Context, namespace, pod string, transport Transport) (*Forward, error) {
	ctx = quiet(ctx)
	dialer, opening, err := c.forwardDialer(ctx, namespace, pod, transport)
	if err != nil {
		return nil, streamError(err)
	}
	connection, err := within(ctx, func() (httpstream.Connection, error) {
		connection, protocol, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		if err == nil && protocol != portforward.PortForwardProtocolV1Name {
			_ = connection.Close()
			err = &Error{Reason: StreamRefused, Message: "no protocol in common: the answer names " + strconv.Quote(protocol)}
		}
		return connection, err
	}, func(late httpstream.Connection) { _ = late.Close() })
	if err != nil {
		return nil, opening.explain(err)
	}
	return &Forward{connection: connection}, nil
}

func (c *Client) forwardDialer(ctx context.Context, namespace, pod string, transport Transport) (httpstream.Dialer, *opening, error) {
	at := c.streamURL(namespace, pod, "portforward", &corev1.PodPortForwardOptions{})
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreamingWithLogger(klog.FromContext(ctx), at, c.streamConfig(ctx))
	if err != nil {
		return nil, nil, err
	}
	opening, upgrader, err := c.spdy(ctx)
	if err != nil {
		return nil, nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: opening}, http.MethodPost, at)
	switch transport {
	case WebSocket:
		return websocket, opening, nil
	case SPDY:
		return old, opening, nil
	}
	return portforward.NewFallbackDialerForStreaming(websocket, old, fallsBack), opening, nil
}

// Close ends the connection and everything dialled over it.
func (f *Forward) Close() error { return f.connection.Close() }

// Done is closed when the connection has ended, whoever ended it.
func (f *Forward) Done() <-chan bool { return f.connection.CloseChan() }

// Dial opens a TCP connection to a port on the Pod's loopback address. That the port is refused shows at the first Read.
// It waits for the other side, up to half a minute.
func (f *Forward) Dial(port int32) (*PortConn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(corev1.PortForwardRequestIDHeader, strconv.FormatInt(f.requests.Add(1), 10))
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failure, err := f.connection.CreateStream(headers)
	if err != nil {
		return nil, streamError(err)
	}
	_ = failure.Close() // nothing is written to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := f.connection.CreateStream(headers)
	if err != nil {
		_ = f.discard(failure)
		return nil, streamError(err)
	}
	p := &PortConn{forward: f, data: data, failure: failure, failed: make(chan struct{})}
	go p.watch()
	return p, nil
}

// PortConn is one TCP connection to a port of a Pod.
type PortConn struct {
	forward       *Forward
	data, failure httpstream.Stream
	heard         atomic.Bool   // something has come from the port
	failed        chan struct{} // closed when the node has no more to say
	text          string        // what it said
	err           error         // why the stream of its words broke
}

// RefusedError is what the node said in place of data: nothing listens on the port, or it cannot be reached.
type RefusedError struct{ Message string }

// Error is the node's own text.
func (e *RefusedError) Error() string { return e.Message }

// watch takes what the node says about the connection.
func (p *PortConn) watch() {
	text, err := io.ReadAll(p.failure)
	p.text, p.err = string(text), err
	close(p.failed)
}

// Read reads what the port sends. At the end it is io.EOF, a *RefusedError when the node could not carry on, or an *Error of
// reason StreamBroken.
func (p *PortConn) Read(b []byte) (int, error) {
	n, err := p.data.Read(b)
	if n > 0 {
		p.heard.Store(true)
	}
	if !errors.Is(err, io.EOF) {
		if err != nil {
			err = streamError(err)
		}
		return n, err
	}
	select {
	case <-p.failed:
	case <-p.forward.Done():
		return n, &Error{Reason: StreamBroken, Message: "the connection ended"}
	}
	switch {
	case p.text != "":
		return n, &RefusedError{Message: p.text}
	case p.err != nil:
		return n, streamError(p.err)
	}
	return n, io.EOF
}

// Write writes to the port.
func (p *PortConn) Write(b []byte) (int, error) {
	n, err := p.data.Write(b)
	if err != nil {
		err = streamError(err)
	}
	return n, err
}

// CloseWrite tells the port that nothing more comes.
func (p *PortConn) CloseWrite() error { return p.data.Close() }

// Close ends both directions.
func (p *PortConn) Close() error { return p.forward.discard(p.data, p.failure) }

// discard ends streams whether or not the other side does: the connection is not over before all of its streams are.
func (f *Forward) discard(streams ...httpstream.Stream) error {
	errs := make([]error, len(streams))
	for n, s := range streams {
		errs[n] = s.Reset()
	}
	f.connection.RemoveStreams(streams...)
	return errors.Join(errs...)
}
