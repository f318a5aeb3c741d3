package executor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Handshake makes the agent and this side known to each other, over a port of this machine that is forwarded to the agent's.
type Handshake interface {
	// Shake waits until the agent answers at address (127.0.0.1:PORT) and exchanges the one-time bootstrap nonce for the token
	// that authorises every later call. It must not send the nonce to somebody who has not shown to know it. A refusal is an
	// *Error of reason AgentRefused: this process of the agent has taken the nonce already.
	Shake(ctx context.Context, address, nonce string) (token string, err error)
}

// HTTPHandshake is the handshake of agentctl: GET /health until it answers, then POST /auth/handshake with the nonce.
//
// What listens on a Pod's loopback may be any of its containers. So /health is asked with a challenge, and must answer with
// a proof that it knows the nonce, before the nonce is sent.
type HTTPHandshake struct {
	// Unproven accepts an agent whose /health gives no proof, as agents before this package do. A wrong proof is never accepted.
	Unproven bool
	// Client sends the requests; nil is one that uses no proxy.
	Client *http.Client
}

// The headers of a challenge and of its proof, 64 lowercase hex digits each.
const (
	ChallengeHeader = "Kandev-Challenge"
	ProofHeader     = "Kandev-Proof"
)

// Proof answers a challenge: the HMAC-SHA256 of its text under the nonce.
func Proof(nonce, challenge string) string {
	mac := hmac.New(sha256.New, []byte(nonce))
	mac.Write([]byte(challenge))
	return hex.EncodeToString(mac.Sum(nil))
}

// answerTime is how long the first question for an agent's health waits for its answer, and each further one twice as long as the
// one before: a question may be lost on its way, and an agent may be slow.
const answerTime = 5 * time.Second

// maxAgentAnswer bounds what an answer of the agent may hold, in bytes.
const maxAgentAnswer = 64 << 10

// noProxy reaches this machine whatever the environment says of proxies.
var noProxy = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Shake waits for the agent, holds it to its proof, and exchanges the nonce for a token.
func (h HTTPHandshake) Shake(ctx context.Context, address, nonce string) (string, error) {
	if err := h.waitHealthy(ctx, address, nonce); err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"nonce": nonce})
	if err != nil {
		return "", err
	}
	// Not as long as the agent may take to start: who has lost the token on its way still has time to start the agent again.
	ctx, cancel := context.WithTimeout(ctx, 4*answerTime)
	defer cancel()
	status, answer, _, err := h.ask(ctx, http.MethodPost, "http://"+address+"/auth/handshake", body, nil)
	if err != nil {
		return "", &Error{Reason: StreamBroken, Message: "the handshake was cut off", cause: err}
	}
	var said struct{ Token, Error string }
	if err := json.Unmarshal(answer, &said); err != nil || status == http.StatusOK && said.Token == "" {
		return "", &Error{Reason: AgentFailed, Message: fmt.Sprintf("the handshake was answered with status %d and no token", status)}
	}
	if status != http.StatusOK {
		return "", &Error{Reason: AgentRefused, Message: fmt.Sprintf("the agent refused the handshake with status %d", status)}
	}
	return said.Token, nil
}

// waitHealthy asks for the agent's health until it answers, more slowly and more patiently each time.
func (h HTTPHandshake) waitHealthy(ctx context.Context, address, nonce string) error {
	const first, slowest = 20 * time.Millisecond, 100 * time.Millisecond
	patience := answerTime
	for between := first; ; between = min(2*between, slowest) {
		challenge := newChallenge()
		asking, cancel := context.WithTimeout(ctx, patience)
		status, _, header, err := h.ask(asking, http.MethodGet, "http://"+address+"/health", nil, http.Header{ChallengeHeader: {challenge}})
		if asking.Err() != nil {
			patience *= 2
		}
		cancel()
		switch {
		case err == nil && status == http.StatusOK:
			return h.checkProof(header.Get(ProofHeader), Proof(nonce, challenge))
		case ctx.Err() != nil:
			return &Error{Reason: AgentFailed, Message: "the agent did not become healthy: " + cmp.Or(sentence(err, status), "no answer"), cause: context.Cause(ctx)}
		}
		wait(ctx, between)
	}
}

func (h HTTPHandshake) checkProof(got, want string) error {
	switch {
	case got == "" && h.Unproven:
		return nil
	case got == "":
		return &Error{Reason: AgentUnproven, Message: "what answers on the control port gives no proof that it is the agent"}
	case !hmac.Equal([]byte(got), []byte(want)):
		return &Error{Reason: AgentUnproven, Message: "what answers on the control port is not the agent: its proof is wrong"}
	}
	return nil
}

// ask sends one request and reads the whole answer.
func (h HTTPHandshake) ask(ctx context.Context, method, at string, body []byte, header http.Header) (int, []byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for key, values := range header {
		r.Header[key] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := cmp.Or(h.Client, noProxy).Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // what was read counts
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxAgentAnswer))
	return answer.StatusCode, content, answer.Header, err
}

// sentence says what the last try met.
func sentence(err error, status int) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ""
	case err != nil:
		return strings.TrimPrefix(innermost(err), "read tcp ")
	}
	return fmt.Sprintf("status %d", status)
}

func newChallenge() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
