package mutation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// accessTampers gives other containers what is reserved, or the main one what is not its own.
func accessTampers() []PodOperator {
	const every = "spec.containers[*]."
	return []PodOperator{
		tamper("auth-to-companion", every+"volumeMounts[/auth]", onCompanion(func(c *corev1.Container) { mount(c, compose.AuthVolume, "/auth") })).when(hasCompanion),
		tamper("auth-to-grantee", every+"volumeMounts[/auth]", onGrant(func(c *corev1.Container, _ *corev1.VolumeMount) { mount(c, compose.AuthVolume, "/auth") })).when(hasGrantee),
		tamper("runtime-to-sidecar", "spec.containers[injected].volumeMounts[/agent]", inject(false, compose.RuntimeVolume, "/agent")),
		tamper("auth-to-init", "spec.initContainers[injected].volumeMounts[/run/kandev]", inject(true, compose.AuthVolume, compose.AuthPath)),
		tamper("path-in-companion", every+"volumeMounts[/run/kandev/x]", func(r *rand.Rand, p *corev1.Pod) {
			emptyDir(p, "spare")
			mount(companion(r, p), "spare", "/run/kandev/x")
		}).when(hasCompanion),
		tamper("path-in-init", "spec.initContainers[injected].volumeMounts[workspace]", func(r *rand.Rand, p *corev1.Pod) {
			emptyDir(p, "spare")
			inject(true, "spare", "workspace")(r, p)
		}),
		tamper("device-auth", every+"volumeDevices[/dev/auth].name", onCompanion(func(c *corev1.Container) {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: compose.AuthVolume, DevicePath: "/dev/auth"})
		})).when(hasCompanion).refused(),
		tamper("claim-as-device", every+"volumeDevices[/dev/workspace].name", onCompanion(func(c *corev1.Container) {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: compose.WorkspaceVolume, DevicePath: "/dev/workspace"})
		})).when(func(p *corev1.Pod) bool { return hasCompanion(p) && hasClaim(p) }),
		tamper("device-path", every+"volumeDevices[/opt/kandev/agentctl].devicePath", func(_ *rand.Rand, p *corev1.Pod) {
			addVolume(p, "disk", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}})
			c := mainOf(p)
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: "disk", DevicePath: "/opt/kandev/agentctl"})
		}),
		tamper("env-from-auth-file", every+"env[TOKEN].valueFrom.fileKeyRef.volumeName", onCompanion(func(c *corev1.Container) {
			c.Env = append(c.Env, corev1.EnvVar{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
				FileKeyRef: &corev1.FileKeySelector{VolumeName: compose.AuthVolume, Path: "auth.env", Key: "TOKEN"},
			}})
		})).when(hasCompanion),
		tamper("env-home-main", every+"env[HOME]", onMain(env("HOME", "/tmp"))),
		tamper("env-agentctl-main", every+"env[AGENTCTL_LISTEN_HOST]", onMain(env("AGENTCTL_LISTEN_HOST", "0.0.0.0"))),
		tamper("env-kandev-empty", every+"env[KANDEV_SESSION_ID]", onMain(env("KANDEV_SESSION_ID", ""))),
		tamper("env-kandev-companion", every+"env[KANDEV_]", onCompanion(env("KANDEV_", "x"))).when(hasCompanion),
		tamper("env-home-init", "spec.initContainers[*].env[HOME]", onInit(env("HOME", "/root"))).when(hasInit),
		tamper("env-home-sidecar", "spec.containers[injected].env[HOME]", onSpec(func(s *corev1.PodSpec) {
			c := corev1.Container{Name: "injected", Image: "registry.example/injected:1"}
			env("HOME", "/root")(&c)
			s.Containers = append(s.Containers, c)
		})),
		tamper("env-from-main", every+"envFrom[*]", onMain(envFrom(""))),
		tamper("env-from-prefix", every+"envFrom[*]", onMain(envFrom("AGENTCTL_LISTEN"))),
		tamper("env-from-short-prefix", every+"envFrom[*]", onCompanion(envFrom("HO"))).when(hasCompanion),
		tamper("env-from-init", "spec.initContainers[*].envFrom[*]", onInit(envFrom("KANDEV_"))).when(hasInit),
		tamper("port-number-companion", every+"ports[proxy]", onCompanion(port("proxy", compose.ControlPort))).when(hasCompanion),
		tamper("port-name-companion", every+"ports[kandev-agentctl]", onCompanion(port(compose.ControlPortName, 15000))).when(hasCompanion),
		tamper("port-number-init", "spec.initContainers[*].ports[proxy]", onInit(port("proxy", compose.ControlPort))).when(hasInit),
		tamper("port-number-sidecar", "spec.containers[injected].ports[8765/TCP]", onSpec(func(s *corev1.PodSpec) {
			c := corev1.Container{Name: "injected", Image: "registry.example/injected:1"}
			port("", compose.ControlPort)(&c)
			s.Containers = append(s.Containers, c)
		})),
		tamper("termination-log", every+"terminationMessagePath", onMain(func(c *corev1.Container) { c.TerminationMessagePath = "/run/kandev/auth.env" })),
		tamper("termination-log-grantee", every+"terminationMessagePath", onGrant(func(c *corev1.Container, _ *corev1.VolumeMount) {
			c.TerminationMessagePath = "/workspace/.git/config"
		})).when(hasGrantee),
		tamper("vault-shares-processes", "spec.shareProcessNamespace", func(r *rand.Rand, p *corev1.Pod) {
			vault(r, p)
			p.Spec.ShareProcessNamespace = new(true)
		}).when(func(p *corev1.Pod) bool { return p.Spec.ShareProcessNamespace == nil || !*p.Spec.ShareProcessNamespace }),
		tamper("kueue-finalizer", "metadata.finalizers", func(r *rand.Rand, p *corev1.Pod) {
			kueue(r, p)
			p.Finalizers = []string{"kueue.x-k8s.io/managed"}
		}),
	}
}

func env(name, value string) func(*corev1.Container) {
	return func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value}) }
}

func envFrom(prefix string) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{Prefix: prefix, SecretRef: &corev1.SecretEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "injected"},
		}})
	}
}

func port(name string, number int32) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: corev1.ProtocolTCP})
	}
}
