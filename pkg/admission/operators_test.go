package admission_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// comparePod compares without policy findings.
func comparePod(t rapid.TB, requested, admitted *corev1.Pod, phase admission.Phase) admission.Report {
	t.Helper()
	r, err := admission.ComparePod(requested, admitted, admission.Options{Phase: phase})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func chance(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
}

// TestEveryPodOperator applies every operator to generated Pods in every workspace mode, with and without the
// defaults that the API server would add.
func TestEveryPodOperator(t *testing.T) {
	operators := mutation.PodOperators()
	for _, mode := range compose.WorkspaceModes() {
		t.Run(string(mode), func(t *testing.T) {
			tried := map[string]bool{}
			rapid.Check(t, func(t *rapid.T) {
				requested := mutation.Composed(t, mode).Pod
				r := chance(t)
				for _, o := range operators {
					if o.Applies(requested) {
						tried[o.Name] = true
						tryPod(t, o, r, requested)
					}
				}
			})
			for _, o := range operators {
				if !tried[o.Name] && !strings.HasPrefix(o.Name, "claim-") && o.Name != "workspace-read-only-claim" {
					t.Errorf("%s fits no generated Pod", o.Name)
				}
			}
		})
	}
}

func tryPod(t *rapid.T, o mutation.PodOperator, r *rand.Rand, requested *corev1.Pod) {
	t.Helper()
	admitted := requested.DeepCopy()
	o.Apply(r, admitted)
	phase := admission.AtCreate
	if o.Running {
		phase = admission.Later
	}
	if r.IntN(2) == 0 {
		mutation.APIDefaults(admitted)
	}
	judge(t, o.Name, o.Names, o.Kind, comparePod(t, requested, admitted, phase))
}

// judge holds a report against what an operator promises.
func judge(t *rapid.T, name string, names func(string) bool, kind mutation.Kind, r admission.Report) {
	t.Helper()
	named := slices.ContainsFunc(r.Violations, func(v admission.Violation) bool { return names(v.Path) })
	switch {
	case r.Compatible != (len(r.Violations) == 0):
		t.Fatalf("%s: compatible is %v with violations %v", name, r.Compatible, r.Violations)
	case kind == mutation.Tamper && !named:
		t.Fatalf("%s: no violation names the field: %+v", name, r.Violations)
	case kind != mutation.Tamper && !r.Compatible:
		t.Fatalf("%s: not compatible: %+v", name, r.Violations)
	case kind == mutation.Neutral && len(r.Accepted) == 0:
		t.Fatalf("%s: nothing is listed", name)
	case kind == mutation.Silent && len(r.Accepted) > 0:
		t.Fatalf("%s: lists %v", name, r.Accepted)
	}
}

func TestEveryClaimOperator(t *testing.T) {
	for _, o := range mutation.ClaimOperators() {
		t.Run(o.Name, func(t *testing.T) {
			tried := 0
			rapid.Check(t, func(t *rapid.T) {
				requested := mutation.Composed(t, compose.ManagedPVC).Claim
				if !o.Applies(requested) {
					return
				}
				tried++
				admitted := requested.DeepCopy()
				o.Apply(chance(t), admitted)
				judge(t, o.Name, o.Names, o.Kind, admission.ComparePVC(requested, admitted, admission.Options{}))
			})
			if tried == 0 {
				t.Error("the operator fits no generated claim")
			}
		})
	}
}

// TestOperatorNames keeps the operators' names apart: tests and evidence refer to them.
func TestOperatorNames(t *testing.T) {
	seen := map[string]bool{}
	check := func(name, field string, kind mutation.Kind) {
		if seen[name] {
			t.Errorf("two operators are named %s", name)
		}
		seen[name] = true
		if (kind == mutation.Tamper) != (field != "") {
			t.Errorf("%s: field %q for kind %s", name, field, kind)
		}
	}
	for _, o := range mutation.PodOperators() {
		check(o.Name, o.Field, o.Kind)
	}
	if len(seen) < 60 {
		t.Errorf("%d operators", len(seen))
	}
	clear(seen)
	for _, o := range mutation.ClaimOperators() {
		check(o.Name, o.Field, o.Kind)
	}
}

func TestOperatorNamesMatchesPaths(t *testing.T) {
	for _, c := range []struct {
		field, path string
		want        bool
	}{
		{"spec.os.name", "spec.os.name", true},
		{"spec.os", "spec.os.name", true},
		{"spec.os", "spec.osx", false},
		{"spec.containers[*].env[HOME]", "spec.containers[a].env[HOME]", true},
		{"spec.containers[*].env[HOME]", "spec.containers[a].env[PATH]", false},
		{"spec.containers[*]", "spec.containers", false},
		{"spec.containers[*]", "spec.containers[a", false},
		{"metadata.labels[*]", "metadata.labels[a].x", true},
	} {
		o := mutation.PodOperator{Field: c.field}
		if got := o.Names(c.path); got != c.want {
			t.Errorf("%s names %s: %v", c.field, c.path, got)
		}
	}
}
