package admission_test

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// at makes a policy that finds one rule at each of some paths.
func at(paths ...string) func(*corev1.Pod) ([]finding.Finding, error) {
	return func(*corev1.Pod) ([]finding.Finding, error) {
		out := make([]finding.Finding, len(paths))
		for i, p := range paths {
			out[i] = finding.Finding{Rule: "x", Path: p}
		}
		return out, nil
	}
}

// TestEscalationPaths: positions become names, whatever the list, and other paths stay as they are.
func TestEscalationPaths(t *testing.T) {
	admitted := objects(t).Pod
	admitted.Annotations["a.b/c"] = "x"
	admitted.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}}
	found := 0
	for path, want := range map[string]string{
		"template.spec.containers[1].volumeMounts[0].readOnly":              "spec.containers[tools].volumeMounts[/workspace].readOnly",
		"spec.containers[kandev-agent].securityContext.capabilities.add[0]": "spec.containers[kandev-agent].securityContext.capabilities.add[SYS_ADMIN]",
		"template.metadata.annotations[a.b/c]":                              "metadata.annotations[a.b/c]",
		"spec.volumes[1].emptyDir.medium":                                   "spec.volumes[kandev-auth].emptyDir.medium",
		"spec.containers[9].image":                                          "spec.containers[9].image",
		"spec.containers[0].image.tag":                                      "spec.containers[kandev-agent].image.tag",
		"spec.hostPID[0]":                                                   "spec.hostPID[0]",
		"spec.unknown.field":                                                "spec.unknown.field",
		"spec.containers[":                                                  "spec.containers[",
		"":                                                                  "",
	} {
		calls := 0
		policy := func(p *corev1.Pod) ([]finding.Finding, error) {
			if calls++; calls == 1 {
				return nil, nil
			}
			return at(path)(p)
		}
		r, err := admission.ComparePod(objects(t).Pod, admitted, admission.Options{Warnings: policy})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Escalations) != 1 || r.Escalations[0].Path != want {
			t.Errorf("%s: %+v, want %s", path, r.Escalations, want)
			continue
		}
		found++
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// TestEscalationsMatchByNameAndValue: a finding that was there already is none, wherever its container stands; one
// whose value changed is.
func TestEscalationsMatchByNameAndValue(t *testing.T) {
	requested := objects(t).Pod
	requested.Spec.Volumes = append(requested.Spec.Volumes, corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/data"},
	}})
	host := func(p *corev1.Pod) ([]finding.Finding, error) {
		i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "host" })
		return at("spec.volumes[" + string(rune('0'+i)) + "].hostPath.path")(p)
	}
	admitted := requested.DeepCopy()
	slices.Reverse(admitted.Spec.Volumes)
	slices.Reverse(admitted.Spec.Containers)
	r, err := admission.ComparePod(requested, admitted, admission.Options{Warnings: host})
	if err != nil || len(r.Escalations) > 0 {
		t.Errorf("%v, %+v", err, r.Escalations)
	}
	admitted.Spec.Volumes[0].HostPath.Path = "/etc"
	r, err = admission.ComparePod(requested, admitted, admission.Options{Warnings: host})
	if err != nil || len(r.Escalations) != 1 {
		t.Errorf("%v, %+v", err, r.Escalations)
	}
}

func TestPolicyErrors(t *testing.T) {
	broken := errors.New("broken policy")
	for failing := 1; failing <= 2; failing++ {
		calls := 0
		_, err := admission.ComparePod(nil, objects(t).Pod, admission.Options{Warnings: func(*corev1.Pod) ([]finding.Finding, error) {
			if calls++; calls == failing {
				return nil, broken
			}
			return nil, nil
		}})
		if !errors.Is(err, broken) {
			t.Errorf("call %d: %v", failing, err)
		}
	}
}

func TestRules(t *testing.T) {
	rules := admission.Rules()
	if !slices.IsSortedFunc(rules, func(a, b finding.Rule) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) }) {
		t.Error("not sorted")
	}
	for _, r := range rules {
		if r.Title == "" || r.Group != "Admission" || r.Description == "" || r.Remedy == "" || r.Severity != finding.Error || r.Source == "" {
			t.Errorf("%s is incomplete", r.Name)
		}
	}
	for _, n := range admission.Normalisations() {
		if n.Field == "" || n.Reason == "" {
			t.Errorf("%+v gives no reason", n)
		}
	}
}
