package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Normalisation is one way in which the API server writes down what the absence of a field means already.
// It is applied to both objects before they are compared, so that such a rewrite is no difference.
type Normalisation struct {
	// Field is the field that is written, as Kubernetes names it. [*] stands for every item, * for part of a name, and
	// containers for all three lists of containers.
	Field  string
	Reason string // the documentation, or the code of kube-apiserver, that makes both forms equal

	pod func(*corev1.Pod)
}

// Normalisations lists every normalisation of a Pod. Nothing else is read as equal. test/admission holds each against
// real API servers.
func Normalisations() []Normalisation { return podNormalisations }

// The reasons that several normalisations share.
const (
	serverOwn     = "the API server's own to set"
	schemeDefault = "default of the v1 API (k8s.io/kubernetes pkg/apis/core/v1/defaults.go), persisted at create"
	rounded       = "quantities are compared by value, rounded up to 0.001 as the API server does"
	documented    = "documented as equal to absence; kube-apiserver neither adds nor removes it"
	pluginDefault = "set by an admission plugin that every API server runs unless told otherwise"
)

var podNormalisations = slices.Concat(metadataNormalisations, specNormalisations, containerNormalisations, volumeNormalisations)

var metadataNormalisations = []Normalisation{
	{"metadata.uid", serverOwn, func(p *corev1.Pod) { p.UID = "" }},
	{"metadata.resourceVersion", serverOwn, func(p *corev1.Pod) { p.ResourceVersion = "" }},
	{"metadata.generation", serverOwn, func(p *corev1.Pod) { p.Generation = 0 }},
	{"metadata.creationTimestamp", serverOwn, func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{} }},
	{"metadata.managedFields", serverOwn, func(p *corev1.Pod) { p.ManagedFields = nil }},
	{"status", serverOwn, func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }},
}

