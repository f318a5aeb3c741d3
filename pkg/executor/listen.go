package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxConnections is how many connections a Listener carries at once; further ones wait in the kernel's queue.
const maxConnections = 256

// Target is a port of one Pod and no other of its name.
type Target struct {
	Namespace string
	Pod       string
	UID       types.UID
	Port      int32
}

// Listener reaches a Pod's port from this machine. It listens on 127.0.0.1 alone, and goes on listening whatever becomes of
// the connections to the API server: a refused or reset connection, a restart of the API server or of the Pod's container ends
// what it carried and nothing more. client-go's own forwarder ends with the first of those and gives its port away.
type Listener struct {
	client   *Client
	target   Target
	listener net.Listener
	ctx      context.Context //nolint:containedctx // the Listener's own life
	stop     context.CancelFunc
	slots    chan struct{}
	lost     func(error) // is told that the Pod of the UID is no more; nil is nobody
	serving  sync.WaitGroup

	mu      sync.Mutex
	current *sharedForward // what new connections are carried by, nil before the first and after it broke
	all     map[*sharedForward]bool
}

// sharedForward is a connection to the Pod that carries any number of others.
type sharedForward struct {
	*Forward
	users   int
	retired bool // it carries what it carries, and nothing new
}

// Listen starts listening on a free port, or on the one given. The context bounds the call, not the Listener, which lives
// until Close. Nothing is sent before somebody connects.
func (c *Client) Listen(ctx context.Context, target Target, port int) (*Listener, error) {
	return c.listen(ctx, target, port, nil)
}

func (c *Client) listen(ctx context.Context, target Target, port int, lost func(error)) (*Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen for %s/%s: %w", target.Namespace, target.Pod, err)
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Listener{client: c, target: target, listener: listener, ctx: life, stop: stop, slots: make(chan struct{}, maxConnections), lost: lost, all: map[*sharedForward]bool{}}
	l.serving.Go(l.accept)
	return l, nil
}

// open opens the connection to the API server before somebody needs it.
func (l *Listener) open() {
	l.serving.Go(func() {
		if by, err := l.acquire(); err == nil {
			l.release(by)
		}
	})
}

// Addr returns the address, 127.0.0.1:PORT.
func (l *Listener) Addr() string { return l.listener.Addr().String() }

// Close ends the Listener and everything that it carries.
func (l *Listener) Close() error {
	l.stop()
	err := l.listener.Close()
	l.mu.Lock()
	for s := range l.all {
		_ = s.Close()
	}
	l.mu.Unlock()
	l.serving.Wait()
	return err
}

// accept takes connections as long as there is room.
func (l *Listener) accept() {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		local, err := l.listener.Accept()
		if err != nil {
			<-l.slots
			if l.ctx.Err() != nil {
				return
			}
			wait(l.ctx, pause) // out of file descriptors, which others may free
			continue
		}
		l.serving.Go(func() {
			defer func() { <-l.slots }()
			l.carry(local.(*net.TCPConn))
		})
	}
}

// carry joins one local connection to the Pod's port. Where that cannot be had, the local side sees a reset, as it would of
// a port that nobody listens on.
func (l *Listener) carry(local *net.TCPConn) {
	defer local.Close() //nolint:errcheck // it is over
	end := context.AfterFunc(l.ctx, func() { _ = local.Close() })
	defer end()
	remote, by, err := l.dial()
	if err != nil {
		_ = local.SetLinger(0)
		return
	}
	defer l.release(by)
	defer remote.Close() //nolint:errcheck // likewise
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		asked, err := io.Copy(remote, local)
		if asked > 0 && !remote.heard.Load() {
			l.retire(by) // who has asked went without an answer: the connection may be dead, and nobody told
		}
		if err != nil {
			_ = remote.Close() // the local side is gone, so nobody waits for an answer
			return
		}
		_ = remote.CloseWrite()
	}()
	if _, err := io.Copy(local, remote); err != nil {
		l.retire(by)
		_ = local.SetLinger(0)
		_ = local.Close()
	} else {
		_ = local.CloseWrite()
	}
	<-sent
}

// dialTimeout bounds the opening of one stream over the shared connection. A node that has refused one may leave the next
// without an answer (seen with containerd 1.6).
const dialTimeout = 5 * time.Second

// dial opens a connection to the port over the shared one, and over a new one where that has broken.
func (l *Listener) dial() (conn *PortConn, by *sharedForward, err error) {
	for range 2 {
		if by, err = l.acquire(); err != nil {
			return nil, nil, err
		}
		ctx, cancel := context.WithTimeoutCause(l.ctx, dialTimeout, errRequestTimeout)
		conn, err = within(ctx, func() (*PortConn, error) { return by.Dial(l.target.Port) }, func(late *PortConn) { _ = late.Close() })
		cancel()
		if err == nil {
			return conn, by, nil
		}
		l.retire(by)
		l.release(by)
	}
	return nil, nil, err
}

// acquire returns the connection that new ones are carried by, opened anew where there is none.
func (l *Listener) acquire() (*sharedForward, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		select {
		case <-l.current.Done():
			l.retireLocked(l.current)
		default:
			l.current.users++
			return l.current, nil
		}
	}
	forward, err := l.client.openExactly(l.ctx, l.target)
	if reason := reasonOf(err); l.lost != nil && (reason == Replaced || reason == NotFound) {
		l.lost(err)
	}
	if err != nil {
		return nil, err
	}
	l.current = &sharedForward{Forward: forward, users: 1}
	l.all[l.current] = true
	return l.current, nil
}

// release gives up the use of a connection. The last one to use a retired connection closes it.
func (l *Listener) release(s *sharedForward) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	l.closeUnused(s)
}

// retire takes a connection out of use for what comes: it broke, or the node has refused something over it.
func (l *Listener) retire(s *sharedForward) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retireLocked(s)
}

func (l *Listener) retireLocked(s *sharedForward) {
	if l.current == s {
		l.current = nil
	}
	s.retired = true
	l.closeUnused(s)
}

func (l *Listener) closeUnused(s *sharedForward) {
	if s.retired && s.users == 0 && l.all[s] {
		delete(l.all, s)
		_ = s.Close()
	}
}

// openExactly opens a connection to the Pod of a UID. The API takes only a name, so the Pod is looked at once the connection
// is there: the one of the UID cannot have come back to a name that was another's meanwhile.
func (c *Client) openExactly(ctx context.Context, target Target) (*Forward, error) {
	forward, err := c.OpenForward(ctx, target.Namespace, target.Pod, "")
	if err != nil {
		return nil, err
	}
	at := place{podResource, target.Namespace, target.Pod}
	pod, err := currently[*corev1.Pod](ctx, c, at)
	if err == nil && pod.UID != target.UID {
		err = replaced(at, pod.UID, target.UID)
	}
	if err != nil {
		return nil, errors.Join(err, forward.Close())
	}
	return forward, nil
}
