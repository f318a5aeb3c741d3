package mutation

import (
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// webhooks does what well-known webhooks and plugins do to a Pod. All of it is compatible.
func webhooks() []PodOperator {
	return []PodOperator{
		neutral("istio", istio),
		neutral("istio-native-sidecar", istioNative),
		neutral("linkerd", linkerd),
		neutral("vault-agent", vault),
		neutral("vault-agent-init-first", vaultInitFirst),
		neutral("eks-pod-identity", eksIdentity),
		neutral("azure-workload-identity", azureIdentity),
		neutral("gke-autopilot", gkeAutopilot),
		neutral("limit-ranger", limitRanger),
		neutral("service-account", serviceAccountToken).when(func(p *corev1.Pod) bool { return !*p.Spec.AutomountServiceAccountToken }),
		neutral("priority", priority).when(func(p *corev1.Pod) bool { return p.Spec.PriorityClassName == "" }),
		neutral("runtime-class", runtimeClass),
		neutral("always-pull-images", alwaysPull).when(pullsOnce),
		neutral("vertical-pod-autoscaler", limitRanger),
		neutral("kyverno-defaults", kyverno),
		neutral("opentelemetry", openTelemetry),
		neutral("datadog", datadog),
		neutral("dapr", dapr),
		neutral("kueue-gate", kueue),
	}
}

func eachContainer(p *corev1.Pod, f func(*corev1.Container)) {
	for i := range p.Spec.InitContainers {
		f(&p.Spec.InitContainers[i])
	}
	for i := range p.Spec.Containers {
		f(&p.Spec.Containers[i])
	}
}

func labelled(p *corev1.Pod, key, value string) {
	p.Labels = edited(p.Labels, func(m map[string]string) { m[key] = value })
}

func annotated(p *corev1.Pod, key, value string) {
	p.Annotations = edited(p.Annotations, func(m map[string]string) { m[key] = value })
}

func istioVolumes(p *corev1.Pod) {
	for _, name := range []string{"workload-socket", "credential-socket", "workload-certs", "istio-data"} {
		emptyDir(p, name)
	}
	addVolume(p, "istio-envoy", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}})
	addVolume(p, "istio-token", token("istio-ca"))
	addVolume(p, "istiod-ca-cert", configMap("istio-ca-root-cert"))
	addVolume(p, "istio-podinfo", corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}},
	}})
	labelled(p, "security.istio.io/tlsMode", "istio")
	labelled(p, "service.istio.io/canonical-name", "kandev-agent")
	annotated(p, "sidecar.istio.io/status", "{}")
}

func istioProxy() corev1.Container {
	return corev1.Container{
		Name: "istio-proxy", Image: "docker.io/istio/proxyv2:1.24", Args: []string{"proxy", "sidecar"},
		Ports:        []corev1.ContainerPort{{Name: "http-envoy-prom", ContainerPort: 15090, Protocol: corev1.ProtocolTCP}},
		Env:          []corev1.EnvVar{{Name: "PROXY_CONFIG", Value: "{}"}},
		VolumeMounts: []corev1.VolumeMount{{Name: "istio-envoy", MountPath: "/etc/istio/proxy"}, {Name: "istio-token", MountPath: "/var/run/secrets/tokens"}},
	}
}

func istio(r *rand.Rand, p *corev1.Pod) {
	istioVolumes(p)
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{
		Name: "istio-init", Image: "docker.io/istio/proxyv2:1.24", Args: []string{"istio-iptables"},
		SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN", "NET_RAW"}}},
	})
	if r.IntN(2) == 0 {
		p.Spec.Containers = append([]corev1.Container{istioProxy()}, p.Spec.Containers...)
	} else {
		p.Spec.Containers = append(p.Spec.Containers, istioProxy())
	}
	eachContainer(p, func(c *corev1.Container) {
		if probe := c.ReadinessProbe; probe != nil && probe.HTTPGet != nil {
			probe.HTTPGet.Path, probe.HTTPGet.Port = "/app-health/"+c.Name+"/readyz", intstr.FromInt32(15020)
		}
	})
}

