package podrules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const requestsPrefix = "requests."

var (
	// integerResources are counted in whole units.
	integerResources = sets.New(
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
	)
	// standardResources are the names without a domain that Kubernetes knows, for containers or not.
	standardResources = integerResources.Union(sets.New(
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceRequestsStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	))
	podResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory}
)

// requirements are resources after defaulting.
type requirements struct {
	limits, requests corev1.ResourceList
	claims           []corev1.ResourceClaim
	// copied holds for requests that the server filled in, from limits or from containers.
	copied func(corev1.ResourceName) bool
}

// containerRequirements returns the resources of a container as the server completes them. A limit
// without a request is also the request: as it is valid exactly when the limit is, it is not looked at
// twice.
func containerRequirements(ctr *corev1.Container) requirements {
	return requirements{
		limits:   rounded(ctr.Resources.Limits),
		requests: rounded(ctr.Resources.Requests),
		claims:   ctr.Resources.Claims,
	}
}

// rounded returns the list with quantities rounded up to thousandths, as the server stores them. The
// list itself is returned when all of them are.
func rounded(list corev1.ResourceList) corev1.ResourceList {
	for _, q := range list {
		if r := q.DeepCopy(); !r.RoundUp(resource.Milli) {
			return roundedCopy(list)
		}
	}
	return list
}

func roundedCopy(list corev1.ResourceList) corev1.ResourceList {
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		r := q.DeepCopy()
		r.RoundUp(resource.Milli)
		out[name] = r
	}
	return out
}

// resources checks requests, limits and claims at p; checkName reports names that are not allowed there.
func (c *checker) resources(p *field.Path, r requirements, checkName func(*field.Path, corev1.ResourceName)) {
	start := len(c.errs)
	hugePages, computes := false, false
	for _, list := range []corev1.ResourceList{r.limits, r.requests} {
		for name := range list {
			hugePages = hugePages || isHugePages(name)
			computes = computes || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	for name, q := range r.limits {
		c.quantity(p, "limits", name, q, checkName)
	}
	for name, q := range r.requests {
		if r.copied == nil || !r.copied(name) {
			c.quantity(p, "requests", name, q, checkName)
		}
		c.requestWithinLimit(p, name, q, r.limits)
	}
	c.sortFrom(start)
	if hugePages && !computes {
		c.forbidden(p, "HugePages require cpu or memory")
	}
	c.resourceClaims(p, r.claims)
}

func (c *checker) quantity(p *field.Path, list string, name corev1.ResourceName, q resource.Quantity,
	checkName func(*field.Path, corev1.ResourceName),
) {
	if isPlainQuantity(name, q) {
		return
	}
	p = p.Child(list).Key(string(name))
	checkName(p, name)
	if q.Sign() < 0 {
		c.invalid(p, q.String(), apivalidation.IsNegativeErrorMsg)
	}
	if isInteger(name) && q.MilliValue()%1000 != 0 {
		c.invalid(p, q.String(), "must be an integer")
	}
	if isHugePages(name) && !isPages(name, q) {
		c.invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
	}
}

// isPlainQuantity holds for what needs no closer look: an amount of CPU or memory.
func isPlainQuantity(name corev1.ResourceName, q resource.Quantity) bool {
	return (name == corev1.ResourceCPU || name == corev1.ResourceMemory) && q.Sign() >= 0
}

func (c *checker) requestWithinLimit(p *field.Path, name corev1.ResourceName, q resource.Quantity, limits corev1.ResourceList) {
	limit, ok := limits[name]
	order := q.Cmp(limit)
	switch {
	case !ok && !allowsOvercommit(name):
		c.required(p.Child("limits"), "Limit must be set for non overcommitable resources")
	case ok && order != 0 && !allowsOvercommit(name):
		c.invalid(p.Child("requests"), q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))
	case ok && order > 0:
		c.invalid(p.Child("requests"), q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))
	}
}

// containerResourceName reports a name at p that no container can ask for.
func (c *checker) containerResourceName(p *field.Path, name corev1.ResourceName) {
	c.resourceName(p, name)
	switch {
	case !strings.Contains(string(name), "/"):
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage && !isHugePages(name) {
			c.invalid(p, name, "must be a standard resource for containers")
		}
	case !isNative(name) && !isExtended(name):
		c.invalid(p, name, "doesn't follow extended resource name standard")
	}
}

