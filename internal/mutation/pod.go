package mutation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// podTampers changes the owned fields of the Pod itself.
func podTampers() []PodOperator {
	return []PodOperator{
		tamper("restart-policy", "spec.restartPolicy", onSpec(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyNever })),
		tamper("os-windows", "spec.os.name", onSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} })),
		tamper("os-dropped", "spec.os.name", onSpec(func(s *corev1.PodSpec) { s.OS = nil })),
		tamper("node-name", "spec.nodeName", onSpec(func(s *corev1.PodSpec) { s.NodeName = "node-1" })),
		tamper("node-selector-arch", "spec.nodeSelector[kubernetes.io/arch]", onSpec(func(s *corev1.PodSpec) { s.NodeSelector[compose.NodeArchLabel] = "s390x" })),
		tamper("node-selector-os-dropped", "spec.nodeSelector[kubernetes.io/os]", onSpec(func(s *corev1.PodSpec) { delete(s.NodeSelector, compose.NodeOSLabel) })),
		tamper("node-selector-replaced", "spec.nodeSelector[kubernetes.io/arch]", onSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"pool": "agents"} })),
		tamper("affinity-arch", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[*].matchExpressions[*]", affinity(
			corev1.NodeSelectorRequirement{Key: compose.NodeArchLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"riscv64"}})),
		tamper("affinity-not-linux", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[*].matchExpressions[*]", affinity(
			corev1.NodeSelectorRequirement{Key: compose.NodeOSLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"linux"}})),
		tamper("affinity-no-arch", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[*].matchExpressions[*]", affinity(
			corev1.NodeSelectorRequirement{Key: compose.NodeArchLabel, Operator: corev1.NodeSelectorOpDoesNotExist})),
		tamper("affinity-preferred", "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[*].preference.matchExpressions[*]", preferOtherPlatform),
		tamper("automount-on", "spec.automountServiceAccountToken", onSpec(func(s *corev1.PodSpec) {
			s.AutomountServiceAccountToken = new(!*s.AutomountServiceAccountToken)
		})),
		tamper("automount-dropped", "spec.automountServiceAccountToken", onSpec(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = nil })),
		tamper("share-processes", "spec.shareProcessNamespace", onSpec(func(s *corev1.PodSpec) { s.ShareProcessNamespace = new(true) })).
			when(func(p *corev1.Pod) bool { return p.Spec.ShareProcessNamespace == nil || !*p.Spec.ShareProcessNamespace }),
		tamper("host-processes", "spec.hostPID", onSpec(func(s *corev1.PodSpec) { s.HostPID = true })).
			when(func(p *corev1.Pod) bool { return !p.Spec.HostPID }),
		tamper("ephemeral-at-create", "spec.ephemeralContainers[debugger]", debugger("", nil)).refused(),
		tamper("debug-main", "spec.ephemeralContainers[debugger].targetContainerName", func(r *rand.Rand, p *corev1.Pod) {
			debugger(mainOf(p).Name, nil)(r, p)
		}).running(),
		tamper("debug-grantee", "spec.ephemeralContainers[debugger].targetContainerName", func(r *rand.Rand, p *corev1.Pod) {
			debugger(pick(r, companions(p, true)).Name, nil)(r, p)
		}).running().when(hasGrantee),
		tamper("debug-auth", "spec.ephemeralContainers[debugger].volumeMounts[/auth]",
			debugger("", []corev1.VolumeMount{{Name: compose.AuthVolume, MountPath: "/auth"}})).running(),
		tamper("debug-workspace", "spec.ephemeralContainers[debugger].volumeMounts[/workspace]",
			debugger("", []corev1.VolumeMount{{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath}})).running(),
	}
}

// affinity adds a requirement to every required node-selector term, or a term where there is none.
func affinity(req corev1.NodeSelectorRequirement) func(*rand.Rand, *corev1.Pod) {
	return onSpec(func(s *corev1.PodSpec) {
		nodes := nodeAffinity(s)
		if nodes.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
		}
		terms := nodes.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions, req)
		}
	})
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	if s.Affinity.NodeAffinity == nil {
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return s.Affinity.NodeAffinity
}

func preferOtherPlatform(_ *rand.Rand, p *corev1.Pod) {
	nodes := nodeAffinity(&p.Spec)
	nodes.PreferredDuringSchedulingIgnoredDuringExecution = append(nodes.PreferredDuringSchedulingIgnoredDuringExecution,
		corev1.PreferredSchedulingTerm{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: compose.NodeOSLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"windows"}},
		}}})
}