func istioNative(_ *rand.Rand, p *corev1.Pod) {
	istioVolumes(p)
	proxy := istioProxy()
	proxy.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	p.Spec.InitContainers = append([]corev1.Container{proxy}, p.Spec.InitContainers...)
}

func linkerd(r *rand.Rand, p *corev1.Pod) {
	for _, name := range []string{"linkerd-proxy-init-xtables-lock", "linkerd-identity-end-entity"} {
		emptyDir(p, name)
	}
	addVolume(p, "linkerd-identity-token", token("identity.l5d.io"))
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "linkerd-init", Image: "cr.l5d.io/linkerd/proxy-init:v2"})
	proxy := corev1.Container{
		Name: "linkerd-proxy", Image: "cr.l5d.io/linkerd/proxy:edge",
		VolumeMounts: []corev1.VolumeMount{{Name: "linkerd-identity-end-entity", MountPath: "/var/run/linkerd/identity/end-entity"}},
	}
	if r.IntN(2) == 0 {
		p.Spec.Containers = append([]corev1.Container{proxy}, p.Spec.Containers...)
	} else {
		p.Spec.Containers = append(p.Spec.Containers, proxy)
	}
}

func vault(_ *rand.Rand, p *corev1.Pod) {
	for _, name := range []string{"home-init", "home-sidecar", "vault-secrets"} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
		}})
	}
	agent := corev1.Container{Name: "vault-agent", Image: "hashicorp/vault:1.18", Command: []string{"/bin/sh", "-ec"}}
	eachContainer(p, func(c *corev1.Container) { mount(c, "vault-secrets", "/vault/secrets") })
	mount(&agent, "vault-secrets", "/vault/secrets")
	p.Spec.Containers = append(p.Spec.Containers, agent)
	annotated(p, "vault.hashicorp.com/agent-inject-status", "injected")
}

func vaultInitFirst(r *rand.Rand, p *corev1.Pod) {
	vault(r, p)
	users := p.Spec.InitContainers
	p.Spec.InitContainers = append([]corev1.Container{{Name: "vault-agent-init", Image: "hashicorp/vault:1.18"}}, users...)
}

func eksIdentity(_ *rand.Rand, p *corev1.Pod) {
	p.Spec.Volumes = append([]corev1.Volume{{Name: "eks-pod-identity-token", VolumeSource: token("pods.eks.amazonaws.com")}}, p.Spec.Volumes...)
	eachContainer(p, func(c *corev1.Container) {
		c.Env = append(c.Env, corev1.EnvVar{Name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Value: "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/token"})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
			Name: "eks-pod-identity-token", MountPath: "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount", ReadOnly: true,
		})
	})
	labelled(p, "eks.amazonaws.com/identity", "pod")
}

func azureIdentity(_ *rand.Rand, p *corev1.Pod) {
	addVolume(p, "azure-identity-token", token("api://AzureADTokenExchange"))
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{
		Name: "azwi-proxy-init", Image: "mcr.microsoft.com/oss/azure/workload-identity/proxy-init:v1.3",
		SecurityContext: &corev1.SecurityContext{Privileged: new(true), RunAsUser: new(int64(0))},
	})
	eachContainer(p, func(c *corev1.Container) {
		c.Env = append(c.Env, corev1.EnvVar{Name: "AZURE_CLIENT_ID", Value: "0000"})
		mount(c, "azure-identity-token", "/var/run/secrets/azure/tokens")
	})
}

