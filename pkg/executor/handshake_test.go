package executor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestQuestionIsLost: a question for the agent's health that nobody answers is given up, and asked again.
func TestQuestionIsLost(t *testing.T) {
	const nonce = "n0nce"
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			<-r.Context().Done() // the client has gone
			return
		}
		w.Header().Set(ProofHeader, Proof(nonce, r.Header.Get(ChallengeHeader)))
	})
	mux.HandleFunc("POST /auth/handshake", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"token":"t0ken"}`) })
	agent := httptest.NewServer(mux)
	defer agent.Close()
	token, err := HTTPHandshake{}.Shake(t.Context(), agent.Listener.Addr().String(), nonce)
	if token != "t0ken" || err != nil || asked.Load() != 2 {
		t.Errorf("%q, %v, asked %d times", token, err, asked.Load())
	}
}
