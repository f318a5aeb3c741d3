package mutation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Identity is the identity of generated objects.
func Identity() compose.Identity {
	return compose.Identity{
		ExecutorID: "exec-1", ProfileID: "profile-1", InstanceID: "instance-1", TaskID: "task-1",
		SessionID: "session-1", EnvironmentID: "env-1", Namespace: "agents",
	}
}

// Profile draws a profile of one workspace mode.
func Profile(t *rapid.T, mode compose.WorkspaceMode) compose.Profile {
	p := compose.Profile{
		Platform:  rapid.SampledFrom(compose.Platforms()).Draw(t, "platform"),
		Workspace: compose.Workspace{Mode: mode},
	}
	switch mode {
	case compose.ExistingClaim:
		p.Workspace.ClaimName = "team-workspace"
	case compose.ManagedPVC:
		p.Workspace.Size = rapid.SampledFrom([]string{"", "1Gi", "1024Mi", "20G"}).Draw(t, "size")
		p.Workspace.StorageClass = rapid.SampledFrom([]string{"", "fast"}).Draw(t, "class")
		p.Workspace.AccessModes = rapid.SampledFrom([][]corev1.PersistentVolumeAccessMode{
			nil, {corev1.ReadWriteMany}, {corev1.ReadWriteOnce, corev1.ReadWriteMany},
		}).Draw(t, "modes")
	case compose.EmptyDir:
	}
	return p.WithDefaults()
}

// Composed draws a template and a profile of one workspace mode, and composes them. The objects carry a nonce, as in a
// create request.
func Composed(t *rapid.T, mode compose.WorkspaceMode) compose.Objects {
	objects, err := compose.Compose(Template(t), Profile(t, mode), Identity())
	if err != nil {
		t.Fatalf("a generated template does not compose: %v", err)
	}
	compose.SetNonce(objects.Pod, compose.NewNonce())
	if objects.Claim != nil {
		compose.SetNonce(objects.Claim, compose.NewNonce())
	}
	return objects
}

// Template draws a valid template: the main container, companions with and without a grant, init containers and native
// sidecars, and whatever else a template may say.
func Template(t *rapid.T) *corev1.PodTemplateSpec {
	template := &corev1.PodTemplateSpec{}
	template.Labels = rapid.SampledFrom([]map[string]string{nil, {"team": "a"}, {"team": "a", "example.com/tier": ""}}).Draw(t, "labels")
	template.Annotations = rapid.SampledFrom([]map[string]string{nil, {"example.com/note": "x"}}).Draw(t, "annotations")
	s := &template.Spec
	s.Volumes = volumes(t)
	s.Containers = []corev1.Container{container(t, compose.DefaultMainContainer, s.Volumes)}
	for i := range rapid.IntRange(0, 3).Draw(t, "companions") {
		c := container(t, fmt.Sprintf("companion-%d", i), s.Volumes)
		if rapid.Bool().Draw(t, "granted") {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
				Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath, ReadOnly: rapid.Bool().Draw(t, "read-only"),
			})
		}
		s.Containers = append(s.Containers, c)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "inits") {
		c := container(t, fmt.Sprintf("init-%d", i), s.Volumes)
		c.LivenessProbe, c.ReadinessProbe, c.Lifecycle = nil, nil, nil
		if rapid.Bool().Draw(t, "native") {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		s.InitContainers = append(s.InitContainers, c)
	}
	if rapid.Bool().Draw(t, "main last") {
		s.Containers[0], s.Containers[len(s.Containers)-1] = s.Containers[len(s.Containers)-1], s.Containers[0]
	}
	podFields(t, s)
	return template
}

// maybe sets a field one time in two.
func maybe[T any](t *rapid.T, name string, field *T, value T) {
	if rapid.Bool().Draw(t, name) {
		*field = value
	}
}

func podFields(t *rapid.T, s *corev1.PodSpec) {
	maybe(t, "grace", &s.TerminationGracePeriodSeconds, new(int64(5)))
	maybe(t, "automount", &s.AutomountServiceAccountToken, new(true))
	maybe(t, "account", &s.ServiceAccountName, "worker")
	maybe(t, "share", &s.ShareProcessNamespace, new(rapid.Bool().Draw(t, "shared")))
	maybe(t, "selector", &s.NodeSelector, map[string]string{"pool": "agents"})
	maybe(t, "secrets", &s.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "registry"}})
	maybe(t, "priority", &s.PriorityClassName, "agents")
	maybe(t, "tolerations", &s.Tolerations, []corev1.Toleration{
		{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "agents", Effect: corev1.TaintEffectNoSchedule},
		{Key: "spot", Operator: corev1.TolerationOpExists},
	})
	maybe(t, "security", &s.SecurityContext, &corev1.PodSecurityContext{FSGroup: new(int64(1000)), RunAsNonRoot: new(true)})
	maybe(t, "aliases", &s.HostAliases, []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"cache.example"}}})
	maybe(t, "affinity", &s.Affinity, &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpExists}},
		}}},
	}})
}

// volumes draws some volumes of a template, named after their place.
func volumes(t *rapid.T) []corev1.Volume {
	sources := []corev1.VolumeSource{
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("0.5Gi"))}},
		{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}},
		configMap("settings"),
		token("vault"),
		{HostPath: &corev1.HostPathVolumeSource{Path: "/srv/cache"}},
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "shared-cache"}},
		{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
		}}},
		ephemeral(""),
	}
	var out []corev1.Volume
	for i := range rapid.IntRange(0, 4).Draw(t, "volumes") {
		source := rapid.SampledFrom(sources).Draw(t, "source")
		out = append(out, corev1.Volume{Name: fmt.Sprintf("volume-%d", i), VolumeSource: *source.DeepCopy()})
	}
	return out
}

// container draws a container without anything that is Kandev's.
func container(t *rapid.T, name string, volumes []corev1.Volume) corev1.Container {
	c := corev1.Container{Name: name, Image: rapid.SampledFrom([]string{
		"agent", "registry.example/agent:1.4", "registry.example:5000/agent:latest", "registry.example/agent@sha256:" + digits,
		"registry.example/agent:latest@sha256:" + digits, "registry.example:5000/team/agent",
	}).Draw(t, "image")}
	for i, v := range volumes {
		if rapid.Bool().Draw(t, "mounted") {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
				Name: v.Name, MountPath: fmt.Sprintf("/mnt/%d", i), ReadOnly: rapid.Bool().Draw(t, "read-only"),
			})
		}
	}
	maybe(t, "env", &c.Env, []corev1.EnvVar{
		{Name: "NODE_OPTIONS", Value: "--enable-source-maps"},
		{Name: "EMPTY"},
		{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	})
	maybe(t, "envFrom", &c.EnvFrom, []corev1.EnvFromSource{{Prefix: "CFG_", ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}})
	maybe(t, "ports", &c.Ports, []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}, {ContainerPort: 9090, Protocol: corev1.ProtocolUDP}})
	maybe(t, "resources", &c.Resources, corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(rapid.SampledFrom([]string{"0.5", "250m", "0.0001"}).Draw(t, "cpu"))},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(rapid.SampledFrom([]string{"1024Mi", "1G", "1.5Gi"}).Draw(t, "memory"))},
	})
	maybe(t, "probe", &c.ReadinessProbe, &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)},
	}})
	maybe(t, "lifecycle", &c.Lifecycle, &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("web"), Path: "/stop"},
	}})
	maybe(t, "context", &c.SecurityContext, &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	})
	if name != compose.DefaultMainContainer {
		maybe(t, "command", &c.Command, []string{"sleep", "infinity"})
	}
	return c
}