func gkeAutopilot(r *rand.Rand, p *corev1.Pod) {
	limitRanger(r, p)
	p.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
		Key: "kubernetes.io/arch", Operator: corev1.TolerationOpEqual, Value: "amd64", Effect: corev1.TaintEffectNoSchedule,
	})
	p.Spec.NodeSelector = edited(p.Spec.NodeSelector, func(m map[string]string) { m["cloud.google.com/gke-spot"] = "true" })
	annotated(p, "autopilot.gke.io/resource-adjustment", "{}")
}

func limitRanger(_ *rand.Rand, p *corev1.Pod) {
	eachContainer(p, func(c *corev1.Container) {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	})
}

func serviceAccountToken(_ *rand.Rand, p *corev1.Pod) {
	p.Spec.ServiceAccountName, p.Spec.DeprecatedServiceAccount = "worker", "worker"
	addVolume(p, "kube-api-access-x2x4x", token(""))
	eachContainer(p, func(c *corev1.Container) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
			Name: "kube-api-access-x2x4x", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true,
		})
	})
}

func priority(_ *rand.Rand, p *corev1.Pod) {
	p.Spec.PriorityClassName, p.Spec.Priority = "agents", new(int32(1000))
	p.Spec.PreemptionPolicy = new(corev1.PreemptNever)
}

func runtimeClass(_ *rand.Rand, p *corev1.Pod) {
	p.Spec.RuntimeClassName = new("gvisor")
	p.Spec.Overhead = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	p.Spec.NodeSelector = edited(p.Spec.NodeSelector, func(m map[string]string) { m["sandbox"] = "gvisor" })
}

func alwaysPull(_ *rand.Rand, p *corev1.Pod) {
	eachContainer(p, func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullAlways })
}

// pullsOnce reports whether an image of the Pod would not be pulled every time anyway.
func pullsOnce(p *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(p.Spec.Containers, p.Spec.InitContainers), func(c corev1.Container) bool {
		return c.ImagePullPolicy != corev1.PullAlways && pinned.MatchString(c.Image) && !latest.MatchString(c.Image)
	})
}

func kyverno(_ *rand.Rand, p *corev1.Pod) {
	eachContainer(p, func(c *corev1.Container) {
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false)}
		c.Image = "mirror.example/" + c.Image
	})
	p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: "mirror"})
}

func openTelemetry(_ *rand.Rand, p *corev1.Pod) {
	emptyDir(p, "opentelemetry-auto-instrumentation")
	c := mainOf(p)
	c.Env = append([]corev1.EnvVar{{Name: "OTEL_NODE_IP", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.hostIP"},
	}}}, c.Env...)
	for i := range c.Env {
		if c.Env[i].Name == "NODE_OPTIONS" {
			c.Env[i].Value += " --require /otel/autoinstrumentation.js"
		}
	}
	mount(c, "opentelemetry-auto-instrumentation", "/otel-auto-instrumentation")
}

func datadog(r *rand.Rand, p *corev1.Pod) {
	hostPath("datadog", "/var/run/datadog")(r, p)
	eachContainer(p, func(c *corev1.Container) {
		c.Env = append([]corev1.EnvVar{{Name: "DD_TRACE_AGENT_URL", Value: "unix:///var/run/datadog/apm.socket"}}, c.Env...)
		mount(c, "datadog", "/var/run/datadog")
	})
}

func dapr(r *rand.Rand, p *corev1.Pod) {
	hostPath("dapr-unix-domain-socket", "/tmp/dapr-sockets")(r, p)
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
		Name: "daprd", Image: "daprio/daprd:1.14", Ports: []corev1.ContainerPort{{Name: "dapr-http", ContainerPort: 3500}},
	})
	labelled(p, "dapr.io/sidecar-injected", "true")
}

func kueue(_ *rand.Rand, p *corev1.Pod) {
	p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "kueue.x-k8s.io/admission"})
	labelled(p, "kueue.x-k8s.io/managed", "true")
}

// token is a projected service account token for an audience.
func token(audience string) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
		ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: audience, Path: "token"},
	}}}}
}

func configMap(name string) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}
