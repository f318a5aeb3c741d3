package policy

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// places gives rule, severity and path of findings, in order.
func places(findings []finding.Finding) []string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, strings.Join([]string{f.Rule, string(f.Severity), f.Path}, " "))
	}
	return lines
}

func TestEvalComposedPod(t *testing.T) {
	findings := evalYAML(t, Input{}, composedPod)
	want := []string{
		"capabilities-not-dropped info spec.containers[1].securityContext",
		"capabilities-not-dropped info spec.initContainers[0].securityContext",
		"host-user-namespace info spec",
		"image-not-pinned info spec.containers[2].image",
		"image-not-pinned info spec.initContainers[0].image",
		"non-root-not-required info spec.containers[1].securityContext",
		"privilege-escalation-unset info spec.containers[1].securityContext",
		"privileged-container warning spec.containers[1].securityContext.privileged",
		"privileged-workspace-grant warning spec.containers[1].volumeMounts[2]",
		"root-user warning spec.containers[1].securityContext.runAsUser",
		"session-unbounded info spec.containers[0].resources",
	}
	if got := places(findings); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	privileged := finding.Finding{
		Rule: "privileged-container", Severity: finding.Warning, Source: finding.Policy,
		Message:     `container "docker-engine" runs privileged, with every capability and device of the node`,
		Remediation: "remove privileged, or suppress this with the reason why the companion needs it",
		Path:        "spec.containers[1].securityContext.privileged",
		Container:   "docker-engine",
		PSS:         &finding.PSS{Level: "baseline", Check: "privileged"},
	}
	if got := about(findings, "privileged-container"); !reflect.DeepEqual(got, []finding.Finding{privileged}) {
		t.Errorf("got %+v", got)
	}
}

// The rows of public reports about Pod specs that are the pack's to judge.
func TestReportedCases(t *testing.T) {
	const template = "apiVersion: v1\nkind: PodTemplate\ntemplate:\n"
	for _, c := range []struct{ name, document, version, rule, path string }{
		{
			"hostPath //etc/ (kubernetes #47107)", "  spec: {volumes: [{name: v, hostPath: {path: //etc/}}]}", "",
			"sensitive-host-path", "template.spec.volumes[0].hostPath.path",
		},
		{
			"hostPath with .. (kubernetes #47107)", "  spec: {volumes: [{name: v, hostPath: {path: /var/run/../run/docker.sock}}]}", "",
			"sensitive-host-path", "template.spec.volumes[0].hostPath.path",
		},
		{
			"CAP_SYS_ADMIN (kubernetes #119568)", "  spec: {containers: [{name: a, securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}}]}", "",
			"added-capability", "template.spec.containers[0].securityContext.capabilities.add[0]",
		},
		{
			"sys_admin (kubernetes #131336)", "  spec: {containers: [{name: a, securityContext: {capabilities: {add: [sys_admin]}}}]}", "",
			"added-capability", "template.spec.containers[0].securityContext.capabilities.add[0]",
		},
		{
			"ALL", "  spec: {initContainers: [{name: a, securityContext: {capabilities: {add: [ALL]}}}]}", "",
			"added-capability", "template.spec.initContainers[0].securityContext.capabilities.add[0]",
		},
		{
			"ephemeral containers are walked (regolibrary #709)", "  spec: {ephemeralContainers: [{name: a, securityContext: {privileged: true}}]}", "",
			"privileged-container", "template.spec.ephemeralContainers[0].securityContext.privileged",
		},
		{
			"procMount in the node's user namespace (kubernetes #132157)", "  spec: {containers: [{name: a, securityContext: {procMount: Unmasked}}]}", "1.36",
			"unmasked-proc", "template.spec.containers[0].securityContext.procMount",
		},
		{
			"procMount before 1.35", "  spec: {hostUsers: false, containers: [{name: a, securityContext: {procMount: Unmasked}}]}", "1.34",
			"unmasked-proc", "template.spec.containers[0].securityContext.procMount",
		},
		{
			"procMount from 1.35", "  spec: {hostUsers: false, containers: [{name: a, securityContext: {procMount: Unmasked}}]}", "1.35",
			"unmasked-proc", "",
		},
		{
			"hostPort 0 (website #44315)", "  spec: {containers: [{name: a, ports: [{containerPort: 80, hostPort: 0}]}]}", "",
			"host-port", "",
		},
		{
			"only the old seccomp annotation (kubernetes PR #114947)", "  metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default}}\n  spec: {}", "",
			"seccomp-annotation", "template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]",
		},
		{
			"AppArmor annotation", "  metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/a: unconfined}}\n  spec: {}", "",
			"apparmor-unconfined", "template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/a]",
		},
		{
			"projected token beside automount false", "  spec: {automountServiceAccountToken: false, volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}", "",
			"projected-service-account-token", "template.spec.volumes[0].projected.sources[0].serviceAccountToken",
		},
		{
			"subPathExpr that steps back", "  spec: {containers: [{name: a, env: [{name: P, value: ../../etc}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(P)}]}]}", "",
			"sub-path-expansion", "template.spec.containers[0].volumeMounts[0].subPathExpr",
		},
		{
			"a volume named kube-api-access-x", "  spec: {volumes: [{name: kube-api-access-x, emptyDir: {}}]}", "",
			"kube-api-access-volume", "template.spec.volumes[0].name",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, f := range about(evalYAML(t, Input{KubeVersion: c.version}, template+c.document), c.rule) {
				paths = append(paths, f.Path)
			}
			if got := strings.Join(paths, " "); got != c.path {
				t.Errorf("%s at %q, want %q", c.rule, got, c.path)
			}
		})
	}
}

