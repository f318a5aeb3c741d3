package mutation_test

import (
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// TestTemplatesAreValid: what the generator draws breaks no rule, not even one that warns.
func TestTemplatesAreValid(t *testing.T) {
	for _, mode := range compose.WorkspaceModes() {
		t.Run(string(mode), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				template, profile := mutation.Template(t), mutation.Profile(t, mode)
				for _, v := range compose.Validate(template, profile) {
					if v.Severity == finding.Error {
						t.Errorf("%s", v)
					}
				}
				if errs := profile.Validate(); len(errs) > 0 {
					t.Error(errs)
				}
			})
		})
	}
}

// TestOperatorsArePure: an operator changes the object as the source of chance says, and nothing else; a tampering
// one always changes it.
func TestOperatorsArePure(t *testing.T) {
	applied := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		objects := mutation.Composed(t, rapid.SampledFrom(compose.WorkspaceModes()).Draw(t, "mode"))
		seed := rapid.Uint64().Draw(t, "seed")
		for _, o := range mutation.PodOperators() {
			if o.Applies(objects.Pod) {
				check(t, o, objects.Pod, seed, applied)
			}
		}
		for _, o := range mutation.ClaimOperators() {
			if objects.Claim != nil && o.Applies(objects.Claim) {
				check(t, o, objects.Claim, seed, applied)
			}
		}
	})
	for _, o := range mutation.PodOperators() {
		if !applied[o.Name] {
			t.Errorf("%s was never applied", o.Name)
		}
	}
}

func check[T interface{ DeepCopy() T }](t *rapid.T, o mutation.Operator[T], object T, seed uint64, applied map[string]bool) {
	t.Helper()
	applied[o.Name] = true
	first, second := object.DeepCopy(), object.DeepCopy()
	o.Apply(seeded(seed), first)
	o.Apply(seeded(seed), second)
	if !equality.Semantic.DeepEqual(first, second) {
		t.Errorf("%s does different things on the same chance", o.Name)
	}
	if o.Kind == mutation.Tamper && equality.Semantic.DeepEqual(first, object) {
		t.Errorf("%s changes nothing", o.Name)
	}
}

func TestAPIDefaultsAreFinal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mutation.Composed(t, compose.EmptyDir).Pod
		mutation.APIDefaults(p)
		again := p.DeepCopy()
		mutation.APIDefaults(again)
		if !equality.Semantic.DeepEqual(p, again) {
			t.Error("the second time changes something")
		}
	})
}
