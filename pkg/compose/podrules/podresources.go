package podrules

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podResources checks the resources of the Pod as a whole, and that those of its containers fit in.
func (c *checker) podResources(spec *field.Path) {
	declared := c.spec.Resources
	if declared == nil {
		return
	}
	p := spec.Child("resources")
	if isWindows(c.spec) {
		c.forbidden(p, "may not be set for a windows pod")
		return
	}
	if declared.Claims != nil {
		c.forbidden(p.Child("claims"), "claims may not be set for Resources at pod-level")
	}
	r := c.podRequirements()
	c.resources(p, r, c.podResourceName)
	c.containersFit(p, r)
}

// podRequirements completes the resources of the Pod as the server does: limits on huge pages from the
// containers, then requests from the containers, then requests from limits, and from 1.37 on limits from those of
// the containers.
func (c *checker) podRequirements() requirements {
	declared := c.spec.Resources
	limits, requests := cloned(declared.Limits), cloned(declared.Requests)
	some := len(limits) > 0 || len(requests) > 0
	round := asWritten
	if c.since(podResourceDefaults) {
		round = rounded
	}
	if some {
		for name, q := range c.sum(limitsOf, round) {
			if _, asked := requests[name]; !asked && isHugePages(name) {
				addMissing(limits, name, q)
			}
		}
	}
	if len(limits) > 0 || some && c.since(podResourceDefaults) {
		for name, q := range c.sum(requestsOf, round) {
			if isPodResource(name) && allowsOvercommit(name) {
				addMissing(requests, name, q)
			}
		}
		for name, q := range limits {
			if isPodResource(name) {
				addMissing(requests, name, q)
			}
		}
	}
	if c.since(podResourceDefaults) {
		c.limitPod(limits, requests)
	}
	return requirements{
		limits: rounded(limits), requests: rounded(requests), claims: declared.Claims,
		copied: func(name corev1.ResourceName) bool { _, ok := declared.Requests[name]; return !ok },
	}
}

// limitPod limits what the Pod requests of a resource that every container has a limit on.
func (c *checker) limitPod(limits, requests corev1.ResourceList) {
	sum := c.sum(limitsOf, rounded)
	for name, request := range requests {
		if limit, ok := sum[name]; ok && isPodResource(name) && c.everyContainerLimits(name) {
			if request.Cmp(limit) > 0 {
				limit = request
			}
			addMissing(limits, name, limit)
		}
	}
}

func (c *checker) everyContainerLimits(name corev1.ResourceName) bool {
	has := true
	c.eachContainer(nil, func(_ place, ctr *corev1.Container) {
		_, limited := ctr.Resources.Limits[name]
		has = has && limited
	})
	return has
}

func cloned(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return maps.Clone(list)
}

func addMissing[Q any](list map[corev1.ResourceName]Q, name corev1.ResourceName, q Q) {
	if _, ok := list[name]; !ok {
		list[name] = q
	}
}

// containersFit reports containers that together, or in limits each, want more than the Pod.
func (c *checker) containersFit(p *field.Path, r requirements) {
	start := len(c.errs)
	for name, sum := range c.sum(requestsOf, rounded) {
		if pod, ok := r.requests[name]; ok && sum.Cmp(pod) > 0 {
			c.invalid(p.Child("requests").Key(string(name)), pod.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", sum.String()))
		}
	}
	for name, sum := range c.sum(limitsOf, rounded) {
		if pod, ok := r.limits[name]; ok && isHugePages(name) && sum.Cmp(pod) > 0 {
			c.invalid(p.Child("limits").Key(string(name)), pod.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", sum.String()))
		}
	}
	for i := range c.spec.Containers {
		for name, q := range rounded(c.spec.Containers[i].Resources.Limits) {
			if pod, ok := r.limits[name]; ok && q.Cmp(pod) > 0 {
				c.invalid(p.Child("containers").Index(i).Key(string(name)).Child("limits"), q.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", pod.String()))
			}
		}
	}
	c.sortFrom(start)
}

func asWritten(list corev1.ResourceList) corev1.ResourceList { return list }

func limitsOf(ctr *corev1.Container) corev1.ResourceList { return ctr.Resources.Limits }

// requestsOf returns the requests of a container, with those that the server copies from its limits.
func requestsOf(ctr *corev1.Container) corev1.ResourceList {
	requests := cloned(ctr.Resources.Requests)
	for name, q := range ctr.Resources.Limits {
		addMissing(requests, name, q)
	}
	return requests
}

// sum adds up what the containers want at once: all ordinary ones and sidecars, or any one init
// container with the sidecars before it, whichever is more.
func (c *checker) sum(of func(*corev1.Container) corev1.ResourceList, round func(corev1.ResourceList) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, init := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range c.spec.Containers {
		addTo(total, round(of(&c.spec.Containers[i])))
	}
	for i := range c.spec.InitContainers {
		ctr := &c.spec.InitContainers[i]
		list := round(of(ctr))
		if isSidecar(ctr) {
			addTo(total, list)
			addTo(sidecars, list)
			raiseTo(init, sidecars)
			continue
		}
		start := corev1.ResourceList{}
		addTo(start, list)
		addTo(start, sidecars)
		raiseTo(init, start)
	}
	raiseTo(total, init)
	return total
}

func addTo(sum, list corev1.ResourceList) {
	for name, q := range list {
		s := sum[name].DeepCopy()
		s.Add(q)
		sum[name] = s
	}
}

func raiseTo(most, list corev1.ResourceList) {
	for name, q := range list {
		if m, ok := most[name]; !ok || q.Cmp(m) > 0 {
			most[name] = q.DeepCopy()
		}
	}
}
