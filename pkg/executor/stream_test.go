package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/exec"
)

// status is the body of an API server's error.
func status(code int, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
}

// TestNotUpgraded says what the answers mean that come in place of a stream, over both transports and for exec and forward alike.
func TestNotUpgraded(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    Reason
		said    string
	}{
		"a proxy that takes the upgrade's headers away": {
			answer(400, "application/json", status(400, "Upgrade request required")), StreamRefused, "Upgrade request required",
		},
		"a proxy's own page":  {answer(502, "text/html", "<h1>bad gateway</h1>"), StreamRefused, "bad gateway"},
		"a missing right":     {answer(403, "application/json", status(403, `pods "kandev-1" is forbidden: User "alice" cannot create resource "pods/exec"`)), Forbidden, "alice"},
		"no such Pod":         {answer(404, "application/json", status(404, `pods "kandev-1" not found`)), NotFound, "not found"},
		"wrong credentials":   {answer(401, "application/json", status(401, "Unauthorized")), Unauthenticated, "Unauthorized"},
		"an unreachable node": {answer(500, "application/json", status(500, "error dialing backend: dial tcp 10.0.0.1:10250: i/o timeout")), ExecFailed, "10.0.0.1"},
	} {
		for _, transport := range []Transport{WebSocket, SPDY, ""} {
			t.Run(name+" by "+string(transport), func(t *testing.T) {
				client := clientOf(t, c.handler)
				err := client.Exec(t.Context(), ExecOptions{Namespace: "agents", Pod: "kandev-1", Container: "c", Command: []string{"true"}, Stdout: io.Discard, Transport: transport})
				if reasonOf(err) != c.want || !strings.Contains(err.Error(), c.said) {
					t.Errorf("exec: %s: %v", reasonOf(err), err)
				}
				_, err = client.OpenForward(t.Context(), "agents", "kandev-1", transport)
				if reasonOf(err) != c.want || !strings.Contains(err.Error(), c.said) {
					t.Errorf("forward: %s: %v", reasonOf(err), err)
				}
			})
		}
	}
}

// TestFallback: SPDY is tried where the upgrade to WebSocket was refused, and not where the API server has spoken.
func TestFallback(t *testing.T) {
	for code, want := range map[int]string{400: "GET POST", 502: "GET POST", 401: "GET", 403: "GET", 404: "GET"} {
		var methods []string
		client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			methods = append(methods, r.Method)
			answer(code, "application/json", status(code, "no"))(w, r)
		})
		_ = client.Exec(t.Context(), ExecOptions{Namespace: "agents", Pod: "kandev-1", Container: "c", Command: []string{"true"}, Stdout: io.Discard})
		if got := strings.Join(methods, " "); got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

// TestOpeningIsBounded: a server that takes the connection and says nothing holds nobody up, whatever client-go does.
func TestOpeningIsBounded(t *testing.T) {
	stall := make(chan struct{})
	defer close(stall)
	client := clientOf(t, func(http.ResponseWriter, *http.Request) { <-stall })
	client.timeout = 20 * time.Millisecond
	for _, transport := range []Transport{WebSocket, SPDY} {
		err := client.Exec(t.Context(), ExecOptions{Namespace: "agents", Pod: "kandev-1", Container: "c", Command: []string{"true"}, Stdout: io.Discard, Transport: transport})
		if reasonOf(err) != StreamBroken || !strings.Contains(err.Error(), errRequestTimeout.Error()) {
			t.Errorf("exec by %s: %v", transport, err)
		}
		if _, err := client.OpenForward(t.Context(), "agents", "kandev-1", transport); reasonOf(err) != StreamBroken || !strings.Contains(err.Error(), errRequestTimeout.Error()) {
			t.Errorf("forward by %s: %v", transport, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := client.OpenForward(ctx, "agents", "kandev-1", transport); reasonOf(err) != Interrupted {
			t.Errorf("interrupted forward by %s: %v", transport, err)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Reason
	}{
		"the node's words":  {errors.New(`container not found ("kandev-agent")`), ExecFailed},
		"cut off":           {fmt.Errorf("next reader: %w", io.ErrUnexpectedEOF), StreamBroken},
		"at the end":        {io.EOF, StreamBroken},
		"protocol":          {errors.New("error stream protocol error: unknown error"), StreamBroken},
		"interrupted":       {context.Canceled, Interrupted},
		"classified before": {&Error{Reason: Forbidden}, Forbidden},
	} {
		if got := reasonOf(streamError(c.err)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	exit, ok := errors.AsType[*ExitError](streamError(exec.CodeExitError{Err: errors.New("x"), Code: 3}))
	if !ok || exit.Code != 3 {
		t.Errorf("%v", exit)
	}
	if err := streamError(nil); err != nil {
		t.Error(err)
	}
}

// TestWithin: what comes after the caller has gone is closed.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release, closed := make(chan struct{}), make(chan int)
	cancel()
	if _, err := within(ctx, func() (int, error) { <-release; return 7, nil }, func(late int) { closed <- late }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(release)
	if late := <-closed; late != 7 {
		t.Error(late)
	}
}
