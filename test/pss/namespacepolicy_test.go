package pss

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	celenvironment "k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/namespacepolicy"
)

// celPolicy is a ValidatingAdmissionPolicy, compiled by the API server's own code.
type celPolicy struct {
	name      string
	validator validating.Validator
	messages  []string // of the validations, in their order
}

// namespacePolicy is the manifest for a namespace of sessions.
func namespacePolicy(t testing.TB) []byte {
	t.Helper()
	manifest, err := namespacepolicy.Manifest(namespacepolicy.Parameters{
		Namespace: "kandev", Executor: "executor",
		Companions: []namespacepolicy.Companion{{Name: "docker-engine", Image: "dind@sha256:" + strings.Repeat("0", 64)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

// namespacePolicies returns the policies of the namespace policy that judge a Pod, and their parameters.
func namespacePolicies(t testing.TB) ([]celPolicy, *corev1.ConfigMap) {
	t.Helper()
	var policies []celPolicy
	parameters := &corev1.ConfigMap{}
	for document := range bytes.SplitSeq(namespacePolicy(t), []byte("\n---\n")) {
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		if err := yaml.Unmarshal(document, policy); err != nil {
			t.Fatal(err)
		}
		switch policy.Kind + "/" + policy.Name {
		case "ValidatingAdmissionPolicy/kandev-baseline", "ValidatingAdmissionPolicy/kandev-grant":
			policies = append(policies, compilePolicy(t, policy))
		case "ConfigMap/kandev-policy":
			if err := yaml.UnmarshalStrict(document, parameters); err != nil {
				t.Fatal(err)
			}
		}
	}
	return policies, parameters
}

// compilePolicy does what the API server does with a policy (k8s.io/apiserver
// pkg/admission/plugin/policy/validating/plugin.go, compilePolicy).
func compilePolicy(t testing.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy) celPolicy {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(celenvironment.MustBaseEnvSet(celenvironment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	declared := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	var variables []cel.NamedExpressionAccessor
	for _, v := range policy.Spec.Variables {
		variables = append(variables, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(variables, declared, celenvironment.NewExpressions)
	p := celPolicy{name: policy.Name}
	var validations []cel.ExpressionAccessor
	for _, v := range policy.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		p.messages = append(p.messages, v.Message)
	}
	conditions := compiler.CompileCondition(validations, declared, celenvironment.NewExpressions)
	none := compiler.CompileCondition(nil, declared, celenvironment.NewExpressions)
	p.validator = validating.NewValidator(conditions, nil, none, none, policy.Spec.FailurePolicy, nil)
	return p
}

// refusals are the baseline checks for which a policy refuses the Pod of somebody who is not the executor.
func (p celPolicy) refusals(t testing.TB, pod *corev1.Pod, parameters *corev1.ConfigMap) map[string]bool {
	t.Helper()
	kind, resource := corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithResource("pods")
	attributes := admission.NewAttributesRecord(pod, nil, kind, "kandev", pod.Name, resource, "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "somebody"})
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedObject: admission.NewLazyObject(pod), VersionedKind: kind}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kandev"}}
	var params runtime.Object
	if p.name == "kandev-grant" {
		params = parameters
	}
	result := p.validator.Validate(t.Context(), resource, versioned, params, namespace, celconfig.RuntimeCELCostBudget, nil)
	refused := map[string]bool{}
	for i, decision := range result.Decisions {
		if decision.Evaluation == validating.EvalError {
			t.Fatalf("%s: %s\n%s", p.name, decision.Message, p.messages[i])
		}
		if decision.Action != validating.ActionDeny {
			continue
		}
		check, _, ok := strings.Cut(strings.TrimPrefix(decision.Message, "baseline, "), ":")
		switch {
		case strings.HasPrefix(decision.Message, "baseline, ") && ok:
			refused[check] = true
		case decision.Message == "a privileged container is not listed as a companion":
			refused["privileged"] = true
		default:
			t.Fatalf("%s refuses for no reason of the standards: %s", p.name, decision.Message)
		}
	}
	return refused
}

// TestNamespacePolicy makes Pods as TestDifferential does, and demands that the namespace policy refuses those of
// somebody who is not the executor for exactly the checks of the newest baseline level that forbid them.
func TestNamespacePolicy(t *testing.T) {
	policies, parameters := namespacePolicies(t)
	c, known := newComparison(t), fixtures(t)
	newest := newestMinor(c.checks)
	seed, more := environment(t, "PSS_SEED", measuredSeed), rounds(t)
	for i := uint64(0); more(i); i++ {
		pod := randomPod(t, newGenerator(seed+i), known)
		if len(pod.Spec.Containers) == 0 {
			continue // which the API server refuses before it asks a policy
		}
		refused := map[string]bool{}
		for _, p := range policies {
			for check := range p.refusals(t, pod, parameters) {
				refused[check] = true
			}
		}
		c.pods++
		for _, each := range c.checks {
			if each.Level != "baseline" {
				continue
			}
			n := c.counts[each.ID]
			forbids := each.forbids(pod, newest)
			if forbids {
				n.forbidden++
			} else {
				n.allowed++
			}
			if forbids != refused[string(each.ID)] {
				n.disagreements++
				c.disagreements++
				t.Errorf("PSS_SEED=%d: %s forbids: %v, the policy refuses: %v\n%s", seed+i, each.ID, forbids, refused, showPod(pod))
			}
		}
		if c.disagreements >= 20 {
			t.Fatal("too many disagreements")
		}
	}
	t.Log(c)
}

func showPod(pod *corev1.Pod) string {
	text, err := yaml.Marshal(pod)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// randomPod makes a Pod, or a fixture with parts of one.
func randomPod(t *testing.T, g *generator, known []fixture) *corev1.Pod {
	t.Helper()
	pod := g.pod()
	if g.IntN(2) == 0 {
		fixture := runtime.DeepCopyJSON(pick(g, known...).pod)
		for range 1 + g.IntN(4) {
			g.graft(fixture, pod)
		}
		pod = fixture
	}
	typed := decode(t, pod)
	for _, containers := range [][]corev1.Container{typed.Spec.Containers, typed.Spec.InitContainers} {
		for i := range containers {
			containers[i].Image = "image" // without which the API server asks no policy
		}
	}
	return typed
}
