// Command mockagent stands in for agentctl: the same files, environment, health, handshake and authorisation, and a few calls
// by which a test sees and changes what the agent would.
package main

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

func main() {
	address := net.JoinHostPort(os.Getenv("AGENTCTL_LISTEN_HOST"), os.Getenv("AGENTCTL_PORT"))
	a := &agent{nonce: os.Getenv("AGENTCTL_BOOTSTRAP_NONCE")}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", a.health)
	mux.HandleFunc("POST /auth/handshake", a.handshake)
	mux.HandleFunc("GET /env/{name}", a.authorised(env))
	mux.HandleFunc("GET /file/{path...}", a.authorised(read))
	mux.HandleFunc("PUT /file/{path...}", a.authorised(write))
	mux.HandleFunc("POST /exit", a.authorised(func(http.ResponseWriter, *http.Request) { os.Exit(1) }))
	mux.HandleFunc("POST /echo", a.authorised(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

// agent is one process of the agent: it takes its nonce once.
type agent struct {
	nonce string
	mu    sync.Mutex
	token string
}

func (a *agent) health(w http.ResponseWriter, r *http.Request) {
	if challenge := r.Header.Get(executor.ChallengeHeader); challenge != "" {
		w.Header().Set(executor.ProofHeader, executor.Proof(a.nonce, challenge))
	}
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (a *agent) handshake(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Nonce string `json:"nonce"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&said); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "no nonce"})
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" || subtle.ConstantTimeCompare([]byte(said.Nonce), []byte(a.nonce)) == 0 {
		answer(w, http.StatusForbidden, map[string]string{"error": "the nonce is wrong or was taken"})
		return
	}
	var b [16]byte
	rand.Read(b[:])
	a.token = hex.EncodeToString(b[:])
	answer(w, http.StatusOK, map[string]string{"token": a.token})
}

func (a *agent) authorised(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		want := "Bearer " + a.token
		known := a.token != ""
		a.mu.Unlock()
		if !known || subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) == 0 {
			answer(w, http.StatusUnauthorized, map[string]string{"error": "no token"})
			return
		}
		next(w, r)
	}
}

func env(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, os.Getenv(r.PathValue("name")))
}

func read(w http.ResponseWriter, r *http.Request) {
	http.ServeFile(w, r, filepath.Clean("/"+r.PathValue("path")))
}

func write(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err == nil {
		err = os.WriteFile(filepath.Clean("/"+r.PathValue("path")), content, 0o600)
	}
	if err != nil {
		answer(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
	}
}

func answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