var specNormalisations = []Normalisation{
	{"spec.dnsPolicy", schemeDefault, func(p *corev1.Pod) { fill(&p.Spec.DNSPolicy, corev1.DNSClusterFirst) }},
	{"spec.restartPolicy", schemeDefault, func(p *corev1.Pod) { fill(&p.Spec.RestartPolicy, corev1.RestartPolicyAlways) }},
	{"spec.schedulerName", schemeDefault, func(p *corev1.Pod) { fill(&p.Spec.SchedulerName, corev1.DefaultSchedulerName) }},
	{"spec.terminationGracePeriodSeconds", schemeDefault, func(p *corev1.Pod) {
		point(&p.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	}},
	{"spec.securityContext", schemeDefault + " as an empty object", func(p *corev1.Pod) {
		point(&p.Spec.SecurityContext, corev1.PodSecurityContext{})
	}},
	{"spec.enableServiceLinks", schemeDefault, func(p *corev1.Pod) {
		point(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	}},
	{"spec.serviceAccountName", "serviceAccount under its present name, and default from the ServiceAccount plugin", func(p *corev1.Pod) {
		fill(&p.Spec.ServiceAccountName, p.Spec.DeprecatedServiceAccount)
		fill(&p.Spec.ServiceAccountName, "default")
	}},
	{"spec.serviceAccount", "serviceAccountName under its old name, which the API mirrors", func(p *corev1.Pod) {
		p.Spec.DeprecatedServiceAccount = p.Spec.ServiceAccountName
	}},
	{"spec.priority", pluginDefault + " (Priority): 0 without a class", func(p *corev1.Pod) {
		if p.Spec.PriorityClassName == "" {
			point(&p.Spec.Priority, 0)
		}
	}},
	{"spec.preemptionPolicy", pluginDefault + " (Priority)", func(p *corev1.Pod) {
		if p.Spec.PriorityClassName == "" {
			point(&p.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)
		}
	}},
	{"spec.tolerations[*]", pluginDefault + " (DefaultTolerationSeconds)", func(p *corev1.Pod) {
		tolerate(p, corev1.TaintNodeNotReady)
		tolerate(p, corev1.TaintNodeUnreachable)
	}},
	{"spec.overhead[*]", rounded, func(p *corev1.Pod) { roundUp(p.Spec.Overhead) }},
	{"spec.resources.*[*]", rounded, func(p *corev1.Pod) {
		if p.Spec.Resources != nil {
			roundUp(p.Spec.Resources.Requests)
			roundUp(p.Spec.Resources.Limits)
		}
	}},
}

var containerNormalisations = []Normalisation{
	{"spec.containers[*].terminationMessagePath", schemeDefault, eachContainer(func(c *corev1.Container) {
		fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	})},
	{"spec.containers[*].terminationMessagePolicy", schemeDefault, eachContainer(func(c *corev1.Container) {
		fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	})},
	{"spec.containers[*].imagePullPolicy", schemeDefault + ": Always for an image without tag or digest and for :latest, even beside a digest", eachContainer(func(c *corev1.Container) {
		fill(&c.ImagePullPolicy, pullPolicy(c.Image))
	})},
	{"spec.containers[*].ports[*].protocol", schemeDefault, eachContainer(func(c *corev1.Container) {
		for i := range c.Ports {
			fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	})},
	{"spec.containers[*].ports[*].hostPort", schemeDefault + ": the container's port under hostNetwork", hostPorts},
	{"spec.containers[*].*Probe.timeoutSeconds", schemeDefault, eachProbe(func(p *corev1.Probe) { fill(&p.TimeoutSeconds, 1) })},
	{"spec.containers[*].*Probe.periodSeconds", schemeDefault, eachProbe(func(p *corev1.Probe) { fill(&p.PeriodSeconds, 10) })},
	{"spec.containers[*].*Probe.successThreshold", schemeDefault, eachProbe(func(p *corev1.Probe) { fill(&p.SuccessThreshold, 1) })},
	{"spec.containers[*].*Probe.failureThreshold", schemeDefault, eachProbe(func(p *corev1.Probe) { fill(&p.FailureThreshold, 3) })},
	{"spec.containers[*].*Probe.grpc.service", schemeDefault + " as an empty string", eachProbe(func(p *corev1.Probe) {
		if p.GRPC != nil {
			point(&p.GRPC.Service, "")
		}
	})},
	{"spec.containers[*].*Probe.httpGet.path", schemeDefault, eachProbe(func(p *corev1.Probe) { httpPath(p.HTTPGet) })},
	{"spec.containers[*].*Probe.httpGet.scheme", schemeDefault, eachProbe(func(p *corev1.Probe) { httpScheme(p.HTTPGet) })},
	{"spec.containers[*].lifecycle.*.httpGet.path", schemeDefault, eachHook(func(h *corev1.LifecycleHandler) { httpPath(h.HTTPGet) })},
	{"spec.containers[*].lifecycle.*.httpGet.scheme", schemeDefault, eachHook(func(h *corev1.LifecycleHandler) { httpScheme(h.HTTPGet) })},
	{"spec.containers[*].env[*].valueFrom.fieldRef.apiVersion", schemeDefault, eachEnvSource(func(s *corev1.EnvVarSource) { fieldVersion(s.FieldRef) })},
	{"spec.containers[*].env[*].valueFrom.fileKeyRef.optional", schemeDefault, eachEnvSource(func(s *corev1.EnvVarSource) {
		if s.FileKeyRef != nil {
			point(&s.FileKeyRef.Optional, false)
		}
	})},
	{"spec.containers[*].resources.requests[*]", schemeDefault + ": copied from limits", ordinaryContainers(requestsFromLimits)},
	{"spec.containers[*].resources.*[*]", rounded, eachContainer(func(c *corev1.Container) {
		roundUp(c.Resources.Requests)
		roundUp(c.Resources.Limits)
	})},
	{"spec.containers[*].volumeMounts[*].mountPropagation", documented + ": None", eachMount(func(m *corev1.VolumeMount) {
		drop(&m.MountPropagation, corev1.MountPropagationNone)
	})},
	{"spec.containers[*].volumeMounts[*].recursiveReadOnly", documented + ": Disabled", eachMount(func(m *corev1.VolumeMount) {
		drop(&m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled)
	})},
}

// normalisedPod returns a copy with every normalisation applied.
func normalisedPod(p *corev1.Pod) *corev1.Pod {
	if p == nil {
		p = &corev1.Pod{}
	}
	p = p.DeepCopy()
	for _, n := range podNormalisations {
		n.pod(p)
	}
	return p
}

// normalisedClaim returns a copy in which what the API server writes down by itself is filled in: the metadata,
// the status, the volume mode, and dataSource and dataSourceRef from each other.
func normalisedClaim(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if c == nil {
		c = &corev1.PersistentVolumeClaim{}
	}
	c = c.DeepCopy()
	dropServerMetadata(&c.ObjectMeta)
	c.Status = corev1.PersistentVolumeClaimStatus{}
	claimDefaults(&c.Spec)
	roundUp(c.Spec.Resources.Requests)
	roundUp(c.Spec.Resources.Limits)
	return c
}

func claimDefaults(s *corev1.PersistentVolumeClaimSpec) {
	point(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	switch {
	case s.DataSource != nil && s.DataSourceRef == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{
			APIGroup: s.DataSource.APIGroup, Kind: s.DataSource.Kind, Name: s.DataSource.Name,
		}
	case s.DataSource == nil && s.DataSourceRef != nil && (s.DataSourceRef.Namespace == nil || *s.DataSourceRef.Namespace == ""):
		s.DataSource = &corev1.TypedLocalObjectReference{
			APIGroup: s.DataSourceRef.APIGroup, Kind: s.DataSourceRef.Kind, Name: s.DataSourceRef.Name,
		}
	}
}

func dropServerMetadata(m *metav1.ObjectMeta) {
	m.UID, m.ResourceVersion, m.Generation = "", "", 0
	m.CreationTimestamp, m.ManagedFields = metav1.Time{}, nil
}

// fill sets a value that is absent.
func fill[T comparable](field *T, value T) {
	var absent T
	if *field == absent {
		*field = value
	}
}

// point sets a pointer that is absent.
func point[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// drop removes a value that means the same as its absence.
func drop[T comparable](field **T, neutral T) {
	if *field != nil && **field == neutral {
		*field = nil
	}
}

// eachContainer makes a function on a Pod's containers, whatever their list, one on the Pod.
func eachContainer(f func(*corev1.Container)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		ordinaryContainers(f)(p)
		for i := range p.Spec.EphemeralContainers {
			f((*corev1.Container)(&p.Spec.EphemeralContainers[i].EphemeralContainerCommon))
		}
	}
}

// ordinaryContainers is eachContainer without ephemeral containers.
func ordinaryContainers(f func(*corev1.Container)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := range p.Spec.InitContainers {
			f(&p.Spec.InitContainers[i])
		}
		for i := range p.Spec.Containers {
			f(&p.Spec.Containers[i])
		}
	}
}

func eachMount(f func(*corev1.VolumeMount)) func(*corev1.Pod) {
	return eachContainer(func(c *corev1.Container) {
		for i := range c.VolumeMounts {
			f(&c.VolumeMounts[i])
		}
	})
}

// tolerate adds the toleration that the DefaultTolerationSeconds plugin adds, where it would.
func tolerate(p *corev1.Pod, taint string) {
	for _, t := range p.Spec.Tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	seconds := int64(300)
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
		Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
	})
}

// pullPolicy is the API's default for an image.
func pullPolicy(image string) corev1.PullPolicy {
	ref, ok := compose.ParseImage(image)
	if ok && (ref.Tag == "latest" || ref == compose.ImageReference{}) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func hostPorts(p *corev1.Pod) {
	if !p.Spec.HostNetwork {
		return
	}
	ordinaryContainers(func(c *corev1.Container) {
		for i := range c.Ports {
			fill(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	})(p)
}

func eachProbe(f func(*corev1.Probe)) func(*corev1.Pod) {
	return eachContainer(func(c *corev1.Container) {
		for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				f(p)
			}
		}
	})
}

func eachHook(f func(*corev1.LifecycleHandler)) func(*corev1.Pod) {
	return eachContainer(func(c *corev1.Container) {
		if c.Lifecycle == nil {
			return
		}
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				f(h)
			}
		}
	})
}

func httpPath(g *corev1.HTTPGetAction) {
	if g != nil {
		fill(&g.Path, "/")
	}
}

func httpScheme(g *corev1.HTTPGetAction) {
	if g != nil {
		fill(&g.Scheme, corev1.URISchemeHTTP)
	}
}

func eachEnvSource(f func(*corev1.EnvVarSource)) func(*corev1.Pod) {
	return eachContainer(func(c *corev1.Container) {
		for i := range c.Env {
			if from := c.Env[i].ValueFrom; from != nil {
				f(from)
			}
		}
	})
}

func fieldVersion(r *corev1.ObjectFieldSelector) {
	if r != nil {
		fill(&r.APIVersion, "v1")
	}
}

func requestsFromLimits(c *corev1.Container) {
	for name, limit := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; ok {
			continue
		}
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		c.Resources.Requests[name] = limit
	}
}

func roundUp(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}