func TestEvalKeepsNumbersExact(t *testing.T) {
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, zero := range []any{json.Number("0"), int64(0), float64(0), 0} {
		findings, err := e.Eval(t.Context(), Input{Object: map[string]any{"spec": map[string]any{
			"securityContext": map[string]any{"runAsUser": zero},
		}}})
		if err != nil || len(about(findings, "root-user")) != 1 {
			t.Errorf("runAsUser %T: %v %v", zero, findings, err)
		}
	}
}

func TestEvalLeavesTheObjectAlone(t *testing.T) {
	var in, before Input
	for _, i := range []*Input{&in, &before} {
		if err := yaml.Unmarshal([]byte(composedPod), &i.Object); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, before) {
		t.Error("the caller's object has changed")
	}
}

func TestEvalBrokenDocuments(t *testing.T) {
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []any{
		map[string]any{},
		map[string]any{"template": nil},
		map[string]any{"template": "x"},
		map[string]any{"spec": []any{1}},
		map[string]any{"spec": map[string]any{"containers": []any{nil, 1, map[string]any{"securityContext": 7, "env": "x"}, map[string]any{"name": nil}, map[string]any{"name": 7}}, "volumes": map[string]any{}}},
		struct {
			Spec map[string]bool `json:"spec"`
		}{map[string]bool{"hostPID": true}},
	} {
		if _, err := e.Eval(t.Context(), Input{Object: object}); err != nil {
			t.Errorf("%v: %v", object, err)
		}
	}
	for _, object := range []any{nil, "x", []any{}, func() {}} {
		if findings, err := e.Eval(t.Context(), Input{Object: object}); err == nil {
			t.Errorf("%T is no object, but there is no error and %v", object, findings)
		}
	}
}

func TestEvalConcurrently(t *testing.T) {
	e, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var in Input
	if err := yaml.Unmarshal([]byte(composedPod), &in.Object); err != nil {
		t.Fatal(err)
	}
	want, err := e.Eval(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if got, err := e.Eval(t.Context(), in); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%v %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

func TestEvalEndsWithItsContext(t *testing.T) {
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Eval(ctx, Input{Object: map[string]any{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDefaultIsOne(t *testing.T) {
	one, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if two, _ := Default(t.Context()); one != two {
		t.Error("two evaluators")
	}
}

func TestCatalogueIsTheCallers(t *testing.T) {
	rules := Catalogue()
	i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.PSS != nil })
	rules[i].Name, rules[i].References[0], rules[i].PSS.Level = "x", "x", "x"
	if again := Catalogue(); again[i].Name == "x" || again[i].References[0] == "x" || again[i].PSS.Level == "x" {
		t.Error("a caller changed the catalogue")
	}
}
