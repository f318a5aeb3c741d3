package admission_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files from the answers of the first version")

// agentTemplate is a template with everything that a webhook may meet.
var agentTemplate = filepath.Join("testdata", "agent.yaml")

// templates are what the webhooks are tried on, each in another workspace mode.
var templates = []struct {
	file string
	mode compose.WorkspaceMode
}{
	{agentTemplate, compose.ManagedPVC},
	{filepath.Join("..", "..", "testdata", "templates", "docker.yaml"), compose.EmptyDir},
	{filepath.Join("..", "..", "testdata", "templates", "minimal.yaml"), compose.ExistingClaim},
}

// together are webhooks that meet on one Pod, in the order in which the API server calls them.
var together = map[string][]struct {
	name      string
	reinvoked bool
}{
	// The second sees what the first has injected: Vault mounts its secrets into the proxy too.
	"istio+vault-agent": {{name: "istio"}, {name: "vault-agent"}},
	// The first is called again when the second has changed the Pod, and then finds the proxy.
	"datadog-reinvoked+linkerd": {{name: "datadog", reinvoked: true}, {name: "linkerd"}},
	// Both are, and the second replaces the arrays that the first has changed.
	"istio-native-sidecar-reinvoked+eks-irsa-reinvoked": {{name: "istio-native-sidecar", reinvoked: true}, {name: "eks-irsa", reinvoked: true}},
	// One that is not compatible stays so beside another.
	"kueue+datadog": {{name: "kueue"}, {name: "datadog"}},
}

// TestWebhooks replays what well-known webhooks do to Pods, each by a MutatingWebhookConfiguration of its own, and
// demands the whole report beside it in testdata/webhooks.
func TestWebhooks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "webhooks", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	eachVersion(t, func(t *testing.T, s *server) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				i := readInjection(t, name)
				s.replay(t, name, i.Compatible, registration{name: name, mutate: i.mutate})
			})
		}
		for name, parts := range together {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				compatible := true
				var all []registration
				for _, part := range parts {
					i := readInjection(t, part.name)
					compatible = compatible && i.Compatible
					all = append(all, registration{name: part.name, mutate: i.mutate, reinvoked: part.reinvoked})
				}
				s.replay(t, name, compatible, all...)
			})
		}
	})
}

// replay sends the composed Pod of every template to a namespace whose Pods the webhooks change.
func (s *server) replay(t *testing.T, name string, compatible bool, all ...registration) {
	t.Helper()
	namespace := "webhook-" + strings.ReplaceAll(name, "+", "-")
	s.namespace(t, namespace)
	for i := range all {
		all[i].namespace = namespace
	}
	s.register(t, namespace, all...)
	var out strings.Builder
	for _, template := range templates {
		objects := composeFrom(t, template.file, template.mode, namespace)
		lines := s.sendBoth(t, objects.Pod)
		if (lines[0] == "compatible") != compatible {
			t.Errorf("%s: %s; want compatible: %v", template.file, lines[0], compatible)
		}
		fmt.Fprintf(&out, "%s (%s): %s\n", filepath.Base(template.file), template.mode, strings.Join(lines, "\n  "))
	}
	s.golden(t, filepath.Join("testdata", "webhooks", name+".out"), out.String())
	if first, last := all[0].name, all[len(all)-1].name; all[0].reinvoked && s.webhooks.called(namespace, first) <= s.webhooks.called(namespace, last) {
		t.Errorf("%s was not called again after %s", first, last)
	}
}

// sendBoth sends a Pod as a dry run and for good, which must come to the same report, and returns its lines.
func (s *server) sendBoth(t *testing.T, pod *corev1.Pod) []string {
	t.Helper()
	tried, created := lines(s.send(t, pod, metav1.DryRunAll)), lines(s.send(t, pod))
	if diff := cmp.Diff(tried, created); diff != "" {
		t.Errorf("the dry run is not as the create request: %s", diff)
	}
	return created
}

// send creates a Pod and compares it with what came back.
func (s *server) send(t *testing.T, pod *corev1.Pod, dryRun ...string) admission.Report {
	t.Helper()
	o := metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict}
	admitted, err := s.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := admission.ComparePod(pod, admitted, admission.Options{Warnings: warnings(t.Context())})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// composeFrom composes the objects of a template's file, with a nonce. changes are made to the template before.
func composeFrom(t *testing.T, file string, mode compose.WorkspaceMode, namespace string, changes ...func(*corev1.PodTemplateSpec)) compose.Objects {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	template, violations := compose.ParseTemplate(data)
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	for _, change := range changes {
		change(template.Spec)
	}
	profile := compose.Profile{Workspace: compose.Workspace{Mode: mode}}
	if mode == compose.ExistingClaim {
		profile.Workspace.ClaimName = "team-workspace"
	}
	id := mutation.Identity()
	id.Namespace, id.InstanceID = namespace, filepath.Base(file)
	objects, err := compose.Compose(template.Spec, profile, id)
	if err != nil {
		t.Fatal(err)
	}
	compose.SetNonce(objects.Pod, compose.NewNonce())
	if objects.Claim != nil {
		compose.SetNonce(objects.Claim, compose.NewNonce())
	}
	return objects
}

// warnings finds what raises a privilege, as the command diff does.
func warnings(ctx context.Context) func(*corev1.Pod) ([]finding.Finding, error) {
	return func(pod *corev1.Pod) ([]finding.Finding, error) {
		e, err := policy.Default(ctx)
		if err != nil {
			return nil, err
		}
		pod = pod.DeepCopy()
		pod.Status = corev1.PodStatus{}
		data, err := json.Marshal(pod)
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, err
		}
		found, err := e.Eval(ctx, policy.Input{Object: object, MainContainer: compose.DefaultMainContainer})
		return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Info }), err
	}
}

// lines writes a report down whole: the verdict, then every grant, violation, escalation and accepted change.
func lines(r admission.Report) []string {
	out := []string{"compatible"}
	if !r.Compatible {
		out[0] = "not compatible"
	}
	for _, g := range r.Grants {
		out = append(out, fmt.Sprintf("grant %s: %s, %s: %s", g.Container, g.Requested, g.Admitted, g.Verdict))
	}
	for _, v := range r.Violations {
		out = append(out, fmt.Sprintf("violation %s: %s", v.Rule, v.Path))
	}
	for _, f := range r.Escalations {
		out = append(out, fmt.Sprintf("escalation %s: %s", f.Rule, f.Path))
	}
	for _, c := range r.Accepted {
		out = append(out, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	for i := range out {
		out[i] = tokenVolume.ReplaceAllString(out[i], "kube-api-access-*")
	}
	return out
}

// golden compares with a file's text. With -update the first version writes the file, and the others must agree.
func (s *server) golden(t *testing.T, file, got string) {
	t.Helper()
	if *update && s.minor == versions(t)[0] {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}
