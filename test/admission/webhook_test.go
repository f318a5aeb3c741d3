package admission_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A mutator answers an admission request with a JSON patch of its object. It must be safe for concurrent use.
type mutator func(*admissionv1.AdmissionRequest) ([]jsonpatch.Operation, error)

// webhooks is an HTTPS server on loopback with an endpoint for each mutator.
type webhooks struct {
	server *httptest.Server

	mu       sync.Mutex
	mutators map[string]mutator
	calls    map[string]int
}

func startWebhooks() *webhooks {
	w := &webhooks{mutators: map[string]mutator{}, calls: map[string]int{}}
	w.server = httptest.NewTLSServer(w)
	return w
}

func (w *webhooks) close() { w.server.Close() }

// ServeHTTP answers an AdmissionReview with the mutator of the path.
func (w *webhooks) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	var review admissionv1.AdmissionReview
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil || review.Request == nil {
		http.Error(out, fmt.Sprintf("no AdmissionReview: %v", err), http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	mutate := w.mutators[in.URL.Path]
	w.calls[in.URL.Path]++
	w.mu.Unlock()
	review.Response, review.Request = answer(mutate, review.Request), nil
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(review) // whether it arrives, the API server says
}

func answer(mutate mutator, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	patch, err := mutate(request)
	if err == nil && len(patch) > 0 {
		response.PatchType = new(admissionv1.PatchTypeJSONPatch)
		response.Patch, err = json.Marshal(patch)
	}
	if err != nil {
		response.Allowed, response.Result = false, &metav1.Status{Message: err.Error()}
	}
	return response
}

// A registration is one webhook of a MutatingWebhookConfiguration.
type registration struct {
	name      string
	namespace string
	mutate    mutator
	reinvoked bool // reinvocationPolicy: IfNeeded
}

// called returns how often a webhook was called.
func (w *webhooks) called(configuration, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls["/"+configuration+"/"+name]
}

// register creates a MutatingWebhookConfiguration and returns when the API server calls all of it.
func (s *server) register(t *testing.T, name string, all ...registration) {
	t.Helper()
	w := s.webhooks
	c := &registrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.mu.Lock()
	for _, r := range all {
		path := "/" + name + "/" + r.name
		w.mutators[path] = r.mutate
		c.Webhooks = append(c.Webhooks, w.webhook(path, r))
	}
	w.mu.Unlock()
	if _, err := s.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	probe := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
	}
	s.await(t, "the webhooks of "+name, func() bool {
		// What it answers is of no matter: a webhook may make a Pod of it that is refused.
		_, _ = s.client.CoreV1().Pods(all[0].namespace).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return !slices.ContainsFunc(all, func(r registration) bool { return w.called(name, r.name) == 0 })
	})
}

func (w *webhooks) webhook(path string, r registration) registrationv1.MutatingWebhook {
	reinvocation := registrationv1.NeverReinvocationPolicy
	if r.reinvoked {
		reinvocation = registrationv1.IfNeededReinvocationPolicy
	}
	return registrationv1.MutatingWebhook{
		Name: r.name + ".podlint.example",
		ClientConfig: registrationv1.WebhookClientConfig{
			URL:      new(w.server.URL + path),
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw}),
		},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Create},
			Rule: registrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods", "persistentvolumeclaims"},
			},
		}},
		FailurePolicy:           new(registrationv1.Fail),
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: r.namespace}},
		SideEffects:             new(registrationv1.SideEffectClassNone),
		ReinvocationPolicy:      &reinvocation,
		AdmissionReviewVersions: []string{"v1"},
	}
}

// objectPatch makes a mutator of a function on the typed object: it decodes with today's API types and sends the
// difference, as controller-runtime's webhooks do.
func objectPatch[T any](change func(*admissionv1.AdmissionRequest, *T)) mutator {
	return func(request *admissionv1.AdmissionRequest) ([]jsonpatch.Operation, error) {
		object := new(T)
		if err := json.Unmarshal(request.Object.Raw, object); err != nil {
			return nil, err
		}
		change(request, object)
		changed, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		return jsonpatch.CreatePatch(request.Object.Raw, changed)
	}
}
