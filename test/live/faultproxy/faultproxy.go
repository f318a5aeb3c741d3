// Package faultproxy is a TCP proxy that fails on demand. It sees connections and bytes, no requests: what it carries is
// encrypted.
package faultproxy

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
)

// Fault is how a proxy fails.
type Fault string

// The faults. Each ends with Heal.
const (
	Cut    Fault = "cut"    // every connection is reset, and new ones work
	Refuse Fault = "refuse" // every connection is reset, and new ones are refused
	Stall  Fault = "stall"  // nothing goes either way; it goes on at Heal
	Mute   Fault = "mute"   // what the server sends is lost, and its connections are reset at Heal
	Sever  Fault = "sever"  // a connection is reset once the client has sent severAfter bytes over it
)

// severAfter is less than a probe's exec sends, and more than anything else that it does.
const severAfter = 64 << 10

// Faults lists all of them.
func Faults() []Fault { return []Fault{Cut, Refuse, Stall, Mute, Sever} }

// Proxy passes connections on to one address.
type Proxy struct {
	address, target string

	mu       sync.Mutex
	changed  *sync.Cond
	fault    Fault
	closed   bool
	listener net.Listener
	open     map[net.Conn]struct{}
}

// Start starts a proxy that ends with the test.
func Start(t *testing.T, target string) *Proxy {
	t.Helper()
	p := &Proxy{target: target, open: map[net.Conn]struct{}{}}
	p.changed = sync.NewCond(&p.mu)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address, p.listener = listener.Addr().String(), listener
	go p.accept(listener)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closed = true
		_ = p.listener.Close()
		p.reset()
		p.changed.Broadcast()
	})
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.address }

// Fail begins a fault.
func (p *Proxy) Fail(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	switch f {
	case Cut:
		p.fault = ""
		p.reset()
	case Refuse:
		_ = p.listener.Close()
		p.reset()
	case Stall, Mute, Sever:
	}
	p.changed.Broadcast()
}

// Heal ends a fault.
func (p *Proxy) Heal(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.fault {
	case Refuse:
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.address)
		if err != nil {
			t.Error(err)
			return
		}
		p.listener = listener
		go p.accept(listener)
	case Mute:
		p.reset()
	case Cut, Stall, Sever:
	}
	p.fault = ""
	p.changed.Broadcast()
}

// reset resets every connection.
func (p *Proxy) reset() {
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
		delete(p.open, c)
	}
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		go p.carry(client, server, true, Stall)
		go p.carry(server, client, false, Stall, Mute)
	}
}

// carry copies one direction, which some faults hold up.
func (p *Proxy) carry(from, to net.Conn, upward bool, holdUp ...Fault) {
	defer p.end(from, to)
	buf := make([]byte, 32<<10)
	sent := 0
	for {
		n, err := from.Read(buf)
		sent += n
		if n > 0 {
			if upward && sent > severAfter && p.is(Sever) {
				return
			}
			p.await(holdUp)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) is(f Fault) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault == f
}

// await waits for the end of the faults that hold a direction up.
func (p *Proxy) await(holdUp []Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && slices.Contains(holdUp, p.fault) {
		p.changed.Wait()
	}
}

func (p *Proxy) end(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if tcp, ok := c.(*net.TCPConn); ok && p.fault == Sever {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
		delete(p.open, c)
	}
}
