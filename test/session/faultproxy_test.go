package session

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// clientTimeout is the request timeout of a client behind a faultProxy: far more than a request takes.
const clientTimeout = 3 * time.Second

// faultProxy is a reverse proxy before the API server that sees every request, over HTTP/2 and as an upgrade, and lets some fail.
type faultProxy struct {
	server            *httptest.Server
	target            *url.URL
	requests, streams http.RoundTripper // streams are upgrades, which HTTP/2 has not

	mu       sync.Mutex
	rng      *rand.Rand
	choose   func(n int, c carried) fault // what becomes of a request; nil is nothing
	seen     []carried
	failed   int            // by chance
	accepted map[string]int // how many objects of a resource the API server created
}

// carried is a request as the proxy sees it.
type carried struct {
	method, path  string
	watch, stream bool
}

func (c carried) String() string { return c.method + " " + c.path }

// creates reports whether a request creates an object.
func (c carried) creates() bool { return c.method == http.MethodPost && !c.stream }

// fault is what becomes of a request in place of being answered.
type fault func(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried)

// namedFault is a fault, and the requests that it can befall; nil is all.
type namedFault struct {
	name string
	do   fault
	fits func(carried) bool
	// undone says that the API server never gets the request.
	undone bool
}

// faults lists every fault.
func faults() []namedFault {
	all := []namedFault{
		{name: "lost-request", do: loseRequest, undone: true},
		{name: "lost-response", do: loseResponse},
		{name: "reset", do: reset, undone: true},
		{name: "late", do: late},
		{name: "truncated", do: truncate},
		{name: "severed", do: sever, fits: func(c carried) bool { return c.stream }},
		{name: "muted", do: mute, fits: func(c carried) bool { return c.stream }},
		{name: "twice", do: twice, fits: func(c carried) bool { return !c.stream && !c.watch }},
	}
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		for _, retry := range []string{"", "1"} {
			name := strconv.Itoa(status)
			if retry != "" {
				name += "-retry"
			}
			all = append(all, namedFault{name: name, do: refuse(status, retry), undone: true})
			if status == http.StatusInternalServerError || status == http.StatusGatewayTimeout {
				all = append(all, namedFault{name: name + "-done", do: doAndRefuse(status, retry), fits: func(c carried) bool { return !c.stream && !c.watch }})
			}
		}
	}
	return all
}

// newFaultProxy starts a proxy before an API server. It ends with the test, or with close.
func newFaultProxy(t *testing.T, to *rest.Config, seed uint64) *faultProxy {
	t.Helper()
	p := &faultProxy{rng: rand.New(rand.NewPCG(seed, 0)), accepted: map[string]int{}}
	var err error
	if p.target, err = url.Parse(to.Host); err != nil {
		t.Fatal(err)
	}
	if p.requests, err = rest.TransportFor(to); err != nil {
		t.Fatal(err)
	}
	upgrading := rest.CopyConfig(to)
	upgrading.NextProtos = []string{"http/1.1"}
	if p.streams, err = rest.TransportFor(upgrading); err != nil {
		t.Fatal(err)
	}
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = true
	p.server.Config.ErrorLog = discard
	p.server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	p.server.StartTLS()
	t.Cleanup(p.close)
	return p
}

type connKey struct{}

// close ends the proxy, which its test still holds, and what it remembers.
func (p *faultProxy) close() {
	p.mu.Lock()
	p.seen = nil
	p.mu.Unlock()
	p.server.CloseClientConnections()
	p.server.Close()
}

// config is that of a client behind the proxy.
func (p *faultProxy) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	return &rest.Config{Host: p.server.URL, Timeout: clientTimeout, TLSClientConfig: rest.TLSClientConfig{CAData: ca, ServerName: "example.com"}}
}

// failAt lets one request fail, and no other: the nth, counted from 1.
func (p *faultProxy) failAt(at int, f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choose = func(n int, _ carried) fault {
		if n == at {
			return f
		}
		return nil
	}
}

// failAtRandom lets one in so many requests fail, in any way.
func (p *faultProxy) failAtRandom(seed uint64, oneIn int) {
	rng, all := rand.New(rand.NewPCG(seed, 3)), faults()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choose = func(_ int, c carried) fault {
		f := all[rng.IntN(len(all))]
		if rng.IntN(oneIn) > 0 || f.fits != nil && !f.fits(c) {
			return nil
		}
		p.failed++
		return f.do
	}
}