// debugger adds an ephemeral container, as kubectl debug does.
func debugger(target string, mounts []corev1.VolumeMount) func(*rand.Rand, *corev1.Pod) {
	return onSpec(func(s *corev1.PodSpec) {
		s.EphemeralContainers = append(s.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: "debugger", Image: "registry.example/debug:1", VolumeMounts: mounts,
			},
			TargetContainerName: target,
		})
	})
}

// mainTampers changes the owned fields of the main container.
func mainTampers() []PodOperator {
	const c = "spec.containers[*]."
	return []PodOperator{
		tamper("command", c+"command", onMain(func(c *corev1.Container) { c.Command = []string{"/bin/sh", "-c", "exec agent"} })),
		tamper("command-wrapped", c+"command", onMain(func(c *corev1.Container) { c.Command = append([]string{"/istio/wait"}, c.Command...) })),
		tamper("command-dropped", c+"command", onMain(func(c *corev1.Container) { c.Command = nil })),
		tamper("args", c+"args", onMain(func(c *corev1.Container) { c.Args = append(c.Args, "--insecure") })),
		tamper("working-dir", c+"workingDir", onMain(func(c *corev1.Container) { c.WorkingDir = "/" })),
		tamper("working-dir-dropped", c+"workingDir", onMain(func(c *corev1.Container) { c.WorkingDir = "" })),
		tamper("main-restart-policy", c+"restartPolicy", onMain(func(c *corev1.Container) { c.RestartPolicy = new(corev1.ContainerRestartPolicyNever) })),
		tamper("control-port-dropped", c+"ports[kandev-agentctl]", onMain(func(c *corev1.Container) { c.Ports = withoutPort(c.Ports) })),
		tamper("control-port-number", c+"ports[kandev-agentctl].containerPort", onControlPort(func(p *corev1.ContainerPort) { p.ContainerPort = 8766 })),
		tamper("control-port-name", c+"ports[kandev-agentctl].name", onControlPort(func(p *corev1.ContainerPort) { p.Name = "http" })),
		tamper("control-port-unnamed", c+"ports[kandev-agentctl].name", onControlPort(func(p *corev1.ContainerPort) { p.Name = "" })),
		tamper("control-port-udp", c+"ports[kandev-agentctl].protocol", onControlPort(func(p *corev1.ContainerPort) { p.Protocol = corev1.ProtocolUDP })),
		tamper("control-port-on-host", c+"ports[kandev-agentctl].hostPort", onControlPort(func(p *corev1.ContainerPort) { p.HostPort = 31000 })),
		tamper("control-port-twice", c+"ports[*]", onMain(func(c *corev1.Container) {
			c.Ports = append(c.Ports, corev1.ContainerPort{Name: "again", ContainerPort: compose.ControlPort})
		})),
		tamper("main-renamed", "spec.containers[*]", onMain(func(c *corev1.Container) { c.Name += "-0" })),
		tamper("main-removed", "spec.containers[*]", onSpec(removeMain)),
		tamper("main-moved", "spec.containers[*]", onSpec(func(s *corev1.PodSpec) {
			main := *mainOf(&corev1.Pod{Spec: *s})
			removeMain(s)
			s.InitContainers = append(s.InitContainers, main)
		})),
		tamper("main-twice", "spec.containers[*]", onSpec(func(s *corev1.PodSpec) {
			s.Containers = append([]corev1.Container{*mainOf(&corev1.Pod{Spec: *s})}, s.Containers...)
		})).refused(),
		tamper("main-shadowed", "spec.containers[*]", onSpec(func(s *corev1.PodSpec) {
			s.InitContainers = append(s.InitContainers, corev1.Container{Name: mainOf(&corev1.Pod{Spec: *s}).Name, Image: "registry.example/x:1"})
		})).refused(),
	}
}

// removeMain takes the main container out, and puts another in its place so that the Pod keeps one.
func removeMain(s *corev1.PodSpec) {
	main := mainOf(&corev1.Pod{Spec: *s})
	*main = corev1.Container{Name: "stand-in", Image: "registry.example/stand-in:1"}
}

func onControlPort(f func(*corev1.ContainerPort)) func(*rand.Rand, *corev1.Pod) {
	return onMain(func(c *corev1.Container) {
		for i := range c.Ports {
			if c.Ports[i].Name == compose.ControlPortName {
				f(&c.Ports[i])
				return
			}
		}
	})
}

func withoutPort(ports []corev1.ContainerPort) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, p := range ports {
		if p.Name != compose.ControlPortName {
			out = append(out, p)
		}
	}
	return out
}
