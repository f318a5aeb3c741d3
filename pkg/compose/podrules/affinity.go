package podrules

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"

	maxWeight       = 100
	invalidOperator = "not a valid selector operator"
)

func (c *checker) affinity(p *field.Path, a *corev1.Affinity) {
	if a.NodeAffinity != nil {
		c.nodeAffinity(p.Child("nodeAffinity"), a.NodeAffinity)
	}
	if pods := a.PodAffinity; pods != nil {
		c.podTerms(p.Child("podAffinity"), pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pods := a.PodAntiAffinity; pods != nil {
		c.podTerms(p.Child("podAntiAffinity"), pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (c *checker) nodeAffinity(p *field.Path, a *corev1.NodeAffinity) {
	if selector := a.RequiredDuringSchedulingIgnoredDuringExecution; selector != nil {
		terms := p.Child(requiredTerms, "nodeSelectorTerms")
		if len(selector.NodeSelectorTerms) == 0 {
			c.required(terms, "must have at least one node selector term")
		}
		for i := range selector.NodeSelectorTerms {
			c.nodeTerm(terms.Index(i), &selector.NodeSelectorTerms[i], true)
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i], p.Child(preferredTerms).Index(i)
		c.weight(at, term.Weight)
		c.nodeTerm(at.Child("preference"), &term.Preference, false)
	}
}

func (c *checker) weight(p *field.Path, weight int32) {
	if weight <= 0 || weight > maxWeight {
		c.invalid(p.Child("weight"), weight, "must be in the range 1-100")
	}
}

// nodeTerm checks one term. A preference may ask for values that no label can have.
func (c *checker) nodeTerm(p *field.Path, term *corev1.NodeSelectorTerm, labelValues bool) {
	for i := range term.MatchExpressions {
		c.nodeExpression(p.Child("matchExpressions").Index(i), &term.MatchExpressions[i], labelValues)
	}
	for i := range term.MatchFields {
		c.nodeField(p.Child("matchFields").Index(i), &term.MatchFields[i])
	}
}

func (c *checker) nodeExpression(p *field.Path, r *corev1.NodeSelectorRequirement, labelValues bool) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			c.required(p.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			c.forbidden(p.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			c.required(p.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		c.invalid(p.Child("operator"), r.Operator, invalidOperator)
	}
	c.labelKey(p, r.Key)
	if !labelValues {
		return
	}
	for i, value := range r.Values {
		if !isLabelValue(value) {
			c.invalidEach(p.Child("values").Index(i), value, validation.IsValidLabelValue(value))
		}
	}
}

// nodeField checks a term on a field of the node, of which there is one: its name.
func (c *checker) nodeField(p *field.Path, r *corev1.NodeSelectorRequirement) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			c.required(p.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
	default:
		c.invalid(p.Child("operator"), r.Operator, invalidOperator)
	}
	if r.Key != metav1.ObjectNameField {
		c.invalid(p.Child("key"), r.Key, "not a valid field selector key")
		return
	}
	for i, value := range r.Values {
		if !isDNSSubdomain(value) {
			c.invalidEach(p.Child("values").Index(i), value, validation.IsDNS1123Subdomain(value))
		}
	}
}

// podTerms checks the terms of podAffinity or podAntiAffinity.
func (c *checker) podTerms(p *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		c.podTerm(p.Child(requiredTerms).Index(i), &required[i])
	}
	for i := range preferred {
		at := p.Child(preferredTerms).Index(i)
		c.weight(at, preferred[i].Weight)
		c.podTerm(at.Child("podAffinityTerm"), &preferred[i].PodAffinityTerm)
	}
}

func (c *checker) podTerm(p *field.Path, term *corev1.PodAffinityTerm) {
	c.selector(p, term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys)
	if term.NamespaceSelector != nil {
		c.labelSelector(p.Child("namespaceSelector"), term.NamespaceSelector)
	}
	for _, name := range term.Namespaces {
		c.dnsLabel(p, "namespace", name)
	}
	if term.TopologyKey == "" {
		c.required(p.Child("topologyKey"), "can not be empty")
	}
	if !isQualifiedName(term.TopologyKey) {
		c.qualifiedName(p.Child("topologyKey"), term.TopologyKey)
	}
}