// past returns what was carried.
func (p *faultProxy) past() []carried {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]carried(nil), p.seen...)
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watching, _ := strconv.ParseBool(r.URL.Query().Get("watch"))
	c := carried{method: r.Method, path: strings.Clone(r.URL.Path), watch: watching, stream: r.Header.Get("Upgrade") != ""}
	p.mu.Lock()
	p.seen = append(p.seen, c)
	var f fault
	if p.choose != nil {
		f = p.choose(len(p.seen), c)
	}
	p.mu.Unlock()
	if f != nil {
		f(p, w, r, c)
		return
	}
	p.forward(w, r, c, nil)
}

// forward carries a request as it is, and changes the response where it is asked to.
func (p *faultProxy) forward(w http.ResponseWriter, r *http.Request, c carried, change func(*http.Response) error) {
	(&httputil.ReverseProxy{
		Rewrite:        func(out *httputil.ProxyRequest) { out.SetURL(p.target) },
		Transport:      carrier{p, c},
		FlushInterval:  -1,
		ModifyResponse: change,
		ErrorLog:       discard,
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, _ error) { // the API server is away: so is the connection to it
			hangUp(r)
		},
	}).ServeHTTP(w, r)
}

// carrier sends what the proxy was sent.
type carrier struct {
	p *faultProxy
	c carried
}

func (t carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	transport := t.p.requests
	if t.c.stream {
		transport = t.p.streams
	}
	answer, err := transport.RoundTrip(r)
	if err == nil && t.c.creates() && answer.StatusCode == http.StatusCreated {
		t.p.mu.Lock()
		t.p.accepted[t.c.path]++
		t.p.mu.Unlock()
	}
	return answer, err
}

// reply is an answer of the API server, read whole; a watch's or a stream's has no body.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// deliver has the API server carry a request out, whatever becomes of the client, and returns its answer.
func (p *faultProxy) deliver(r *http.Request, c carried) (reply, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return reply{}, err
	}
	// Nothing waits for what is never read, and a watch or a stream ends with its request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	out := r.Clone(ctx)
	out.RequestURI, out.URL.Scheme, out.URL.Host, out.Host = "", p.target.Scheme, p.target.Host, p.target.Host
	out.Body = io.NopCloser(bytes.NewReader(body))
	answer, err := carrier{p, c}.RoundTrip(out)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	all := reply{status: answer.StatusCode, header: answer.Header}
	if !c.watch && !c.stream {
		all.body, err = io.ReadAll(answer.Body)
	}
	return all, err
}

// write sends an answer to the client.
func (r reply) write(w http.ResponseWriter) {
	for key, values := range r.header {
		w.Header()[key] = values
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// hangUp resets the client's connection.
func hangUp(r *http.Request) {
	if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secure.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// loseRequest lets nobody have the request.
func loseRequest(_ *faultProxy, _ http.ResponseWriter, r *http.Request, _ carried) {
	select {
	case <-r.Context().Done():
	case <-time.After(2 * time.Minute):
	}
	hangUp(r)
}

// loseResponse has the request carried out, and the client sees a reset.
func loseResponse(p *faultProxy, _ http.ResponseWriter, r *http.Request, c carried) {
	_, _ = p.deliver(r, c)
	hangUp(r)
}

func reset(_ *faultProxy, _ http.ResponseWriter, r *http.Request, _ carried) { hangUp(r) }

// late has the request carried out when the client has given it up.
func late(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		hangUp(r)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	time.Sleep(clientTimeout + 500*time.Millisecond)
	if c.watch && r.Context().Err() == nil {
		p.forward(w, r, c, nil)
		return
	}
	answer, err := p.deliver(r, c)
	if err != nil || r.Context().Err() != nil || c.stream {
		hangUp(r)
	}
	answer.write(w)
}

// twice has the request carried out two times, and the client sees the second answer.
func twice(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		hangUp(r)
	}
	var answer reply
	for range 2 {
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answer, err = p.deliver(r, c); err != nil {
			hangUp(r)
		}
	}
	answer.write(w)
}

// refuse answers in the API server's place.
func refuse(status int, retryAfter string) fault {
	return func(_ *faultProxy, w http.ResponseWriter, _ *http.Request, _ carried) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, "the fault of a test", status)
	}
}

