package mutation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// grantTampers changes who holds the workspace, and how.
func grantTampers() []PodOperator {
	const mounts = "spec.containers[*].volumeMounts"
	operators := []PodOperator{
		tamper("grant-dropped", mounts+"[/workspace]", onGrant(func(c *corev1.Container, _ *corev1.VolumeMount) {
			c.VolumeMounts = without(c.VolumeMounts, compose.WorkspaceVolume)
		})),
		tamper("grant-mode", mounts+"[/workspace].readOnly", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) { m.ReadOnly = !m.ReadOnly })),
		tamper("grant-moved", mounts+"[/src].mountPath", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) { m.MountPath = "/src" })),
		tamper("grant-slash", mounts+"[/workspace/].mountPath", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) { m.MountPath = "/workspace/" })),
		tamper("grant-sub-path", mounts+"[/workspace].subPath", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) { m.SubPath = "src" })),
		tamper("grant-sub-path-expr", mounts+"[/workspace].subPathExpr", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) { m.SubPathExpr = "$(X)" })),
		tamper("grant-propagated", mounts+"[/workspace].mountPropagation", onGrant(func(c *corev1.Container, m *corev1.VolumeMount) {
			c.SecurityContext = &corev1.SecurityContext{Privileged: new(true)} // without which no API server takes it
			m.MountPropagation = new(corev1.MountPropagationBidirectional)
		})),
		tamper("grant-recursive", mounts+"[/workspace].recursiveReadOnly", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) {
			m.RecursiveReadOnly = new(corev1.RecursiveReadOnlyIfPossible)
		})),
		tamper("grant-bind-options", mounts+"[/workspace].bindMountOptions", onGrant(func(_ *corev1.Container, m *corev1.VolumeMount) {
			m.BindMountOptions = []string{"noexec"}
		})).refused(),
		tamper("grant-twice", mounts+"[/again]", onGrant(func(c *corev1.Container, _ *corev1.VolumeMount) { mount(c, compose.WorkspaceVolume, "/again") })),
		tamper("grant-replaced", mounts+"[/workspace]", func(r *rand.Rand, p *corev1.Pod) {
			_, m := grantee(r, p)
			emptyDir(p, "replaced")
			m.Name = "replaced"
		}),
		tamper("grant-overlap-below", mounts+"[/workspace/.cache]", mountOnGrantee("/workspace/.cache")),
		tamper("grant-overlap-above", mounts+"[/]", mountOnGrantee("/")),
		tamper("grant-ancestor", mounts+"[/run]", mountOnGrantee("/run")),
		tamper("grant-recipient-renamed", "spec.containers[*]", onGrant(func(c *corev1.Container, _ *corev1.VolumeMount) { c.Name += "-0" })),
		tamper("grant-recipient-removed", "spec.containers[*]", func(r *rand.Rand, p *corev1.Pod) { removeContainer(p, pick(r, companions(p, true)).Name) }),
		tamper("grant-recipient-moved", "spec.initContainers[*].volumeMounts[/workspace]", func(r *rand.Rand, p *corev1.Pod) {
			c := *pick(r, companions(p, true))
			removeContainer(p, c.Name)
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}),
		tamper("grant-recipient-twice", "spec.containers[*]", func(r *rand.Rand, p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, *pick(r, companions(p, true)).DeepCopy())
		}).refused(),
	}
	for i := range operators {
		operators[i].Needs = hasGrantee
	}
	return append(operators,
		tamper("grant-added", mounts+"[/workspace]", onCompanion(func(c *corev1.Container) { mount(c, compose.WorkspaceVolume, compose.WorkspacePath) })).when(hasCompanion),
		tamper("grant-added-read-only", mounts+"[/workspace]", onCompanion(func(c *corev1.Container) {
			mount(c, compose.WorkspaceVolume, compose.WorkspacePath)
			c.VolumeMounts[len(c.VolumeMounts)-1].ReadOnly = true
		})).when(hasCompanion),
		tamper("grant-added-elsewhere", mounts+"[/mnt]", onCompanion(func(c *corev1.Container) { mount(c, compose.WorkspaceVolume, "/mnt") })).when(hasCompanion),
		tamper("grant-handed-over", mounts+"[/workspace]", func(r *rand.Rand, p *corev1.Pod) {
			from := pick(r, companions(p, true))
			to := companion(r, p)
			to.VolumeMounts = append(to.VolumeMounts, *mountOf(from, compose.WorkspaceVolume))
			from.VolumeMounts = without(from.VolumeMounts, compose.WorkspaceVolume)
		}).when(func(p *corev1.Pod) bool { return hasGrantee(p) && hasCompanion(p) }),
		tamper("grant-to-sidecar", "spec.containers[injected].volumeMounts[/workspace]", inject(false, compose.WorkspaceVolume, compose.WorkspacePath)),
		tamper("grant-to-injected-init", "spec.initContainers[injected].volumeMounts[/workspace]", inject(true, compose.WorkspaceVolume, compose.WorkspacePath)),
		tamper("grant-to-init", "spec.initContainers[*].volumeMounts[/workspace]", onInit(func(c *corev1.Container) {
			mount(c, compose.WorkspaceVolume, compose.WorkspacePath)
		})).when(hasInit),
	)
}

func mountOnGrantee(path string) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) {
		c, _ := grantee(r, p)
		emptyDir(p, "injected")
		mount(c, "injected", path)
	}
}

func removeContainer(p *corev1.Pod, name string) {
	var out []corev1.Container
	for _, c := range p.Spec.Containers {
		if c.Name != name {
			out = append(out, c)
		}
	}
	p.Spec.Containers = out
}

// inject adds a container with one mount, before all others or among the init containers.
func inject(init bool, volume, path string) func(*rand.Rand, *corev1.Pod) {
	return onSpec(func(s *corev1.PodSpec) {
		c := corev1.Container{Name: "injected", Image: "registry.example/injected:1"}
		mount(&c, volume, path)
		if init {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
			s.InitContainers = append([]corev1.Container{c}, s.InitContainers...)
			return
		}
		s.Containers = append([]corev1.Container{c}, s.Containers...)
	})
}
