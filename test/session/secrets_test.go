package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// evidence is everything that a session leaves outside its Pod, by where it was found.
type evidence struct {
	mu    sync.Mutex
	found map[string]*bytes.Buffer
}

// at returns a writer for what is found in a place.
func (e *evidence) at(place string) evidenceWriter { return evidenceWriter{e, place} }

type evidenceWriter struct {
	e     *evidence
	place string
}

func (w evidenceWriter) Write(p []byte) (int, error) {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	if w.e.found[w.place] == nil {
		w.e.found[w.place] = &bytes.Buffer{}
	}
	return w.e.found[w.place].Write(p)
}

// Start makes the evidence the executor's telemetry.
func (e *evidence) Start(ctx context.Context, operation, instanceID string) (context.Context, func(error)) {
	_, _ = fmt.Fprintln(e.at("telemetry"), operation, instanceID)
	return ctx, func(err error) { e.err("telemetry", err) }
}

// err takes an error, in every form in which it can be printed, and its causes.
func (e *evidence) err(place string, err error) {
	for ; err != nil; err = errors.Unwrap(err) {
		text, _ := json.Marshal(err)
		_, _ = fmt.Fprintf(e.at(place), "%v\n%+v\n%#v\n%s\n", err, err, err, text)
	}
}

// demand fails where a place holds a secret, and where it does not hold what shows that it was looked at.
func (e *evidence) demand(t *testing.T, secrets []string, shown map[string]string) {
	t.Helper()
	for place, text := range shown {
		if e.found[place] == nil || !bytes.Contains(e.found[place].Bytes(), []byte(text)) {
			t.Errorf("%s does not hold %q", place, text)
		}
	}
	for place, content := range e.found {
		n := 0
		for _, secret := range secrets {
			n += count(content.Bytes(), secret)
		}
		t.Logf("%s: %d bytes, %d hits", place, content.Len(), n)
		if n > 0 {
			t.Errorf("%s holds secrets", place)
		}
	}
}

// count counts a secret as it is, in hexadecimal, and in base64 at each of the three places of its beginning.
func count(in []byte, secret string) int {
	n := bytes.Count(in, []byte(secret)) + bytes.Count(in, []byte(hex.EncodeToString([]byte(secret))))
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		// The first characters hold what comes before, the last what comes after.
		n += bytes.Count(in, []byte(text[(before*4+2)/3:len(text)-1]))
	}
	return n
}

func TestCount(t *testing.T) {
	for _, before := range []string{"", "a", "ab", "abc"} {
		text := before + canary + " and more"
		for name, encoded := range map[string]string{
			"plain": text, "hex": hex.EncodeToString([]byte(text)), "base64": base64.StdEncoding.EncodeToString([]byte(text)),
		} {
			if n := count([]byte(encoded), canary); n != 1 {
				t.Errorf("%s after %q: %d", name, before, n)
			}
		}
	}
	if n := count([]byte("canary"), canary); n != 0 {
		t.Error(n)
	}
}

// secretMaterial has the canary in everything that a session is given.
func secretMaterial(agent []byte, prepare string) executor.Material {
	secret := bootstrap.EnvVar{Name: "API_KEY", Value: canary}
	return executor.Material{
		Agent:      upload.NewBlob(slices.Concat(agent, []byte(canary))),
		RuntimeEnv: []bootstrap.EnvVar{{Name: "SETTING", Value: canary}},
		AuthEnv:    []bootstrap.EnvVar{secret},
		Files:      []upload.File{{Path: bootstrap.HomePath + "/.netrc", Mode: 0o600, Content: upload.NewBlob([]byte("password " + canary + "\n"))}},
		Prepare:    upload.NewBlob([]byte("echo " + canary + "; echo " + canary + " >&2\n" + prepare)),
	}
}

// TestSecrets runs sessions that are given a credential in every way, some of their requests failing, and looks for it everywhere but
// in the Pod.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	at, err := agentFile()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	found := &evidence{found: map[string]*bytes.Buffer{}}
	klog.LogToStderr(false)
	klog.SetOutput(found.at("client-go's log"))
	defer klog.LogToStderr(true)
	s := newSeed(t)
	e, finish := w.watched(found, s)
	plain := w.executorFor(found, w.cluster.Config(), "plain")
	secrets := append(w.leaves(plain, found, "secret", secretMaterial(agent, "")), canary)
	if len(secrets) == 1 {
		t.Fatal("no request failed, and the session does not run")
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	for n := range 6 {
		running.Go(func() {
			made := w.leaves(e, found, fmt.Sprintf("secret-%d", n), secretMaterial(agent, ""))
			mu.Lock()
			defer mu.Unlock()
			secrets = append(secrets, made...)
		})
	}
	running.Wait()
	r, err := request("secret-fails", w.agent, compose.EmptyDir)
	if err != nil {
		t.Fatal(err)
	}
	r.Material = secretMaterial(agent, "exit 3\n")
	_, err = plain.Launch(t.Context(), r)
	w.wantReason(err, executor.PrepareFailed)
	found.err("errors", err)
	finish()
	logs, err := filepath.Glob(strings.TrimSuffix(w.cluster.AuditLog(), ".log") + "*.log") // a full one is set aside
	if err != nil || len(logs) == 0 {
		t.Fatalf("%v %v", logs, err)
	}
	for _, log := range logs {
		audit, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = found.at("audit log").Write(audit)
	}
	pod := compose.Identity{InstanceID: "secret"}.PodName()
	found.demand(t, secrets, map[string]string{
		"pods": pod, "persistentvolumeclaims": pod, "events": pod, "configmaps": "kube-root-ca.crt",
		"audit log": "/" + pod + "/exec?", "inventory": "secret", "log": "secret", "observed": "secret", "telemetry": "launch secret",
		"errors": "status 3", "sessions": "secret",
	})
	t.Logf("looked for %d secrets", len(secrets))
}

