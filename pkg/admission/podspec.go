package admission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// podSpec compares the owned fields of the Pod itself.
func (c *podComparison) podSpec() {
	r, a := &c.requested.Spec, &c.admitted.Spec
	same(&c.collector, compose.RuleOwnedRestartPolicy, specRoot.Child("restartPolicy"), "restartPolicy was changed", r.RestartPolicy, a.RestartPolicy)
	c.operatingSystem(r.OS, a.OS)
	c.scheduledNode()
	c.nodeSelector(r.NodeSelector, a.NodeSelector)
	c.platformAffinity(r, a)
	if !equal(&r.AutomountServiceAccountToken, &a.AutomountServiceAccountToken) {
		c.add(RuleTokenAutomount, specRoot.Child("automountServiceAccountToken"),
			"automountServiceAccountToken was changed", r.AutomountServiceAccountToken, a.AutomountServiceAccountToken)
	}
	c.processNamespaces(r, a)
}

// scheduledNode compares nodeName, which the scheduler sets later on.
func (c *podComparison) scheduledNode() {
	if c.options.Phase == AtCreate || c.requested.Spec.NodeName != "" {
		same(&c.collector, compose.RuleOwnedNodeName, specRoot.Child("nodeName"),
			"nodeName was changed, which bypasses the scheduler", c.requested.Spec.NodeName, c.admitted.Spec.NodeName)
	}
}

func (c *podComparison) operatingSystem(r, a *corev1.PodOS) {
	name := func(os *corev1.PodOS) corev1.OSName {
		if os == nil {
			return ""
		}
		return os.Name
	}
	same(&c.collector, compose.RuleOwnedOS, specRoot.Child("os", "name"), "os.name was changed", name(r), name(a))
}

func (c *podComparison) nodeSelector(r, a map[string]string) {
	for _, key := range platformKeys {
		was, requested := r[key]
		is, admitted := a[key]
		c.entry(compose.RuleOwnedNodeSelector, specRoot.Child("nodeSelector").Key(key), "nodeSelector "+key, requested, admitted, was, is)
	}
}

// platformKeys are the node labels that the profile's platform decides.
var platformKeys = []string{compose.NodeOSLabel, compose.NodeArchLabel}

// processNamespaces refuses what lets one container look into another through /proc.
func (c *podComparison) processNamespaces(r, a *corev1.PodSpec) {
	if isTrue(a.ShareProcessNamespace) && !isTrue(r.ShareProcessNamespace) {
		c.add(RuleProcessNamespace, specRoot.Child("shareProcessNamespace"),
			"shareProcessNamespace was turned on: every container could read the agent's credentials through /proc",
			r.ShareProcessNamespace, a.ShareProcessNamespace)
	}
	if a.HostPID && !r.HostPID {
		c.add(RuleProcessNamespace, specRoot.Child("hostPID"),
			"hostPID was turned on: the agent's processes, and through /proc its credentials, are in reach of other containers", r.HostPID, a.HostPID)
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// requirementAt is one requirement of a node affinity and its place.
type requirementAt struct {
	corev1.NodeSelectorRequirement

	at         *field.Path
	matchField bool
}

// platformAffinity refuses added node affinity that the platform's nodes cannot meet.
func (c *podComparison) platformAffinity(r, a *corev1.PodSpec) {
	known := map[string]bool{}
	for _, x := range nodeRequirements(r.Affinity) {
		known[x.text()] = true
	}
	for _, x := range nodeRequirements(a.Affinity) {
		value, owned := r.NodeSelector[x.Key]
		if !slices.Contains(platformKeys, x.Key) || known[x.text()] || owned && !x.matchField && x.allows(value) {
			continue
		}
		c.add(compose.RuleOwnedNodeAffinity, x.at,
			fmt.Sprintf("node affinity was added that contradicts the platform: %s", x.text()), nil, x.text())
	}
}

// text is the requirement as kubectl writes selectors.
func (x *requirementAt) text() string {
	s := fmt.Sprintf("%s %s", x.Key, x.Operator)
	if len(x.Values) > 0 {
		s += " [" + strings.Join(x.Values, " ") + "]"
	}
	return s
}

// allows reports whether a node whose label has this value meets the requirement.
func (x *requirementAt) allows(value string) bool {
	switch x.Operator {
	case corev1.NodeSelectorOpIn:
		return slices.Contains(x.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(x.Values, value)
	case corev1.NodeSelectorOpExists:
		return true
	case corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
	}
	return false
}

func nodeRequirements(a *corev1.Affinity) []requirementAt {
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	at := specRoot.Child("affinity", "nodeAffinity")
	var out []requirementAt
	if required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms := at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		for i := range required.NodeSelectorTerms {
			out = append(out, termRequirements(&required.NodeSelectorTerms[i], terms.Index(i))...)
		}
	}
	preferred := at.Child("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term := &a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference
		out = append(out, termRequirements(term, preferred.Index(i).Child("preference"))...)
	}
	return out
}

func termRequirements(t *corev1.NodeSelectorTerm, at *field.Path) []requirementAt {
	var out []requirementAt
	for i, r := range t.MatchExpressions {
		out = append(out, requirementAt{r, at.Child("matchExpressions").Index(i), false})
	}
	for i, r := range t.MatchFields {
		out = append(out, requirementAt{r, at.Child("matchFields").Index(i), true})
	}
	return out
}