// doAndRefuse has the request carried out, and says that it was not.
func doAndRefuse(status int, retryAfter string) fault {
	return func(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
		_, _ = p.deliver(r, c)
		refuse(status, retryAfter)(p, w, r, c)
	}
}

// truncate ends what the client is sent in its midst: an answer half-way, a watch or a stream after some bytes.
func truncate(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
	if c.watch || c.stream {
		p.cut(w, r, c, 1+p.random(80), -1)
		return
	}
	p.forward(w, r, c, func(answer *http.Response) error {
		content, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(content[:len(content)/2]), brokenReader{}))
		return nil
	})
}

// sever ends what the client sends over a stream in its midst.
func sever(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
	p.cut(w, r, c, -1, 1+p.random(20_000))
}

// mute leaves a stream open over which nothing more comes after some bytes.
func mute(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
	muteAfter(p.random(400), nil)(p, w, r, c)
}

// muteAfter lets a stream fall silent after some bytes, or once hush is closed; -1 is no end.
func muteAfter(bytes int, hush <-chan struct{}) fault {
	return func(p *faultProxy, w http.ResponseWriter, r *http.Request, c carried) {
		p.forward(w, r, c, func(answer *http.Response) error {
			if both, ok := answer.Body.(io.ReadWriteCloser); ok {
				answer.Body = &muteStream{ReadWriteCloser: both, left: bytes, hush: hush, closed: make(chan struct{})}
			}
			return nil
		})
	}
}

// cut ends a watch or a stream after some bytes from the API server, or to it.
func (p *faultProxy) cut(w http.ResponseWriter, r *http.Request, c carried, down, up int) {
	p.forward(w, r, c, func(answer *http.Response) error {
		if both, ok := answer.Body.(io.ReadWriteCloser); ok {
			answer.Body = &cutStream{both, down, up}
		} else {
			answer.Body = &cutReader{answer.Body, down}
		}
		return nil
	})
}

func (p *faultProxy) random(below int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(below)
}

var errCut = errors.New("cut by a test")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errCut }

// cutReader ends after some bytes.
type cutReader struct {
	io.ReadCloser
	left int
}

func (c *cutReader) Read(b []byte) (int, error) { return readSome(c.ReadCloser, b, &c.left) }

// cutStream is a stream that ends after some bytes in one direction; -1 is no end.
type cutStream struct {
	io.ReadWriteCloser
	down, up int
}

func (c *cutStream) Read(b []byte) (int, error) { return readSome(c.ReadWriteCloser, b, &c.down) }

func (c *cutStream) Write(b []byte) (int, error) {
	if c.up < 0 || len(b) <= c.up {
		n, err := c.ReadWriteCloser.Write(b)
		if c.up >= 0 {
			c.up -= n
		}
		return n, err
	}
	n, _ := c.ReadWriteCloser.Write(b[:c.up])
	c.up = 0
	return n, errCut
}

// muteStream is a stream that falls silent.
type muteStream struct {
	io.ReadWriteCloser
	left   int
	hush   <-chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (m *muteStream) Read(b []byte) (int, error) {
	if m.left != 0 {
		n, err := readSome(m.ReadWriteCloser, b, &m.left)
		select {
		case <-m.hush:
		default:
			return n, err
		}
	}
	<-m.closed
	return 0, errCut
}

func (m *muteStream) Close() error {
	m.once.Do(func() { close(m.closed) })
	return m.ReadWriteCloser.Close()
}

func readSome(from io.Reader, b []byte, left *int) (int, error) {
	if *left < 0 {
		return from.Read(b)
	}
	if *left == 0 {
		return 0, errCut
	}
	n, err := from.Read(b[:min(len(b), *left)])
	*left -= n
	return n, err
}

// onlyTouched demands that every request that changes something named an object of the instance, or created one.
func (p *faultProxy) onlyTouched(t *testing.T, names ...string) {
	t.Helper()
	for _, c := range p.past() {
		if c.method == http.MethodGet || c.creates() {
			continue
		}
		ours := false
		for _, name := range names {
			ours = ours || strings.HasSuffix(c.path, "/"+name) || strings.Contains(c.path, "/"+name+"/")
		}
		if !ours {
			t.Errorf("%s touches what is not of the session", c)
		}
	}
}

// onceAccepted demands that the API server created no two objects of a kind.
func (p *faultProxy) onceAccepted(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, n := range p.accepted {
		if n > 1 {
			t.Error(fmt.Errorf("%d creates were accepted at %s", n, path))
		}
	}
}
