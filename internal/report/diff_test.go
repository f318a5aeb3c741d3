package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

const diffSchema = "../../docs/schema/diff.schema.json"

// diffPod composes the Pod of these tests.
func diffPod(t testing.TB) *corev1.Pod {
	t.Helper()
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "kandev-agent", Image: "registry.example/agent:1"},
		{Name: "docker-engine", Image: "registry.example/dind:1", VolumeMounts: []corev1.VolumeMount{
			{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath},
		}},
		{Name: "log-shipper", Image: "registry.example/logs:1"},
	}}}
	id := mutation.Identity()
	id.Name = "kandev-1"
	objects, err := compose.Compose(template, compose.Profile{}, id)
	if err != nil {
		t.Fatal(err)
	}
	compose.SetNonce(objects.Pod, strings.Repeat("0f", 32))
	return objects.Pod
}

// diffReports are the reports that the golden files show.
func diffReports(t testing.TB) map[string]report.Comparison {
	t.Helper()
	requested := diffPod(t)
	compared := func(change func(*corev1.Pod)) report.Comparison {
		admitted := requested.DeepCopy()
		change(admitted)
		r, err := admission.ComparePod(requested, admitted, admission.Options{Warnings: privilegedContainers})
		if err != nil {
			t.Fatal(err)
		}
		return report.Comparison{Report: r}
	}
	mesh := func(p *corev1.Pod) {
		p.Spec.Containers = append([]corev1.Container{{Name: "istio-proxy", Image: "proxy:1", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}}}, p.Spec.Containers...)
		p.Labels["security.istio.io/tlsMode"] = "istio"
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	return map[string]report.Comparison{
		"same": compared(func(*corev1.Pod) {}),
		"mesh": compared(mesh),
		"violations": compared(func(p *corev1.Pod) {
			mesh(p)
			shipper := &p.Spec.Containers[3]
			shipper.VolumeMounts = append(shipper.VolumeMounts, corev1.VolumeMount{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath, ReadOnly: true})
			shipper.Image = "mirror.example/logs:1"
			p.Spec.Containers[1].Command = append(p.Spec.Containers[1].Command, "--extra", strings.Repeat("long ", 60))
			p.Finalizers = []string{"kueue.x-k8s.io/managed"}
		}),
		"claim": {Report: admission.ComparePVC(&corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaim{
			Spec: corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: new("gold"), VolumeName: "pv-1"},
		}, admission.Options{})},
		"warned":  warned(compared(func(*corev1.Pod) {})),
		"refused": refused(t),
		"hostile": hostileReport("\x1b[2Jred\n::error::x ##[group]\u202e"),
	}
}

// warned is a comparison that came with a warning of the API server.
func warned(c report.Comparison) report.Comparison {
	c.Warnings = []string{`would violate PodSecurity "restricted:latest": runAsNonRoot != true`}
	return c
}

// refused is a Pod that was refused beside a claim that was not.
func refused(t testing.TB) report.Comparison {
	t.Helper()
	c := warned(report.Comparison{Report: admission.ComparePVC(&corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaim{
		Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-1"},
	}, admission.Options{})})
	if err := c.Refuse("Pod", &executor.Error{
		Reason: executor.InvalidObject, Message: `Pod "kandev-1" is invalid: spec.containers[0].image: Required value`,
		Fields: []executor.FieldError{{Field: "spec.containers[0].image", Message: "Required value"}},
	}); err != nil {
		t.Fatal(err)
	}
	return c.Complete()
}

// TestRefuse: what is no refusal stays an error.
func TestRefuse(t *testing.T) {
	var c report.Comparison
	for _, err := range []error{errClosed, &executor.Error{Reason: executor.Unreachable}, nil} {
		if got := c.Refuse("Pod", err); !errors.Is(got, err) || len(c.Refusals) > 0 {
			t.Errorf("%v: %v, %v", err, got, c.Refusals)
		}
	}
}

func privilegedContainers(p *corev1.Pod) ([]finding.Finding, error) {
	var out []finding.Finding
	for _, c := range p.Spec.Containers {
		if c.SecurityContext != nil {
			out = append(out, finding.Finding{
				Rule: "privileged", Severity: finding.Warning, Source: finding.Policy, Container: c.Name,
				Path: "template.spec.containers[" + c.Name + "].securityContext.privileged", Message: "container \"" + c.Name + "\" is privileged",
			})
		}
	}
	return out, nil
}

