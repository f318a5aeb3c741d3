package admission_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// celPolicies are mutations that a cluster's administrator writes in CEL, and what the comparison says to each. The
// Pod is that of agentTemplate: container 0 is the main one, 1 has a grant.
var celPolicies = []struct {
	name, patchType, expression string
	want                        []string
}{
	{"label", "ApplyConfiguration", `Object{metadata: Object.metadata{labels: {"team.example/seen": "yes"}}}`, []string{
		"added metadata.labels[team.example/seen]",
	}},
	{"rename", "JSONPatch", `[JSONPatch{op: "replace", path: "/metadata/name", value: object.metadata.name + "-x"}]`, []string{
		"not compatible",
		"violation owned-metadata: metadata.name",
	}},
	{"nonce", "JSONPatch", `[JSONPatch{op: "replace", path: "/metadata/annotations/" + jsonpatch.escapeKey("kandev.ai/create-nonce"), value: "0"}]`, []string{
		"not compatible",
		"violation admitted-nonce: metadata.annotations[kandev.ai/create-nonce]",
	}},
	{"finalizer", "JSONPatch", `[JSONPatch{op: "add", path: "/metadata/finalizers", value: ["policy.example/hold"]}]`, []string{
		"not compatible",
		"violation owned-metadata: metadata.finalizers",
	}},
	{"node", "ApplyConfiguration", `Object{spec: Object.spec{nodeName: "node-1"}}`, []string{
		"not compatible",
		"violation owned-node-name: spec.nodeName",
	}},
	{"processes", "ApplyConfiguration", `Object{spec: Object.spec{shareProcessNamespace: true}}`, []string{
		"not compatible",
		"violation admitted-process-namespace: spec.shareProcessNamespace",
		"escalation shared-process-namespace: spec.shareProcessNamespace",
	}},
	{"home", "ApplyConfiguration", `Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{
		name: c.name, env: [Object.spec.containers.env{name: "HOME", value: "/root"}]})}}`, []string{
		"not compatible",
		"violation reserved-env: spec.containers[builder].env[HOME]",
		"violation reserved-env: spec.containers[kandev-agent].env[HOME]",
		"violation reserved-env: spec.containers[linter].env[HOME]",
		"violation reserved-env: spec.containers[plain].env[HOME]",
	}},
	{"sidecar", "ApplyConfiguration", `Object{spec: Object.spec{containers: [Object.spec.containers{
		name: "shipper", image: "registry.example/shipper:1",
		volumeMounts: [Object.spec.containers.volumeMounts{name: "kandev-workspace", mountPath: "/workspace"}]}]}}`, []string{
		"not compatible",
		"grant shipper: none, rw: added",
		"violation admitted-grant-added: spec.containers[shipper].volumeMounts[/workspace]",
		"added spec.containers[shipper]",
	}},
}

// TestMutatingPolicies does the same with the API server's own MutatingAdmissionPolicy.
func TestMutatingPolicies(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		for _, p := range celPolicies {
			t.Run(p.name, func(t *testing.T) {
				namespace := "policy-" + p.name
				s.namespace(t, namespace)
				s.createPolicy(t, namespace, p.patchType, p.expression)
				pod := composeFrom(t, agentTemplate, compose.EmptyDir, namespace).Pod
				plain := lines(s.send(t, composeFrom(t, agentTemplate, compose.EmptyDir, metav1.NamespaceDefault).Pod, metav1.DryRunAll))
				s.await(t, "the policy", func() bool { return !slices.Equal(lines(s.send(t, pod, metav1.DryRunAll)), plain) })
				var changes []string
				for _, line := range s.sendBoth(t, pod) {
					if !slices.Contains(plain, line) {
						changes = append(changes, line)
					}
				}
				if diff := cmp.Diff(p.want, changes); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

// createPolicy creates a MutatingAdmissionPolicy for the Pods of a namespace, and its binding.
func (s *server) createPolicy(t *testing.T, namespace, patchType, expression string) {
	t.Helper()
	version := "v1"
	if s.minor == "1.34" || s.minor == "1.35" {
		version = "v1beta1"
	}
	field := map[string]string{"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}[patchType]
	client := dynamic.NewForConfigOrDie(s.Config())
	for resource, text := range map[string]string{
		"mutatingadmissionpolicies": fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/%s
kind: MutatingAdmissionPolicy
metadata: {name: %s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  mutations:
  - patchType: %s
    %s: {expression: %q}
`, version, namespace, patchType, field, expression),
		"mutatingadmissionpolicybindings": fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/%s
kind: MutatingAdmissionPolicyBinding
metadata: {name: %s}
spec: {policyName: %[2]s}
`, version, namespace),
	} {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		kind := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: version, Resource: resource}
		if _, err := client.Resource(kind).Create(t.Context(), &object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