// watched returns a backend whose requests fail at times, and all of whose words are kept. Finish takes its inventory's bytes.
func (w *world) watched(found *evidence, seed uint64) (e *executor.Executor, finish func()) {
	w.t.Helper()
	proxy := newFaultProxy(w.t, w.cluster.Config(), seed)
	proxy.failAtRandom(seed, 12)
	e = w.executorFor(found, proxy.config(), "watched")
	return e, func() {
		w.t.Helper()
		files, err := filepath.Glob(w.file + "*")
		if err != nil || len(files) < 2 {
			w.t.Fatal(files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				w.t.Fatal(err)
			}
			_, _ = found.at("inventory").Write(content)
		}
	}
}

// executorFor returns a backend all of whose words are kept.
func (w *world) executorFor(found *evidence, config *rest.Config, owner string) *executor.Executor {
	w.t.Helper()
	client, err := executor.NewClient(config)
	if err != nil {
		w.t.Fatal(err)
	}
	store, err := sqlite.Open(w.t.Context(), w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	e, err := executor.New(executor.Options{
		Client: client, Inventory: store, Owner: owner, Namespace: namespace, Telemetry: found,
		Observe: func(e executor.Event) { _, _ = fmt.Fprintf(found.at("observed"), "%+v\n", e) },
		Logger:  slog.New(slog.NewJSONHandler(found.at("log"), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// leaves runs a session to its end, keeps what it leaves, and returns the secrets that were made for it.
func (w *world) leaves(e *executor.Executor, found *evidence, id string, m executor.Material) (secrets []string) {
	r, err := request(id, m.Agent, compose.ManagedPVC)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	r.Material = m
	s := w.persist(e, r, func(err error) { found.err("errors", err) })
	if s == nil {
		return nil
	}
	defer func() { _ = s.Close() }()
	_, _ = fmt.Fprintf(found.at("sessions"), "%v\n%+v\n%#v\n%+v\n", s, s, s.Row, s.Token)
	text, err := json.Marshal(s)
	if err != nil {
		w.t.Error(err)
	}
	_, _ = found.at("sessions").Write(text)
	var inside bytes.Buffer
	const files = bootstrap.AuthEnvPath + " " + bootstrap.HomePath + "/.netrc " + bootstrap.RuntimeEnvPath + " " + bootstrap.PreparePath
	read := executor.Run{Command: []string{"/bin/sh", "-c", "cat " + files + "; tail -c 100 " + bootstrap.AgentPath}, Stdout: &inside, Stderr: &inside}
	direct := w.executor("inside-" + id)
	if err := direct.Exec(w.t.Context(), id, read); err != nil {
		w.t.Error(err)
	}
	if n := bytes.Count(inside.Bytes(), []byte(canary)); n != 6 {
		w.t.Errorf("%s: the Pod holds %d canaries", id, n)
	}
	_, after, _ := strings.Cut(inside.String(), "AGENTCTL_BOOTSTRAP_NONCE=")
	nonce, _, _ := strings.Cut(after, "\n")
	w.keep(found)
	for range tries {
		if err = e.Cleanup(w.t.Context(), id); err == nil {
			break
		}
		found.err("errors", err)
	}
	if err != nil {
		w.t.Error(err)
	}
	return []string{nonce, s.Token.Reveal()}
}

// keep keeps every object of the namespace.
func (w *world) keep(found *evidence) {
	for _, resource := range []string{"pods", "persistentvolumeclaims", "events", "secrets", "configmaps"} {
		text, err := w.kube.CoreV1().RESTClient().Get().Namespace(metav1.NamespaceDefault).Resource(resource).DoRaw(w.t.Context())
		if err != nil {
			w.t.Error(err)
		}
		_, _ = found.at(resource).Write(text)
	}
}

// tries is how often a backend tries again what failed.
const tries = 10

// persist launches a session, and tries until it runs. It returns nil where a launch was taken back.
func (w *world) persist(e *executor.Executor, r executor.Request, failed func(error)) *executor.Session {
	id := r.Identity.InstanceID
	s, err := e.Launch(w.t.Context(), r)
	launch := err
	for range tries {
		if err == nil {
			return s
		}
		failed(err)
		s, err = e.Resume(w.t.Context(), id, r.Material)
		if errors.Is(err, inventory.ErrNotFound) {
			w.t.Logf("%s was taken back: %v", id, launch)
			w.nothing(e, id)
			return nil
		}
	}
	w.t.Errorf("%s does not run after %d tries: %v", id, tries, err)
	return nil
}
