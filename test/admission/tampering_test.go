package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// An outcome is what became of an operator's change on a real API server.
type outcome string

const (
	detected outcome = "detected" // tampering that a violation names by its field
	accepted outcome = "accepted" // a neutral change that is listed
	unseen   outcome = "unseen"   // a silent change that is not
	refused  outcome = "refused"  // the API server denies the request
	undone   outcome = "undone"   // the API server sets back what was changed
	wrong    outcome = "WRONG"
)

// TestTampering applies every operator of internal/mutation by a real mutating webhook, to the dry run and to the
// create request, and compares what was sent with what came back.
func TestTampering(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		const namespace = "agents"
		s.namespace(t, namespace)
		m := &tampering{server: s, namespace: namespace, hook: newPerObject()}
		s.register(t, "tampering", registration{name: "tamper", namespace: namespace, mutate: m.hook.mutate})
		t.Run("pods", func(t *testing.T) {
			for _, o := range mutation.PodOperators() {
				tried := 0
				for _, mode := range compose.WorkspaceModes() {
					if m.pod(t, o, mode) {
						tried++
					}
				}
				if tried == 0 {
					t.Errorf("%s fits no generated Pod", o.Name)
				}
			}
		})
		t.Run("claims", func(t *testing.T) {
			for _, o := range mutation.ClaimOperators() {
				m.claim(t, o)
			}
		})
		m.log(t)
	})
}

// undoneBy lists what an older API server drops, because the field's feature gate is off there.
var undoneBy = map[string][]string{
	"1.34": {
		"main-restart-policy", // ContainerRestartRules: restartPolicy of an ordinary container
		"env-from-auth-file",  // EnvFiles: fileKeyRef, without which the variable is invalid
	},
}

// perObject is a mutator with another change for each object, by kind and name.
type perObject struct {
	mu      sync.Mutex
	changes map[string]mutator
}

func newPerObject() *perObject { return &perObject{changes: map[string]mutator{}} }

func (p *perObject) set(kind, name string, change mutator) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes[kind+"/"+name] = change
}

func (p *perObject) mutate(request *admissionv1.AdmissionRequest) ([]jsonpatch.Operation, error) {
	p.mu.Lock()
	change := p.changes[request.Kind.Kind+"/"+request.Name]
	p.mu.Unlock()
	if change == nil {
		return nil, nil
	}
	return change(request)
}

type tampering struct {
	*server

	namespace string
	hook      *perObject

	mu       sync.Mutex
	outcomes map[string]map[outcome]int // by kind of operator
	refusals map[string]string
}

func (m *tampering) record(kind string, o outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outcomes == nil {
		m.outcomes, m.refusals = map[string]map[outcome]int{}, map[string]string{}
	}
	if m.outcomes[kind] == nil {
		m.outcomes[kind] = map[outcome]int{}
	}
	m.outcomes[kind][o]++
}

func (m *tampering) log(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(m.outcomes)) {
		t.Logf("%s %s: %v", m.Version(), kind, m.outcomes[kind])
	}
	for _, name := range slices.Sorted(maps.Keys(m.refusals)) {
		t.Logf("%s %s: %s", m.Version(), name, m.refusals[name])
	}
}

// composed draws objects that an operator fits, the same ones every time.
func composed(t *testing.T, name string, mode compose.WorkspaceMode, namespace string, fits func(compose.Objects) bool) (compose.Objects, bool) {
	t.Helper()
	id := mutation.Identity()
	id.InstanceID, id.Namespace = name, namespace
	generator := rapid.Custom(func(t *rapid.T) compose.Objects {
		objects, err := compose.Compose(mutation.Template(t), mutation.Profile(t, mode), id)
		if err != nil {
			t.Fatalf("a generated template does not compose: %v", err)
		}
		return objects
	})
	h := fnv.New32a()
	h.Write([]byte(name))
	for i := range 100 {
		objects := generator.Example(int(h.Sum32()>>1) + i)
		compose.SetNonce(objects.Pod, compose.NewNonce())
		if objects.Claim != nil {
			compose.SetNonce(objects.Claim, compose.NewNonce())
		}
		if fits(objects) {
			return objects, true
		}
	}
	return compose.Objects{}, false
}

// pod tries an operator on a Pod that it fits, of one workspace mode, where there is one.
func (m *tampering) pod(t *testing.T, o mutation.PodOperator, mode compose.WorkspaceMode) bool {
	name := o.Name + "-" + string(mode)
	objects, ok := composed(t, name, mode, m.namespace, func(objects compose.Objects) bool {
		return o.Applies(objects.Pod) && (o.Refused || o.Running || staysValid(o, objects.Pod))
	})
	if !ok {
		return false
	}
	return t.Run(o.Name+"/"+string(mode), func(t *testing.T) {
		t.Parallel()
		if o.Running {
			m.running(t, o, objects.Pod)
			return
		}
		m.try(t, attempt{
			kind: "Pod", name: objects.Pod.Name, operator: o.Name, is: o.Kind, names: o.Names,
			refused: o.Refused || slices.Contains(undoneBy[m.minor], o.Name),
			change:  objectPatch(func(_ *admissionv1.AdmissionRequest, p *corev1.Pod) { o.Apply(chance(), p) }),
			send: func(ctx context.Context, dry []string) (admission.Report, error) {
				return m.sendPod(ctx, objects.Pod, dry)
			},
		})
	})
}

