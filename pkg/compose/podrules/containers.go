package podrules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxRestartRules     = 20
	maxRestartExitCodes = 255

	needsRestartPolicy = "must specify restartPolicy when restart rules are used"
)

var (
	pullPolicies        = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	terminationPolicies = []corev1.TerminationMessagePolicy{
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError,
	}
	containerRestartPolicies = []corev1.ContainerRestartPolicy{
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure,
	}
	restartRuleActions = []corev1.ContainerRestartRuleAction{
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers,
	}
	oldRestartRuleActions = restartRuleActions[:1]
	restartRuleOperators  = []corev1.ContainerRestartRuleOnExitCodesOperator{
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn,
	}
	resizeResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	resizePolicies  = []corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}
)

func (c *checker) containers(p *field.Path) {
	if len(c.spec.Containers) == 0 {
		c.required(p, "")
		return
	}
	names := make(sets.Set[string], len(c.spec.Containers))
	for i := range c.spec.Containers {
		ctr, at := &c.spec.Containers[i], p.Index(i)
		c.container(at, ctr)
		if names.Has(ctr.Name) {
			c.duplicate(at.Child("name"), ctr.Name)
		}
		names.Insert(ctr.Name)
		c.lifecycle(at, ctr.Lifecycle)
		c.probes(at, ctr)
		c.restartRules(at, ctr)
	}
	c.hostPortsUnique(p, c.spec.Containers)
}

func (c *checker) initContainers(p *field.Path) {
	names := make(sets.Set[string], len(c.spec.Containers))
	for i := range c.spec.Containers {
		names.Insert(c.spec.Containers[i].Name)
	}
	for i := range c.spec.InitContainers {
		ctr, at := &c.spec.InitContainers[i], p.Index(i)
		c.container(at, ctr)
		c.initRestartRules(at, ctr)
		if names.Has(ctr.Name) {
			c.duplicate(at.Child("name"), ctr.Name)
		} else if ctr.Name != "" {
			names.Insert(ctr.Name)
		}
		// Init containers run one after the other, so each has the host's ports to itself.
		c.hostPortsUnique(p, c.spec.InitContainers[i:i+1])
		if isSidecar(ctr) {
			c.lifecycle(at, ctr.Lifecycle)
			c.probes(at, ctr)
		} else {
			c.plainInit(at, ctr)
		}
	}
}

