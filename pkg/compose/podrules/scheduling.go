package podrules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	taintEffects = []corev1.TaintEffect{
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
	}
	tolerationOperators = []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	spreadActions       = []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	inclusionPolicies   = []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
)

func (c *checker) scheduling(spec *field.Path) {
	c.labels(spec.Child("nodeSelector"), c.spec.NodeSelector)
	if c.spec.Affinity != nil {
		c.affinity(spec.Child("affinity"), c.spec.Affinity)
	}
	c.schedulingGates(spec)
	for i := range c.spec.TopologySpreadConstraints {
		c.topologySpread(spec.Child("topologySpreadConstraints").Index(i), i)
	}
	c.tolerations(spec.Child("tolerations"), c.spec.Tolerations)
}

func (c *checker) schedulingGates(spec *field.Path) {
	seen := sets.Set[string]{}
	for i := range c.spec.SchedulingGates {
		name, p := c.spec.SchedulingGates[i].Name, spec.Child("schedulingGates").Index(i)
		c.qualifiedName(p, name)
		if seen.Has(name) {
			c.duplicate(p, name)
		}
		seen.Insert(name)
	}
}

func (c *checker) tolerations(p *field.Path, tolerations []corev1.Toleration) {
	for i := range tolerations {
		c.toleration(p.Index(i), &tolerations[i])
	}
}

func (c *checker) toleration(p *field.Path, t *corev1.Toleration) {
	if t.Key != "" {
		c.labelKey(p, t.Key)
	} else if t.Operator != corev1.TolerationOpExists {
		c.invalid(p.Child("operator"), t.Operator,
			`operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		c.invalid(p.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if !isLabelValue(t.Value) {
			c.invalid(p.Child("operator"), t.Value, strings.Join(validation.IsValidLabelValue(t.Value), ";"))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			c.invalid(p.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'")
		}
	default:
		// Lt and Gt are behind a feature gate that is off.
		oneOf(c, p, "operator", t.Operator, tolerationOperators)
	}
	if t.Effect != "" {
		oneOf(c, p, "effect", t.Effect, taintEffects)
	}
}

// labelKey reports the key field of p when it is no label key.
func (c *checker) labelKey(p *field.Path, key string) {
	if !isQualifiedName(key) {
		c.qualifiedName(p.Child("key"), key)
	}
}

func (c *checker) topologySpread(p *field.Path, i int) {
	s := &c.spec.TopologySpreadConstraints[i]
	if s.MaxSkew <= 0 {
		c.invalid(p.Child("maxSkew"), s.MaxSkew, "must be greater than zero")
	}
	if s.TopologyKey == "" {
		c.required(p.Child("topologyKey"), "can not be empty")
	}
	oneOf(c, p, "whenUnsatisfiable", s.WhenUnsatisfiable, spreadActions)
	again := func(o corev1.TopologySpreadConstraint) bool {
		return o.TopologyKey == s.TopologyKey && o.WhenUnsatisfiable == s.WhenUnsatisfiable
	}
	if slices.ContainsFunc(c.spec.TopologySpreadConstraints[i+1:], again) {
		c.duplicate(p.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%s, %s}", s.TopologyKey, s.WhenUnsatisfiable))
	}
	if s.MinDomains != nil {
		c.minDomains(p.Child("minDomains"), *s.MinDomains, s.WhenUnsatisfiable)
	}
	oneOfIfSet(c, p, "nodeAffinityPolicy", s.NodeAffinityPolicy, inclusionPolicies)
	oneOfIfSet(c, p, "nodeTaintsPolicy", s.NodeTaintsPolicy, inclusionPolicies)
	c.selector(p, s.LabelSelector, s.MatchLabelKeys, nil)
}

func (c *checker) minDomains(p *field.Path, n int32, action corev1.UnsatisfiableConstraintAction) {
	if n <= 0 {
		c.invalid(p, n, "must be greater than zero")
	}
	if action != corev1.DoNotSchedule {
		c.invalid(p, n, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, action))
	}
}

// selector checks labelSelector at p, after the server has added to it the Pod's values of the labels in
// match and mismatch, and these keys.
func (c *checker) selector(p *field.Path, selector *metav1.LabelSelector, match, mismatch []string) {
	selector = c.merged(selector, match, mismatch)
	c.labelKeys(p.Child("matchLabelKeys"), match, selector)
	c.labelKeys(p.Child("mismatchLabelKeys"), mismatch, selector)
	if selector != nil {
		c.selectedTwice(p, selector, match)
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			c.invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
	if selector != nil {
		c.labelSelector(p.Child("labelSelector"), selector)
	}
}

func (c *checker) labelSelector(p *field.Path, selector *metav1.LabelSelector) {
	start := len(c.errs)
	c.add(metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, p))
	c.sortFrom(start)
}

// merged returns the selector with an expression for each of the keys that the Pod has a label of.
func (c *checker) merged(selector *metav1.LabelSelector, match, mismatch []string) *metav1.LabelSelector {
	if selector == nil || len(match) == 0 && len(mismatch) == 0 {
		return selector
	}
	out := &metav1.LabelSelector{MatchLabels: selector.MatchLabels, MatchExpressions: slices.Clone(selector.MatchExpressions)}
	for _, keys := range []struct {
		keys     []string
		operator metav1.LabelSelectorOperator
	}{{match, metav1.LabelSelectorOpIn}, {mismatch, metav1.LabelSelectorOpNotIn}} {
		for _, key := range keys.keys {
			if value, ok := c.podLabel(key); ok {
				out.MatchExpressions = append(out.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: key, Operator: keys.operator, Values: []string{value}})
			}
		}
	}
	return out
}

func (c *checker) podLabel(key string) (string, bool) {
	if value, ok := c.options.KnownLabels[key]; ok {
		return value, true
	}
	value, ok := c.meta.Labels[key]
	return value, ok
}

func (c *checker) labelKeys(p *field.Path, keys []string, selector *metav1.LabelSelector) {
	if len(keys) > 0 && selector == nil {
		c.forbidden(p, "must not be specified when labelSelector is not set")
		return
	}
	for i, key := range keys {
		c.qualifiedName(p.Index(i), key)
	}
}

// selectedTwice reports a key of matchLabelKeys that the selector has already. The server names the
// constraint with the index of the key.
func (c *checker) selectedTwice(p *field.Path, selector *metav1.LabelSelector, match []string) {
	if len(match) == 0 {
		return
	}
	seen := sets.KeySet(selector.MatchLabels)
	for i := range selector.MatchExpressions {
		key := selector.MatchExpressions[i].Key
		if at := lastIndex(match, key); at >= 0 && seen.Has(key) {
			c.invalid(p.Index(at), key, "exists in both matchLabelKeys and labelSelector")
		}
		seen.Insert(key)
	}
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}