// staysValid reports whether a Pod is still one that an API server takes when an operator has changed it.
func staysValid(o mutation.PodOperator, pod *corev1.Pod) bool {
	pod = pod.DeepCopy()
	o.Apply(chance(), pod)
	return len(podrules.Validate(&corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, nil, podrules.Options{})) == 0
}

func chance() *rand.Rand { return rand.New(rand.NewPCG(7, 0)) }

func (m *tampering) sendPod(ctx context.Context, pod *corev1.Pod, dry []string) (admission.Report, error) {
	admitted, err := m.client.CoreV1().Pods(m.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dry, FieldValidation: "Strict"})
	if err != nil {
		return admission.Report{}, err
	}
	return admission.ComparePod(pod, admitted, admission.Options{})
}

func (m *tampering) claim(t *testing.T, o mutation.ClaimOperator) {
	objects, ok := composed(t, o.Name, compose.ManagedPVC, m.namespace, func(objects compose.Objects) bool { return o.Applies(objects.Claim) })
	if !ok {
		t.Errorf("%s fits no generated claim", o.Name)
		return
	}
	t.Run(o.Name, func(t *testing.T) {
		t.Parallel()
		m.try(t, attempt{
			kind: "PersistentVolumeClaim", name: objects.Claim.Name, operator: o.Name, is: o.Kind, refused: o.Refused, names: o.Names,
			change: objectPatch(func(_ *admissionv1.AdmissionRequest, c *corev1.PersistentVolumeClaim) { o.Apply(chance(), c) }),
			send: func(ctx context.Context, dry []string) (admission.Report, error) {
				admitted, err := m.client.CoreV1().PersistentVolumeClaims(m.namespace).Create(ctx, objects.Claim, metav1.CreateOptions{DryRun: dry, FieldValidation: "Strict"})
				if err != nil {
					return admission.Report{}, err
				}
				return admission.ComparePVC(objects.Claim, admitted, admission.Options{}), nil
			},
		})
	})
}

// An attempt is one operator on one object.
type attempt struct {
	kind, name, operator string
	is                   mutation.Kind
	refused              bool
	names                func(string) bool
	change               mutator
	send                 func(ctx context.Context, dry []string) (admission.Report, error)
}

// try sends the object unchanged, then with the operator's change as a dry run and for good.
func (m *tampering) try(t *testing.T, a attempt) {
	t.Helper()
	dryRun := []string{metav1.DryRunAll}
	plain, err := a.send(t.Context(), dryRun)
	if err != nil {
		t.Fatalf("the object is refused without any change: %v", err)
	}
	if !plain.Compatible {
		t.Fatalf("the object is not compatible without any change: %s", text(plain))
	}
	m.hook.set(a.kind, a.name, a.change)
	for _, dry := range [][]string{dryRun, nil} {
		got, err := a.send(t.Context(), dry)
		o := judge(a, plain, got, err)
		m.record(fmt.Sprintf("%s %s", a.kind, a.is), o)
		if !slices.Contains(expected(a), o) {
			t.Errorf("dry run %v: %s (refused: %v); error %v\nreport %s\nwithout any change %s", dry, o, a.refused, err, text(got), text(plain))
		}
		if o == refused || o == undone {
			m.mu.Lock()
			m.refusals[a.kind+" "+a.operator] = fmt.Sprintf("%s %v", o, err)
			m.mu.Unlock()
		}
	}
}

// expected lists what may become of a change. What a silent operator that is refused for good sets is ignored by
// a dry run.
func expected(a attempt) []outcome {
	if a.refused {
		return []outcome{refused, undone, unseen}
	}
	return map[mutation.Kind][]outcome{mutation.Tamper: {detected}, mutation.Neutral: {accepted}, mutation.Silent: {unseen}}[a.is]
}

// judge says what became of a change.
func judge(a attempt, plain, got admission.Report, err error) outcome {
	switch {
	case err != nil:
		return refused
	case a.is == mutation.Tamper:
		if slices.ContainsFunc(got.Violations, func(v admission.Violation) bool { return a.names(v.Path) }) {
			return detected
		}
		if text(got) == text(plain) {
			return undone
		}
		return wrong
	case !got.Compatible:
		return wrong
	case a.is == mutation.Silent && text(got) == text(plain):
		return unseen
	case a.is == mutation.Neutral && text(got) != text(plain):
		return accepted
	}
	return wrong
}

// running changes a Pod that is there already, through the subresource for it.
func (m *tampering) running(t *testing.T, o mutation.PodOperator, pod *corev1.Pod) {
	pods := m.client.CoreV1().Pods(m.namespace)
	admitted, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.Apply(chance(), admitted)
	if admitted.Spec.NodeName != "" {
		err = pods.Bind(t.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: admitted.Spec.NodeName},
		}, metav1.CreateOptions{})
	} else {
		_, err = pods.UpdateEphemeralContainers(t.Context(), pod.Name, admitted, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if admitted, err = pods.Get(t.Context(), pod.Name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := admission.ComparePod(pod, admitted, admission.Options{Phase: admission.Later})
	if err != nil {
		t.Fatal(err)
	}
	result := judge(attempt{is: o.Kind, names: o.Names}, admission.Report{}, got, nil)
	m.record("running Pod "+string(o.Kind), result)
	if result == wrong || result == undone {
		t.Errorf("%s: %s", result, text(got))
	}
}

// text is a report as JSON, without the random name of the token's volume.
func text(r admission.Report) string {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err.Error()
	}
	return tokenVolume.ReplaceAllString(string(data), "kube-api-access-*")
}