// isSidecar holds for an init container that runs as long as the Pod.
func isSidecar(ctr *corev1.Container) bool {
	return ctr.RestartPolicy != nil && *ctr.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// plainInit reports what makes no sense in an init container that ends.
func (c *checker) plainInit(p *field.Path, ctr *corev1.Container) {
	const detail = "may not be set for init containers without restartPolicy=Always"
	if hasHandlers(ctr.Lifecycle) {
		c.forbidden(p.Child("lifecycle"), detail)
	}
	if ctr.LivenessProbe != nil {
		c.forbidden(p.Child("livenessProbe"), detail)
	}
	if ctr.ReadinessProbe != nil {
		c.forbidden(p.Child("readinessProbe"), detail)
	}
	if ctr.StartupProbe != nil {
		c.forbidden(p.Child("startupProbe"), detail)
	}
	for i := range ctr.ResizePolicy {
		if c.since(initResizePolicy) && ctr.ResizePolicy[i].RestartPolicy == corev1.RestartContainer {
			c.invalid(p.Child("resizePolicy").Index(i).Child("restartPolicy"), corev1.RestartContainer,
				"must not be set to 'RestartContainer' for non-sidecar initContainers")
		}
	}
}

// container checks what ordinary and init containers have in common.
func (c *checker) container(p *field.Path, ctr *corev1.Container) {
	if ctr.Name == "" {
		c.required(p.Child("name"), "")
	} else {
		c.dnsLabel(p, "name", ctr.Name)
	}
	c.needed(p, "image", ctr.Image)
	if ctr.TerminationMessagePolicy != "" {
		oneOf(c, p, "terminationMessagePolicy", ctr.TerminationMessagePolicy, terminationPolicies)
	}
	c.ports(p, ctr.Ports)
	c.env(p, ctr.Env)
	c.envFrom(p, ctr.EnvFrom)
	c.mounts(p, ctr)
	c.devices(p, ctr)
	if ctr.ImagePullPolicy != "" {
		oneOf(c, p, "imagePullPolicy", ctr.ImagePullPolicy, pullPolicies)
	}
	c.resources(p.Child("resources"), containerRequirements(ctr), c.containerResourceName)
	c.resizePolicy(p, ctr.ResizePolicy)
	if ctr.SecurityContext != nil {
		c.containerSecurity(p.Child("securityContext"), ctr.SecurityContext)
	}
}

func (c *checker) resizePolicy(p *field.Path, policies []corev1.ContainerResizePolicy) {
	if len(policies) == 0 {
		return
	}
	resized := sets.Set[corev1.ResourceName]{}
	for i := range policies {
		policy := &policies[i]
		if resized.Has(policy.ResourceName) {
			c.duplicate(p.Child("resizePolicy").Index(i), policy.ResourceName)
		}
		resized.Insert(policy.ResourceName)
		requiredOneOf(c, p, "resizePolicy", policy.ResourceName, resizeResources)
		requiredOneOf(c, p, "resizePolicy", policy.RestartPolicy, resizePolicies)
		if c.spec.RestartPolicy == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired {
			c.invalid(p.Child("resizePolicy"), policy.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

// requiredOneOf is oneOf for a value without a default.
func requiredOneOf[T ~string](c *checker, p *field.Path, name string, value T, valid []T) {
	if value == "" {
		c.required(p.Child(name), "")
		return
	}
	oneOf(c, p, name, value, valid)
}

// initRestartRules is restartRules for an init container, whose rules the server does not read without a
// restartPolicy.
func (c *checker) initRestartRules(p *field.Path, ctr *corev1.Container) {
	if !c.since(containerRestartRules) {
		return
	}
	if ctr.RestartPolicy == nil && len(ctr.RestartPolicyRules) > 0 {
		c.required(p.Child("restartPolicy"), needsRestartPolicy)
		return
	}
	if isSidecar(ctr) && len(ctr.RestartPolicyRules) > 0 && !c.since(restartAllContainers) {
		c.forbidden(p.Child("restartPolicyRules"), "restartPolicyRules are not allowed for init containers with restart policy Always")
		return
	}
	c.restartRules(p, ctr)
}

// restartRules checks restartPolicy and restartPolicyRules.
func (c *checker) restartRules(p *field.Path, ctr *corev1.Container) {
	if !c.since(containerRestartRules) {
		return
	}
	if ctr.RestartPolicy == nil && len(ctr.RestartPolicyRules) > 0 {
		c.required(p.Child("restartPolicy"), needsRestartPolicy)
	}
	oneOfIfSet(c, p, "restartPolicy", ctr.RestartPolicy, containerRestartPolicies)
	if len(ctr.RestartPolicyRules) == 0 {
		return
	}
	p = p.Child("restartPolicyRules")
	c.tooMany(p, len(ctr.RestartPolicyRules), maxRestartRules)
	for i := range ctr.RestartPolicyRules {
		c.restartRule(p.Index(i), &ctr.RestartPolicyRules[i])
	}
}

func (c *checker) restartRule(p *field.Path, rule *corev1.ContainerRestartRule) {
	if c.since(restartAllContainers) {
		oneOf(c, p, "action", rule.Action, restartRuleActions)
	} else {
		oneOf(c, p, "action", rule.Action, oldRestartRuleActions)
	}
	if rule.ExitCodes == nil {
		c.required(p.Child("exitCodes"), "must be specified")
		return
	}
	oneOf(c, p.Child("exitCodes"), "operator", rule.ExitCodes.Operator, restartRuleOperators)
	c.tooMany(p.Child("exitCodes", "values"), len(rule.ExitCodes.Values), maxRestartExitCodes)
}
