package podrules

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	restartPolicies = []corev1.RestartPolicy{
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever,
	}
	preemptionPolicies = []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}
)

// podSpec checks the spec, in the order of its parts that others refer to: volumes and claims first.
func (c *checker) podSpec(p *field.Path) {
	c.podVolumes(p.Child("volumes"))
	c.podResourceClaims(p.Child("resourceClaims"))
	c.containers(p.Child("containers"))
	c.initContainers(p.Child("initContainers"))
	c.podResources(p)
	c.hostNetworkPorts(p.Child("containers"))
	c.podSecurity(p)
	c.scheduling(p)
	c.dns(p)
	c.hostName(p)
	c.names(p)
	c.limits(p)
	c.operatingSystem(p)
	c.fileKeyVolumes(p)
}

// onCreate checks what the server looks at only when a Pod is created.
func (c *checker) onCreate(p *field.Path) {
	c.eachContainer(p, func(at place, ctr *corev1.Container) {
		if strings.TrimSpace(ctr.Image) != ctr.Image {
			c.invalid(at.path().Child("image"), ctr.Image, "must not have leading or trailing whitespace")
		}
	})
	if c.spec.NodeName != "" && len(c.spec.SchedulingGates) > 0 {
		c.forbidden(p.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")
	}
	c.profilesAgree(p)
}

// names checks references to objects by their names.
func (c *checker) names(p *field.Path) {
	account := c.spec.ServiceAccountName
	if account == "" {
		account = c.spec.DeprecatedServiceAccount
	}
	c.dnsSubdomainIfSet(p, "serviceAccountName", account)
	c.dnsSubdomainIfSet(p, "nodeName", c.spec.NodeName)
	c.dnsSubdomainIfSet(p, "priorityClassName", c.spec.PriorityClassName)
	if c.spec.RuntimeClassName != nil {
		c.dnsSubdomain(p, "runtimeClassName", *c.spec.RuntimeClassName)
	}
}

// limits checks policies, durations and the other single values.
func (c *checker) limits(p *field.Path) {
	if c.spec.RestartPolicy != "" {
		oneOf(c, p, "restartPolicy", c.spec.RestartPolicy, restartPolicies)
	}
	if d := c.spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		c.invalid(p.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32))
	}
	switch policy := c.spec.PreemptionPolicy; {
	case policy == nil:
	case *policy == "":
		c.required(p.Child("preemptionPolicy"), "")
	default:
		oneOf(c, p, "preemptionPolicy", *policy, preemptionPolicies)
	}
	for i := range c.spec.ReadinessGates {
		c.qualifiedName(p.Child("readinessGates").Index(i).Child("conditionType"), string(c.spec.ReadinessGates[i].ConditionType))
	}
	if c.spec.Overhead != nil {
		c.resources(p.Child("overhead"), requirements{limits: rounded(c.spec.Overhead)}, c.containerResourceName)
	}
}

// gracePeriod returns terminationGracePeriodSeconds as the server takes it: 30 when absent, 1 when
// negative.
func gracePeriod(spec *corev1.PodSpec) int64 {
	switch s := spec.TerminationGracePeriodSeconds; {
	case s == nil:
		return corev1.DefaultTerminationGracePeriodSeconds
	case *s < 0:
		return 1
	default:
		return *s
	}
}

// place is where a container stands. Its path is only made for an error.
type place struct {
	spec  *field.Path
	list  string
	index int
}

func (p place) path() *field.Path {
	return p.spec.Child(p.list).Index(p.index)
}

// eachContainer calls f with every init container, then every ordinary one.
func (c *checker) eachContainer(spec *field.Path, f func(place, *corev1.Container)) {
	for i := range c.spec.InitContainers {
		f(place{spec, "initContainers", i}, &c.spec.InitContainers[i])
	}
	for i := range c.spec.Containers {
		f(place{spec, "containers", i}, &c.spec.Containers[i])
	}
}