// hostileReport has one text in every place that an admitted object reaches.
func hostileReport(s string) report.Comparison {
	r := admission.Report{
		SchemaVersion: 1,
		Grants:        []admission.Grant{{Container: s, Requested: compose.GrantNone, Admitted: admission.GrantInvalid, Verdict: admission.GrantAdded}},
		Violations:    []admission.Violation{{Rule: "owned-volume", Path: s, Message: s, Requested: s, Admitted: strings.Repeat(s+"\n", 12)}},
		Escalations:   []finding.Finding{{Rule: "privileged", Severity: finding.Warning, Source: finding.Policy, Message: s, Container: s}},
		Accepted:      []admission.Change{{Path: s, Kind: admission.Added}, {Path: s, Kind: admission.Removed}, {Path: s, Kind: admission.Changed}},
	}
	return report.Comparison{Report: r, Warnings: []string{s}, Refusals: []report.Refusal{{
		Object: "Pod", Reason: executor.WebhookDenied, Subject: s, Message: s, Remedy: s, Fields: []executor.FieldError{{Field: s, Message: s}},
	}}}
}

func diffOutput(t testing.TB, format string, r report.Comparison, o report.DiffOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Diff(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDiffGolden(t *testing.T) {
	for name, r := range diffReports(t) {
		for suffix, o := range map[string]report.DiffOptions{"": {}, ".all": {All: true}, ".color": {Color: true, All: true}} {
			for _, format := range report.DiffFormats() {
				if format != "text" && suffix != "" {
					continue
				}
				file := filepath.Join("testdata", "diff", name+suffix+"."+format)
				got := diffOutput(t, format, r, o)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s:\n%s", file, diff)
				}
			}
		}
	}
}

// TestDiffTextIsHarmless: nothing that an admitted object says reaches a terminal or a CI runner as a command.
func TestDiffTextIsHarmless(t *testing.T) {
	for _, s := range nastyTexts {
		for _, line := range strings.Split(diffOutput(t, "text", hostileReport(s), report.DiffOptions{All: true}), "\n") {
			if strings.ContainsAny(line, "\x1b\r\u009b\u202e\u2066") || strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%q prints %q", s, line)
			}
		}
	}
}

func TestDiffMeetsItsSchema(t *testing.T) {
	s := compileSchema(t, diffSchema)
	reports := diffReports(t)
	for _, text := range nastyTexts {
		reports[text] = hostileReport(text)
	}
	for name, r := range reports {
		if err := validate(t, s, diffOutput(t, "json", r, report.DiffOptions{})); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestDiffSchemaRefusesWrongOutput(t *testing.T) {
	s := compileSchema(t, diffSchema)
	first := func(doc map[string]any, list string) map[string]any { return doc[list].([]any)[0].(map[string]any) }
	for name, spoil := range map[string]func(doc map[string]any){
		"another version":         func(doc map[string]any) { doc["schemaVersion"] = 2 },
		"an unknown key":          func(doc map[string]any) { doc["extra"] = 1 },
		"compatible all the same": func(doc map[string]any) { doc["compatible"] = true },
		"violations of none":      func(doc map[string]any) { doc["violations"] = []any{} },
		"null grants":             func(doc map[string]any) { doc["grants"] = nil },
		"an unknown mode":         func(doc map[string]any) { first(doc, "grants")["admitted"] = "wo" },
		"invalid as requested":    func(doc map[string]any) { first(doc, "grants")["requested"] = "invalid" },
		"an unknown verdict":      func(doc map[string]any) { first(doc, "grants")["verdict"] = "odd" },
		"no path":                 func(doc map[string]any) { delete(first(doc, "violations"), "path") },
		"no admitted value":       func(doc map[string]any) { delete(first(doc, "violations"), "admitted") },
		"a rule of other shape":   func(doc map[string]any) { first(doc, "violations")["rule"] = "No Kebab" },
		"an unknown severity":     func(doc map[string]any) { first(doc, "escalations")["severity"] = "fatal" },
		"an unknown kind":         func(doc map[string]any) { first(doc, "accepted")["kind"] = "moved" },
		"an unknown refusal": func(doc map[string]any) {
			doc["refusals"] = []any{map[string]any{"object": "Pod", "reason": "mood", "message": "x"}}
		},
		"a refusal of nothing": func(doc map[string]any) { doc["refusals"] = []any{} },
		"a warning of no text": func(doc map[string]any) { doc["warnings"] = []any{1} },
	} {
		t.Run(name, func(t *testing.T) {
			var doc map[string]any
			if err := json.Unmarshal([]byte(diffOutput(t, "json", diffReports(t)["violations"], report.DiffOptions{})), &doc); err != nil {
				t.Fatal(err)
			}
			spoil(doc)
			spoiled, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if validate(t, s, string(spoiled)) == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestDiffUnknownFormat(t *testing.T) {
	err := report.Diff(&bytes.Buffer{}, "sarif", report.Comparison{}, report.DiffOptions{})
	if err == nil || !strings.Contains(err.Error(), "text, json, yaml") {
		t.Error(err)
	}
}

var errClosed = errors.New("closed")

type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, errClosed }

func TestDiffReturnsTheWritersError(t *testing.T) {
	for _, format := range report.DiffFormats() {
		if err := report.Diff(closedWriter{}, format, report.Comparison{}, report.DiffOptions{}); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