// podResourceName reports a name at p that cannot be asked for by the Pod as a whole.
func (c *checker) podResourceName(p *field.Path, name corev1.ResourceName) {
	if c.resourceName(p, name) && !isPodResource(name) {
		c.errs = append(c.errs, field.NotSupported(p, name, podResources))
	}
}

// resourceName reports a name that is neither Kubernetes' own nor in a domain, and says whether it is
// one of these.
func (c *checker) resourceName(p *field.Path, name corev1.ResourceName) bool {
	if !isQualifiedName(string(name)) {
		c.invalidEach(p, name, validation.IsQualifiedName(string(name)))
		return false
	}
	if !strings.Contains(string(name), "/") && !isStandard(name) {
		c.invalid(p, name, "must be a standard resource type or fully qualified")
		return false
	}
	return true
}

func isStandard(name corev1.ResourceName) bool {
	return standardResources.Has(name) || isHugePages(name) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isNative holds for names without a domain or in one of kubernetes.io.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtended holds for names in other domains that quotas can count, under the prefix "requests.".
func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), requestsPrefix) && isQualifiedName(requestsPrefix+string(name))
}

func isInteger(name corev1.ResourceName) bool {
	return integerResources.Has(name) || isExtended(name)
}

func isPodResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

func allowsOvercommit(name corev1.ResourceName) bool {
	return isNative(name) && !isHugePages(name)
}

// isPages holds for a multiple of the page size that the name ends with.
func isPages(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return q.Value()%size.Value() == 0
}

// resourceClaims checks the claims that a container uses: each is one of the Pod's, and none is used
// twice, as a whole or by request.
func (c *checker) resourceClaims(p *field.Path, claims []corev1.ResourceClaim) {
	if len(claims) == 0 {
		return
	}
	used := sets.Set[string]{}
	for i := range claims {
		claim, at := &claims[i], p.Child("claims").Index(i)
		if claim.Name == "" {
			c.required(at, "")
			continue
		}
		c.claimUse(at, claim, used)
		if !slices.Contains(c.claims, claim.Name) {
			c.notFound(at, claim.Name, c.claimNames())
		}
	}
}

func (c *checker) claimUse(p *field.Path, claim *corev1.ResourceClaim, used sets.Set[string]) {
	if used.Has(claim.Name) {
		c.duplicate(p, claim.Name)
		return
	}
	key := claim.Name
	if claim.Request != "" {
		c.dnsLabel(p, "request", claim.Request)
		key += "/" + claim.Request
	}
	switch {
	case used.Has(key):
		c.duplicate(p, key)
	case claim.Request == "":
		for other := range used {
			if name, _, ok := strings.Cut(other, "/"); ok && name == claim.Name {
				c.duplicate(p, claim.Name)
			}
		}
	}
	used.Insert(key)
}

func (c *checker) claimNames() string {
	const detail = "must be one of the names in pod.spec.resourceClaims"
	if len(c.claims) == 0 {
		return detail + " which is empty"
	}
	return detail + ": " + strings.Join(slices.Sorted(slices.Values(c.claims)), ", ")
}

// podResourceClaims checks the claims of the Pod and remembers their names. A Pod that the kubelet read
// from a file can have none.
func (c *checker) podResourceClaims(p *field.Path) {
	_, static := c.meta.Annotations[corev1.MirrorPodAnnotationKey]
	for i := range c.spec.ResourceClaims {
		claim := &c.spec.ResourceClaims[i]
		if static {
			c.forbidden(p.Index(i), "static pods do not support resource claims")
			c.claims = append(c.claims, claim.Name)
			continue
		}
		c.podResourceClaim(p.Index(i), claim)
	}
}

func (c *checker) podResourceClaim(p *field.Path, claim *corev1.PodResourceClaim) {
	switch {
	case claim.Name == "":
		c.required(p.Child("name"), "")
	case slices.Contains(c.claims, claim.Name):
		c.duplicate(p.Child("name"), claim.Name)
	default:
		c.dnsLabel(p, "name", claim.Name)
		c.claims = append(c.claims, claim.Name)
	}
	name, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName
	switch {
	case name != nil && template != nil:
		c.invalid(p, *claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
	case name == nil && template == nil:
		c.invalid(p, *claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
	}
	if name != nil {
		c.dnsSubdomain(p, "resourceClaimName", *name)
	}
	if template != nil {
		c.dnsSubdomain(p, "resourceClaimTemplateName", *template)
	}
}
