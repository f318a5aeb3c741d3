package mutation

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// APIDefaults writes into a Pod what an API server persists beside what was sent: the defaults of the v1 API
// and of the plugins that run unless turned off (Priority, ServiceAccount, DefaultTolerationSeconds).
//
// It is written on its own, from a real server's answers, so that tests may hold a comparison's idea of the
// defaults against it.
func APIDefaults(p *corev1.Pod) {
	s := &p.Spec
	absent(&s.DNSPolicy, corev1.DNSClusterFirst)
	absent(&s.RestartPolicy, corev1.RestartPolicyAlways)
	absent(&s.SchedulerName, "default-scheduler")
	unset(&s.TerminationGracePeriodSeconds, 30)
	unset(&s.SecurityContext, corev1.PodSecurityContext{})
	unset(&s.EnableServiceLinks, true)
	absent(&s.ServiceAccountName, "default")
	s.DeprecatedServiceAccount = s.ServiceAccountName
	if s.PriorityClassName == "" {
		unset(&s.Priority, 0)
		unset(&s.PreemptionPolicy, corev1.PreemptLowerPriority)
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		evictable(s, key)
	}
	for i := range s.Volumes {
		volumeDefaults(&s.Volumes[i])
	}
	eachContainer(p, containerDefaults)
	for i := range s.EphemeralContainers {
		containerDefaults((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	if s.HostNetwork {
		hostNetworkPorts(s)
	}
}

func absent[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func unset[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func evictable(s *corev1.PodSpec, key string) {
	for _, t := range s.Tolerations {
		if (t.Key == "" || t.Key == key) && (t.Effect == "" || t.Effect == corev1.TaintEffectNoExecute) {
			return
		}
	}
	s.Tolerations = append(s.Tolerations, corev1.Toleration{
		Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
	})
}

func hostNetworkPorts(s *corev1.PodSpec) {
	eachContainer(&corev1.Pod{Spec: *s}, func(c *corev1.Container) {
		for i := range c.Ports {
			absent(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	})
}

// pinned matches an image with a tag other than latest, or with a digest and no tag.
var (
	pinned = regexp.MustCompile(`^([^@]*/)?[^/:@]+(:[^/:@]+(@.+)?|@.+)$`)
	latest = regexp.MustCompile(`:latest(@.+)?$`)
)

func containerDefaults(c *corev1.Container) {
	absent(&c.TerminationMessagePath, "/dev/termination-log")
	absent(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	if pinned.MatchString(c.Image) && !latest.MatchString(c.Image) {
		absent(&c.ImagePullPolicy, corev1.PullIfNotPresent)
	}
	absent(&c.ImagePullPolicy, corev1.PullAlways)
	for i := range c.Ports {
		absent(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			absent(&from.FieldRef.APIVersion, "v1")
		}
		if from := c.Env[i].ValueFrom; from != nil && from.FileKeyRef != nil {
			unset(&from.FileKeyRef.Optional, false)
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		probeDefaults(probe)
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil {
		httpDefaults(c.Lifecycle.PreStop.HTTPGet)
	}
	if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		httpDefaults(c.Lifecycle.PostStart.HTTPGet)
	}
	resourceDefaults(&c.Resources)
}

func probeDefaults(p *corev1.Probe) {
	if p == nil {
		return
	}
	absent(&p.TimeoutSeconds, 1)
	absent(&p.PeriodSeconds, 10)
	absent(&p.SuccessThreshold, 1)
	absent(&p.FailureThreshold, 3)
	httpDefaults(p.HTTPGet)
	if p.GRPC != nil {
		unset(&p.GRPC.Service, "")
	}
}

func httpDefaults(g *corev1.HTTPGetAction) {
	if g != nil {
		absent(&g.Path, "/")
		absent(&g.Scheme, corev1.URISchemeHTTP)
	}
}

// resourceDefaults copies limits to requests and rounds up to thousandths.
func resourceDefaults(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		if _, ok := r.Requests[name]; !ok {
			r.Requests[name] = limit.DeepCopy()
		}
	}
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for name, q := range list {
			q.RoundUp(-3)
			list[name] = q
		}
	}
}

func volumeDefaults(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Secret != nil {
		unset(&v.Secret.DefaultMode, 420)
	}
	if v.ConfigMap != nil {
		unset(&v.ConfigMap.DefaultMode, 420)
	}
	if v.DownwardAPI != nil {
		unset(&v.DownwardAPI.DefaultMode, 420)
		downwardDefaults(v.DownwardAPI.Items)
	}
	if v.HostPath != nil {
		unset(&v.HostPath.Type, "")
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		unset(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	if v.Projected == nil {
		return
	}
	unset(&v.Projected.DefaultMode, 420)
	for i := range v.Projected.Sources {
		if t := v.Projected.Sources[i].ServiceAccountToken; t != nil {
			unset(&t.ExpirationSeconds, 3600)
		}
		if d := v.Projected.Sources[i].DownwardAPI; d != nil {
			downwardDefaults(d.Items)
		}
	}
}

func downwardDefaults(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if items[i].FieldRef != nil {
			absent(&items[i].FieldRef.APIVersion, "v1")
		}
	}
}
