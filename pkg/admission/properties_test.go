package admission_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

func mode(t *rapid.T) compose.WorkspaceMode {
	return rapid.SampledFrom(compose.WorkspaceModes()).Draw(t, "mode")
}

// TestItself: a composed Pod is compatible with itself, and lists nothing.
func TestItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := mutation.Composed(t, mode(t))
		empty(t, comparePod(t, objects.Pod, objects.Pod, admission.AtCreate))
		admitted := objects.Pod.DeepCopy()
		mutation.APIDefaults(admitted)
		empty(t, comparePod(t, objects.Pod, admitted, admission.AtCreate))
		empty(t, comparePod(t, admitted, objects.Pod, admission.AtCreate))
		if objects.Claim != nil {
			empty(t, admission.ComparePVC(objects.Claim, objects.Claim, admission.Options{}))
		}
	})
}

func empty(t *rapid.T, r admission.Report) {
	t.Helper()
	if !r.Compatible || len(r.Violations)+len(r.Accepted)+len(r.Escalations) > 0 {
		t.Fatalf("not the same: %+v", r)
	}
}

// TestNothingIsLost: a report is empty exactly when both objects mean the same, whatever was done to one.
func TestNothingIsLost(t *testing.T) {
	operators := mutation.PodOperators()
	rapid.Check(t, func(t *rapid.T) {
		requested := mutation.Composed(t, mode(t)).Pod
		admitted := requested.DeepCopy()
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			admitted = attempt(t, rapid.SampledFrom(operators).Draw(t, "operator"), admitted)
		}
		r := comparePod(t, requested, admitted, admission.AtCreate)
		silent := len(r.Violations)+len(r.Accepted) == 0
		if same := equality.Semantic.DeepEqual(canonical(requested), canonical(admitted)); same != silent {
			t.Fatalf("the Pods are the same: %v; the report is empty: %v\n%+v", same, silent, r)
		}
	})
}

// attempt applies an operator to a Pod that others may have taken apart already. Where it finds nothing to change
// the Pod stays as it is.
func attempt(t *rapid.T, o mutation.PodOperator, p *corev1.Pod) (out *corev1.Pod) {
	r := chance(t)
	defer func() {
		if recover() != nil {
			out = p
		}
	}()
	changed := p.DeepCopy()
	if o.Applies(changed) {
		o.Apply(r, changed)
	}
	return changed
}

// canonical writes out the defaults and sorts what has no order, by other means than the comparison's.
func canonical(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	mutation.APIDefaults(p)
	p.UID, p.ResourceVersion, p.Generation, p.Status = "", "", 0, corev1.PodStatus{}
	by(p.Spec.Volumes, func(v corev1.Volume) string { return v.Name })
	by(p.Spec.Containers, func(c corev1.Container) string { return c.Name })
	by(p.Spec.Tolerations, func(t corev1.Toleration) string { return t.Key + string(t.Effect) + t.Value })
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			by(c.Env, func(e corev1.EnvVar) string { return e.Name })
			by(c.Ports, func(p corev1.ContainerPort) string { return p.Name + string(p.Protocol) })
			by(c.VolumeMounts, func(m corev1.VolumeMount) string { return m.MountPath })
			for j := range c.VolumeMounts {
				m := &c.VolumeMounts[j]
				if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationNone {
					m.MountPropagation = nil
				}
				if m.RecursiveReadOnly != nil && *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
					m.RecursiveReadOnly = nil
				}
			}
		}
	}
	return p
}

func by[T any](list []T, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
}

// TestOrderIsNothing: the order of an admitted Pod's lists does not reach the report.
func TestOrderIsNothing(t *testing.T) {
	operators := mutation.PodOperators()
	rapid.Check(t, func(t *rapid.T) {
		requested := mutation.Composed(t, mode(t)).Pod
		admitted := requested.DeepCopy()
		o := rapid.SampledFrom(operators).Draw(t, "operator")
		if !o.Applies(admitted) || strings.HasSuffix(o.Name, "-twice") {
			return // of two items of one name, which is the second depends on the order
		}
		o.Apply(chance(t), admitted)
		before := comparePod(t, requested, admitted, admission.AtCreate)
		for _, o := range operators {
			if strings.HasSuffix(o.Name, "-reordered") {
				o.Apply(chance(t), admitted)
			}
		}
		if after := comparePod(t, requested, admitted, admission.AtCreate); !equality.Semantic.DeepEqual(before, after) {
			t.Fatalf("before %+v\nafter %+v", before, after)
		}
	})
}

// TestBothWays: what is added one way is removed the other.
func TestBothWays(t *testing.T) {
	opposite := map[admission.ChangeKind]admission.ChangeKind{
		admission.Added: admission.Removed, admission.Removed: admission.Added, admission.Changed: admission.Changed,
	}
	operators := slices.DeleteFunc(mutation.PodOperators(), func(o mutation.PodOperator) bool { return o.Kind != mutation.Neutral || o.Running })
	rapid.Check(t, func(t *rapid.T) {
		requested := mutation.Composed(t, mode(t)).Pod
		admitted := requested.DeepCopy()
		o := rapid.SampledFrom(operators).Draw(t, "operator")
		if !o.Applies(admitted) {
			return
		}
		o.Apply(chance(t), admitted)
		there := comparePod(t, requested, admitted, admission.AtCreate)
		back := comparePod(t, admitted, requested, admission.AtCreate)
		for i := range there.Accepted {
			there.Accepted[i].Kind = opposite[there.Accepted[i].Kind]
		}
		if len(back.Violations) == 0 && !slices.Equal(there.Accepted, back.Accepted) {
			t.Fatalf("there %v\nback %v", there.Accepted, back.Accepted)
		}
	})
}

// TestInputsAreNotChanged: a comparison works on copies.
func TestInputsAreNotChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := mutation.Composed(t, compose.ManagedPVC)
		pod, claim := objects.Pod.DeepCopy(), objects.Claim.DeepCopy()
		comparePod(t, objects.Pod, objects.Pod, admission.AtCreate)
		admission.ComparePVC(objects.Claim, objects.Claim, admission.Options{})
		if !equality.Semantic.DeepEqual(pod, objects.Pod) || !equality.Semantic.DeepEqual(claim, objects.Claim) {
			t.Fatal("changed")
		}
	})
}
