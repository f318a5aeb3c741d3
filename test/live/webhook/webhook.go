// Package webhook runs admission webhooks for tests: a real TLS server on loopback, and the configurations that send an
// API server's requests there.
package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Server answers the reviews of any number of webhooks, each at a path of its own.
type Server struct {
	url   string
	ca    []byte
	mu    sync.Mutex
	hooks map[string]Hook
}

// Authority is the certificate that signs the server's, in PEM.
func (s *Server) Authority() []byte { return s.ca }

// Hook answers one review.
type Hook func(*reviewv1.AdmissionRequest) *reviewv1.AdmissionResponse

// Deny is a hook that refuses everything.
func Deny(message string) Hook {
	return func(*reviewv1.AdmissionRequest) *reviewv1.AdmissionResponse {
		return &reviewv1.AdmissionResponse{Result: &metav1.Status{Message: message}}
	}
}

// Patch is a hook that applies a JSON patch to everything.
func Patch(patch string) Hook {
	return func(*reviewv1.AdmissionRequest) *reviewv1.AdmissionResponse {
		return &reviewv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: new(reviewv1.PatchTypeJSONPatch)}
	}
}

// Serve starts a server that ends with the test.
func Serve(t *testing.T) *Server {
	t.Helper()
	certificate, ca := certificate(t)
	s := &Server{ca: ca, hooks: map[string]Hook{}}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}} //nolint:gosec // a test's
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// ServeHTTP answers a review.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hook := s.hooks[r.URL.Path]
	s.mu.Unlock()
	var review reviewv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || hook == nil {
		http.NotFound(w, r)
		return
	}
	review.Response = hook(review.Request)
	review.Response.UID = review.Request.UID
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// Validating registers a validating webhook for the Pods and claims of a namespace, and returns when it is in force.
func (s *Server) Validating(t *testing.T, client kubernetes.Interface, ns, name string, change func(*admissionv1.ValidatingWebhook), hook Hook) {
	t.Helper()
	config := s.add(ns, name, hook)
	w := admissionv1.ValidatingWebhook{
		Name: name, ClientConfig: config, SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		FailurePolicy: new(admissionv1.Fail), TimeoutSeconds: new(int32(2)),
		NamespaceSelector: namespaceSelector(ns), Rules: creates(),
	}
	change(&w)
	hooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := hooks.Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns + "." + name}, Webhooks: []admissionv1.ValidatingWebhook{w},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hooks.Delete(context.Background(), ns+"."+name, metav1.DeleteOptions{}) })
	Await(t, client, ns, func(err error) bool { return err != nil })
}

// Mutating registers a mutating webhook likewise. It is in force when its change shows.
func (s *Server) Mutating(t *testing.T, client kubernetes.Interface, ns, name string, hook Hook) {
	t.Helper()
	var once sync.Once
	called := make(chan struct{})
	config := s.add(ns, name, func(r *reviewv1.AdmissionRequest) *reviewv1.AdmissionResponse {
		once.Do(func() { close(called) })
		return hook(r)
	})
	hooks := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := hooks.Create(t.Context(), &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns + "." + name},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: name, ClientConfig: config, SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			FailurePolicy: new(admissionv1.Fail), NamespaceSelector: namespaceSelector(ns), Rules: creates(),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hooks.Delete(context.Background(), ns+"."+name, metav1.DeleteOptions{}) })
	Await(t, client, ns, func(error) bool {
		select {
		case <-called:
			return true
		default:
			return false
		}
	})
}

func (s *Server) add(ns, name string, hook Hook) admissionv1.WebhookClientConfig {
	path := "/" + ns + "/" + name
	s.mu.Lock()
	s.hooks[path] = hook
	s.mu.Unlock()
	return admissionv1.WebhookClientConfig{URL: new(s.url + path), CABundle: s.ca}
}

func namespaceSelector(ns string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}}
}

func creates() []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods", "persistentvolumeclaims"}},
	}}
}

// Await tries the creation of a Pod until its outcome is as wanted: an API server takes a moment to see a new configuration.
func Await(t *testing.T, client kubernetes.Interface, ns string, wanted func(error) bool) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "await"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if ctx.Err() != nil {
			t.Fatalf("not in force within a minute: %v", err)
		}
		if wanted(err) {
			return
		}
		<-tick.C
	}
}

// certificate makes a certificate for 127.0.0.1 and returns it, and in PEM for those who are to trust it.
func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhooks"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
