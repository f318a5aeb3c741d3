package executor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// clientOf returns a client of a server that is written for one test.
func clientOf(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client(t, server.URL)
}

func client(t *testing.T, host string) *Client {
	t.Helper()
	c, err := NewClient(&rest.Config{Host: host, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func inAgents() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kandev-1", Namespace: "agents"}}
}

// answer is a handler that gives one answer to everything.
func answer(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// TestAnswers classifies answers as kube-apiserver 1.36 gave them; test/live has a real one give them.
func TestAnswers(t *testing.T) {
	const pod = `pods "kandev-1" is forbidden: `
	details := func(kind, name string, causes ...metav1.StatusCause) *metav1.StatusDetails {
		return &metav1.StatusDetails{Kind: kind, Name: name, Causes: causes}
	}
	for name, c := range map[string]struct {
		code    int32
		reason  metav1.StatusReason
		message string
		details *metav1.StatusDetails
		want    Error
	}{
		"pod security": {
			403, metav1.StatusReasonForbidden, pod + `violates PodSecurity "restricted:v1.36": runAsNonRoot != true`, details("pods", "kandev-1"),
			Error{Reason: PodSecurity, Subject: "restricted:v1.36"},
		},
		"quota": {
			403, metav1.StatusReasonForbidden, pod + "exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0", details("pods", "kandev-1"),
			Error{Reason: QuotaExceeded, Subject: "small"},
		},
		"quota wants a value": {
			403, metav1.StatusReasonForbidden, pod + "failed quota: small: must specify limits.cpu for: kandev-agent", details("pods", "kandev-1"),
			Error{Reason: QuotaExceeded, Subject: "small"},
		},
		"quota not counted yet": {
			403, metav1.StatusReasonForbidden, pod + "status unknown for quota: small, resources: pods", details("pods", "kandev-1"),
			Error{Reason: QuotaExceeded, Subject: "small"},
		},
		"quota of a class": {
			403, metav1.StatusReasonForbidden, pod + "insufficient quota to match these scopes: [{PriorityClass In [high]}]", details("pods", "kandev-1"),
			Error{Reason: QuotaExceeded},
		},
		"limit range": {
			403, metav1.StatusReasonForbidden, pod + "maximum cpu usage per Container is 100m, but limit is 500m", details("pods", "kandev-1"),
			Error{Reason: LimitRange},
		},
		"limit ranges": {
			403, metav1.StatusReasonForbidden, pod + "[minimum memory usage per Container is 1Gi, but request is 1Mi, cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000]", details("pods", "kandev-1"),
			Error{Reason: LimitRange},
		},
		"limit ratio": {
			403, metav1.StatusReasonForbidden, pod + "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000", details("pods", "kandev-1"),
			Error{Reason: LimitRange},
		},
		"service account": {
			403, metav1.StatusReasonForbidden, pod + `error looking up service account agents/nobody: serviceaccount "nobody" not found`, details("pods", "kandev-1"),
			Error{Reason: NoService, Subject: "nobody"},
		},
		"runtime class": {
			403, metav1.StatusReasonForbidden, pod + `pod rejected: RuntimeClass "kata" not found`, details("pods", "kandev-1"),
			Error{Reason: NoRuntimeClass, Subject: "kata"},
		},
		"priority class": {
			403, metav1.StatusReasonForbidden, pod + "no PriorityClass with name urgent was found", details("pods", "kandev-1"),
			Error{Reason: NoPriorityClass, Subject: "urgent"},
		},
		"webhook": {
			400, "", `admission webhook "deny.example.com" denied the request: no`, nil,
			Error{Reason: WebhookDenied, Subject: "deny.example.com"},
		},
		"webhook without a word": {
			403, metav1.StatusReasonForbidden, `admission webhook "deny.example.com" denied the request without explanation`, nil,
			Error{Reason: WebhookDenied, Subject: "deny.example.com"},
		},
		"webhook that says 404": {
			404, metav1.StatusReasonNotFound, `admission webhook "deny.example.com" denied the request: namespaces "x" not found`, details("namespaces", "x"),
			Error{Reason: WebhookDenied, Subject: "deny.example.com"},
		},
		"webhook that imitates a quota": {
			403, metav1.StatusReasonForbidden, `admission webhook "deny.example.com" denied the request: pods "x" is forbidden: exceeded quota: q, requested`, nil,
			Error{Reason: WebhookDenied, Subject: "deny.example.com"},
		},
		"webhook unreachable": {
			500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: Post "https://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`, nil,
			Error{Reason: WebhookUnreachable, Subject: "gone.example.com"},
		},
		"admission policy": {
			422, metav1.StatusReasonInvalid, pod + `ValidatingAdmissionPolicy 'images' with binding 'all' denied request: violates PodSecurity "x"`, details("pods", "kandev-1"),
			Error{Reason: PolicyDenied, Subject: "images"},
		},
		"mutating policy": {
			422, metav1.StatusReasonInvalid, pod + `policy 'labels' with binding 'all' denied request: no such key`, details("pods", "kandev-1"),
			Error{Reason: PolicyDenied, Subject: "labels"},
		},
		"invalid": {
			422, metav1.StatusReasonInvalid, `Pod "kandev-1" is invalid: spec.containers[0].image: Required value`,
			details("Pod", "kandev-1", metav1.StatusCause{Type: "FieldValueRequired", Message: "Required value", Field: "spec.containers[0].image"}),
			Error{Reason: InvalidObject, Fields: []FieldError{{"spec.containers[0].image", "Required value"}}},
		},
		"unknown field": {
			400, metav1.StatusReasonBadRequest, `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.x"`, nil,
			Error{Reason: InvalidObject},
		},
		"other plugin": {
			403, metav1.StatusReasonForbidden, pod + "a plugin of this cluster says no", details("pods", "kandev-1"),
			Error{Reason: Denied},
		},
		"rbac": {
			403, metav1.StatusReasonForbidden, `pods is forbidden: User "alice" cannot create resource "pods" in API group "" in the namespace "agents"`, details("pods", ""),
			Error{Reason: Forbidden},
		},
		"namespace ending": {
			403, metav1.StatusReasonForbidden, pod + "unable to create new content in namespace agents because it is being terminated",
			details("pods", "kandev-1", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause, Message: "namespace agents is being terminated", Field: "metadata.namespace"}),
			Error{Reason: NamespaceEnding},
		},
		"no namespace":   {404, metav1.StatusReasonNotFound, `namespaces "agents" not found`, details("namespaces", "agents"), Error{Reason: NoNamespace, Subject: "agents"}},
		"no pod":         {404, metav1.StatusReasonNotFound, `pods "kandev-1" not found`, details("pods", "kandev-1"), Error{Reason: NotFound}},
		"exists":         {409, metav1.StatusReasonAlreadyExists, `pods "kandev-1" already exists`, details("pods", "kandev-1"), Error{Reason: AlreadyExists}},
		"being deleted":  {409, metav1.StatusReasonAlreadyExists, `object is being deleted: persistentvolumeclaims "kandev-1" already exists`, details("persistentvolumeclaims", "kandev-1"), Error{Reason: BeingDeleted}},
		"wrong UID":      {409, metav1.StatusReasonConflict, `Precondition failed: UID in precondition: a, UID in object meta: b`, details("pods", "kandev-1"), Error{Reason: Conflict}},
		"who":            {401, metav1.StatusReasonUnauthorized, "Unauthorized", nil, Error{Reason: Unauthenticated}},
		"throttled":      {429, metav1.StatusReasonTooManyRequests, "too many requests, please try again later", nil, Error{Reason: Throttled}},
		"timeout":        {504, metav1.StatusReasonTimeout, "Timeout: request did not complete within requested timeout - context deadline exceeded", nil, Error{Reason: Ambiguous}},
		"etcd":           {500, "", "etcdserver: request timed out", nil, Error{Reason: Ambiguous}},
		"shutting down":  {503, metav1.StatusReasonServiceUnavailable, "apiserver is shutting down", nil, Error{Reason: Ambiguous}},
		"something else": {405, metav1.StatusReasonMethodNotAllowed, "not now", nil, Error{Reason: ServerError}},
	} {
		t.Run(name, func(t *testing.T) {
			status := metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Code: c.code, Reason: c.reason, Message: c.message, Details: c.details,
			}
			body, err := json.Marshal(status)
			if err != nil {
				t.Fatal(err)
			}
			err = clientOf(t, answer(int(c.code), "application/json", string(body))).create(t.Context(), podResource, inAgents(), &corev1.Pod{}, false)
			got, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%T %v", err, err)
			}
			c.want.Message = c.message
			if diff := cmp.Diff(c.want, Error{Reason: got.Reason, Subject: got.Subject, Message: got.Message, Fields: got.Fields}, cmp.AllowUnexported(Error{})); diff != "" {
				t.Error(diff)
			}
			if !strings.HasSuffix(got.Error(), c.message) {
				t.Errorf("%q does not end with the server's words", got.Error())
			}
		})
	}
}

