package admission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Normalisation is one way in which the API server writes down what the absence of a field means already.
// It is applied to both objects before they are compared, so that such a rewrite is no difference.
type Normalisation struct {
	Field  string // as Kubernetes names it; [*] stands for every item
	Reason string // the documentation, or the code of kube-apiserver, that makes both forms equal

	pod func(*corev1.Pod)
}

// Normalisations lists every normalisation of a Pod. Nothing else is read as equal.
func Normalisations() []Normalisation { return podNormalisations }

// The reasons that several normalisations share.
const (
	schemeDefault = "default of the v1 API (k8s.io/kubernetes pkg/apis/core/v1/defaults.go), persisted at create"
	documented    = "documented as equal to absence; kube-apiserver 1.36 neither adds nor removes it"
	pluginDefault = "set by an admission plugin that every API server runs unless told otherwise"
)

var podNormalisations = []Normalisation{
	{"metadata.{uid,resourceVersion,generation,creationTimestamp,managedFields,selfLink}, status", "the API server's own to set", func(p *corev1.Pod) {
		dropServerMetadata(&p.ObjectMeta)
		p.Status = corev1.PodStatus{}
	}},
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
	{"spec.serviceAccountName", "the ServiceAccount plugin writes default; the API mirrors it in serviceAccount", serviceAccount},
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
	{"spec.tolerations[node.kubernetes.io/{not-ready,unreachable}:NoExecute]", pluginDefault + " (DefaultTolerationSeconds)", func(p *corev1.Pod) {
		tolerate(p, corev1.TaintNodeNotReady)
		tolerate(p, corev1.TaintNodeUnreachable)
	}},
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
	{"spec.containers[*].{livenessProbe,readinessProbe,startupProbe}", schemeDefault + ": times and thresholds, path and scheme of httpGet, service of grpc", eachContainer(probes)},
	{"spec.containers[*].lifecycle.{postStart,preStop}.httpGet", schemeDefault + ": path and scheme", eachContainer(lifecycle)},
	{"spec.containers[*].env[*].valueFrom.fieldRef.apiVersion", schemeDefault, eachContainer(envSources)},
	{"spec.containers[*].resources.requests", schemeDefault + ": copied from limits", ordinaryContainers(requestsFromLimits)},
	{"spec.**.{requests,limits}, spec.overhead", "quantities are compared by value, rounded up to 0.001 as the API server does", roundQuantities},
	{"spec.containers[*].volumeMounts[*].mountPropagation: None", documented, eachMount(func(m *corev1.VolumeMount) {
		drop(&m.MountPropagation, corev1.MountPropagationNone)
	})},
	{"spec.containers[*].volumeMounts[*].recursiveReadOnly: Disabled", documented, eachMount(func(m *corev1.VolumeMount) {
		drop(&m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled)
	})},
	{"spec.volumes[*]", schemeDefault + ": modes 0644, token lifetime 3600, hostPath type \"\", emptyDir where no source is named, volumeMode of a claim template, and the older drivers' own", func(p *corev1.Pod) {
		for i := range p.Spec.Volumes {
			volumeDefaults(&p.Spec.Volumes[i])
		}
	}},
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
	m.UID, m.ResourceVersion, m.Generation, m.SelfLink = "", "", 0, "" //nolint:staticcheck // old API servers still send it
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

func serviceAccount(p *corev1.Pod) {
	fill(&p.Spec.ServiceAccountName, p.Spec.DeprecatedServiceAccount)
	fill(&p.Spec.ServiceAccountName, "default")
	p.Spec.DeprecatedServiceAccount = p.Spec.ServiceAccountName
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
	name, digest, _ := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || image != "" && !tagged && digest == "" {
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

func probes(c *corev1.Container) {
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p == nil {
			continue
		}
		fill(&p.TimeoutSeconds, 1)
		fill(&p.PeriodSeconds, 10)
		fill(&p.SuccessThreshold, 1)
		fill(&p.FailureThreshold, 3)
		httpGet(p.HTTPGet)
		if p.GRPC != nil {
			point(&p.GRPC.Service, "")
		}
	}
}

func lifecycle(c *corev1.Container) {
	if c.Lifecycle == nil {
		return
	}
	for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if h != nil {
			httpGet(h.HTTPGet)
		}
	}
}

func httpGet(g *corev1.HTTPGetAction) {
	if g != nil {
		fill(&g.Path, "/")
		fill(&g.Scheme, corev1.URISchemeHTTP)
	}
}

func envSources(c *corev1.Container) {
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from == nil {
			continue
		}
		fieldRef(from.FieldRef)
		if from.FileKeyRef != nil {
			point(&from.FileKeyRef.Optional, false)
		}
	}
}

func fieldRef(r *corev1.ObjectFieldSelector) {
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

func roundQuantities(p *corev1.Pod) {
	eachContainer(func(c *corev1.Container) {
		roundUp(c.Resources.Requests)
		roundUp(c.Resources.Limits)
	})(p)
	roundUp(p.Spec.Overhead)
	if p.Spec.Resources != nil {
		roundUp(p.Spec.Resources.Requests)
		roundUp(p.Spec.Resources.Limits)
	}
}

func roundUp(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}