// TestTransport classifies what comes of a request without an answer of an API server: whether it may have been carried out.
func TestTransport(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	tlsServer := httptest.NewTLSServer(http.NotFoundHandler())
	defer tlsServer.Close()
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	stall := make(chan struct{})
	defer close(stall)
	for name, c := range map[string]struct {
		client *Client
		want   Reason
		said   string
	}{
		"nothing listens":     {client(t, closed.URL), Unreachable, "connection refused"},
		"no such host":        {client(t, "https://nowhere.invalid"), Unreachable, "nowhere.invalid"},
		"unknown authority":   {client(t, tlsServer.URL), Unreachable, "certificate signed by unknown authority"},
		"no TLS":              {client(t, "https://"+clientOf(t, hangUp).Host()[len("http://"):]), Unreachable, "server gave HTTP response to HTTPS client"},
		"the connection ends": {clientOf(t, hangUp), Ambiguous, "EOF"},
		"a proxy's error":     {clientOf(t, answer(502, "text/html", "<h1>bad gateway</h1>")), Ambiguous, "bad gateway"},
		"a proxy's login":     {clientOf(t, answer(200, "text/html", "<h1>log in</h1>")), ServerError, "its answer cannot be read"},
		"a stall": {func() *Client {
			c := clientOf(t, func(http.ResponseWriter, *http.Request) { <-stall })
			c.timeout = 20 * time.Millisecond
			return c
		}(), Ambiguous, "no answer within the request timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.client.create(t.Context(), podResource, inAgents(), &corev1.Pod{}, false)
			got, ok := errors.AsType[*Error](err)
			if !ok || got.Reason != c.want || !strings.Contains(got.Error(), c.said) {
				t.Errorf("%v, want %s and %q", err, c.want, c.said)
			}
			if strings.Contains(err.Error(), "/api/v1") {
				t.Errorf("%q holds the URL", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, closed.URL).GetPod(ctx, "agents", "kandev-1"); reasonOf(err) != Interrupted {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCreateIsSentOnce: client-go would send it again after an answer with Retry-After.
func TestCreateIsSentOnce(t *testing.T) {
	for _, code := range []int{429, 500, 503} {
		requests := 0
		c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("Retry-After", "0")
			answer(code, "text/plain", "later")(w, r)
		})
		if err := c.create(t.Context(), podResource, inAgents(), &corev1.Pod{}, false); err == nil || requests != 1 {
			t.Errorf("%d: %v after %d requests", code, err, requests)
		}
	}
}

// TestStrictRequests: the request asks for strict validation in JSON, and an answer with fields that this version does not know
// is an error, whatever the typed object could hold of it.
func TestStrictRequests(t *testing.T) {
	var query, contentType, agent string
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		query, contentType, agent = r.URL.RawQuery, r.Header.Get("Content-Type"), r.UserAgent()
		w.Header().Add("Warning", `299 - "first"`)
		w.Header().Add("Warning", `299 - "second"`)
		answer(201, "application/json", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"kandev-1"},"spec":{"containers":null,"newField":1}}`)(w, r)
	})
	run, err := c.DryRunPod(t.Context(), inAgents())
	if reasonOf(err) != UnknownFields || !strings.Contains(err.Error(), `unknown field "spec.newField"`) {
		t.Errorf("%v", err)
	}
	if query != "dryRun=All&fieldValidation=Strict" || contentType != "application/json" || agent != "kandev-executor" {
		t.Errorf("%q, %q, %q", query, contentType, agent)
	}
	if diff := cmp.Diff([]string{"first", "second"}, run.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestNewClientKeepsTheConfig(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", QPS: 7, Timeout: time.Second, UserAgent: "backend"}
	before := rest.CopyConfig(config)
	c, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.String(), config.String()); diff != "" {
		t.Error(diff)
	}
	if c.config.QPS != 7 || c.timeout != time.Second || c.config.UserAgent != "backend" || c.config.Timeout != 0 {
		t.Errorf("%v %v", c.config, c.timeout)
	}
	if c := client(t, "https://127.0.0.1:1"); c.config.QPS != unlimited {
		t.Errorf("QPS %v", c.config.QPS)
	}
	if _, err := NewClient(&rest.Config{Host: "::"}); reasonOf(err) != Unconfigured {
		t.Errorf("%v", err)
	}
}

// TestReasons demands that every reason is of one kind or of none, and that no remedy or lead is for a reason that is not.
func TestReasons(t *testing.T) {
	for reason := range leads {
		if reason.Refusal() && reason.ClusterTrouble() {
			t.Errorf("%s is a refusal and trouble", reason)
		}
	}
	for _, r := range []Reason{PodSecurity, WebhookDenied, InvalidObject, Denied} {
		if !r.Refusal() {
			t.Errorf("%s is no refusal", r)
		}
	}
	for _, r := range []Reason{Forbidden, Crashed, MissingTools, Interrupted} {
		if r.Refusal() || r.ClusterTrouble() {
			t.Errorf("%s is a refusal or trouble", r)
		}
	}
}
