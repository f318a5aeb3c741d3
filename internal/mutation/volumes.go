package mutation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// volumeTampers changes the owned volumes, their mounts on the main container, and what reaches them by
// another name.
func volumeTampers() []PodOperator {
	const mounts = "spec.containers[*].volumeMounts"
	return []PodOperator{
		tamper("auth-on-disk", "spec.volumes[kandev-auth].emptyDir.medium", onVolume(compose.AuthVolume, func(v *corev1.Volume) { v.EmptyDir.Medium = "" })),
		tamper("auth-size-limit", "spec.volumes[kandev-auth].emptyDir.sizeLimit", onVolume(compose.AuthVolume, func(v *corev1.Volume) {
			v.EmptyDir.SizeLimit = new(resource.MustParse("1Mi"))
		})),
		tamper("auth-from-host", "spec.volumes[kandev-auth].hostPath", onVolume(compose.AuthVolume, func(v *corev1.Volume) {
			v.VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/auth"}}
		})),
		tamper("runtime-from-config", "spec.volumes[kandev-runtime].configMap", onVolume(compose.RuntimeVolume, func(v *corev1.Volume) {
			v.VolumeSource = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "other-agent"}}}
		})),
		tamper("runtime-in-memory", "spec.volumes[kandev-runtime].emptyDir.medium", onVolume(compose.RuntimeVolume, func(v *corev1.Volume) {
			v.EmptyDir.Medium = corev1.StorageMediumMemory
		})),
		tamper("workspace-redirected", "spec.volumes[kandev-workspace]", onVolume(compose.WorkspaceVolume, func(v *corev1.Volume) {
			v.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "someone-elses"}}
		})),
		tamper("workspace-from-host", "spec.volumes[kandev-workspace].hostPath", onVolume(compose.WorkspaceVolume, func(v *corev1.Volume) {
			v.VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}
		})),
		tamper("workspace-read-only-claim", "spec.volumes[kandev-workspace].persistentVolumeClaim.readOnly", onVolume(compose.WorkspaceVolume, func(v *corev1.Volume) {
			v.PersistentVolumeClaim.ReadOnly = true
		})).when(hasClaim),
		tamper("owned-volume-renamed", "spec.volumes[kandev-runtime]", onVolume(compose.RuntimeVolume, func(v *corev1.Volume) { v.Name = "runtime" })).refused(),
		tamper("owned-volume-twice", "spec.volumes[kandev-auth#2]", func(_ *rand.Rand, p *corev1.Pod) { emptyDir(p, compose.AuthVolume) }).refused(),
		tamper("claim-alias", "spec.volumes[alias].persistentVolumeClaim.claimName", func(_ *rand.Rand, p *corev1.Pod) {
			addVolume(p, "alias", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(p)}})
		}).when(hasClaim),
		tamper("claim-alias-read-only", "spec.volumes[alias].persistentVolumeClaim.claimName", func(_ *rand.Rand, p *corev1.Pod) {
			addVolume(p, "alias", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(p), ReadOnly: true}})
		}).when(hasClaim),
		tamper("claim-by-ephemeral-name", "spec.volumes[workspace].ephemeral", func(_ *rand.Rand, p *corev1.Pod) {
			addVolume(p, "workspace", ephemeral(""))
		}).when(func(p *corev1.Pod) bool {
			return hasClaim(p) && claimName(p) == p.Name+"-workspace" && volumeOf(p, "workspace") == nil
		}).refused(),
		tamper("claim-copied", "spec.volumes[copy].ephemeral.volumeClaimTemplate.spec.dataSource", func(_ *rand.Rand, p *corev1.Pod) {
			addVolume(p, "copy", ephemeral(claimName(p)))
		}).when(hasClaim),
		tamper("kubelet-from-host", "spec.volumes[kubelet].hostPath.path", hostPath("kubelet", "/var/lib/kubelet")),
		tamper("root-from-host", "spec.volumes[host].hostPath.path", hostPath("host", "/")),
		tamper("proc-from-host", "spec.volumes[proc].hostPath.path", hostPath("proc", "//proc/")),

		tamper("main-mount-dropped", mounts+"[*]", func(r *rand.Rand, p *corev1.Pod) {
			c := mainOf(p)
			c.VolumeMounts = without(c.VolumeMounts, pick(r, compose.OwnedVolumes()))
		}),
		tamper("main-mount-read-only", mounts+"[*].readOnly", onOwnedMount(func(m *corev1.VolumeMount) { m.ReadOnly = true })),
		tamper("main-mount-sub-path", mounts+"[*].subPath", onOwnedMount(func(m *corev1.VolumeMount) { m.SubPath = "x" })),
		tamper("main-mount-sub-path-expr", mounts+"[*].subPathExpr", onOwnedMount(func(m *corev1.VolumeMount) { m.SubPathExpr = "$(POD)" })),
		tamper("main-mount-moved", mounts+"[/elsewhere].mountPath", onOwnedMount(func(m *corev1.VolumeMount) { m.MountPath = "/elsewhere" })),
		tamper("main-mount-slash", mounts+"[*].mountPath", onOwnedMount(func(m *corev1.VolumeMount) { m.MountPath += "/" })),
		tamper("main-mount-propagated", mounts+"[*].mountPropagation", onOwnedMount(func(m *corev1.VolumeMount) {
			m.MountPropagation = new(corev1.MountPropagationHostToContainer)
		})),
		tamper("main-mount-swapped", mounts+"[/run/kandev]", func(_ *rand.Rand, p *corev1.Pod) {
			emptyDir(p, "swapped")
			mountOf(mainOf(p), compose.AuthVolume).Name = "swapped"
		}),
		tamper("main-mount-twice", mounts+"[/again]", func(r *rand.Rand, p *corev1.Pod) { mount(mainOf(p), pick(r, compose.OwnedVolumes()), "/again") }),
		tamper("main-mount-below", mounts+"[/run/kandev/home]", mountOnMain("/run/kandev/home")),
		tamper("main-mount-alias-path", mounts+"[/x/../workspace/]", mountOnMain("/x/../workspace/")),
		tamper("main-mount-var-run", mounts+"[/var/run/kandev]", mountOnMain("/var/run/kandev")),
		tamper("main-mount-above", mounts+"[/opt]", mountOnMain("/opt")),
	}
}

func onVolume(name string, f func(*corev1.Volume)) func(*rand.Rand, *corev1.Pod) {
	return func(_ *rand.Rand, p *corev1.Pod) { f(volumeOf(p, name)) }
}

func onOwnedMount(f func(*corev1.VolumeMount)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { f(mountOf(mainOf(p), pick(r, compose.OwnedVolumes()))) }
}

func mountOnMain(path string) func(*rand.Rand, *corev1.Pod) {
	return func(_ *rand.Rand, p *corev1.Pod) {
		emptyDir(p, "injected")
		mount(mainOf(p), "injected", path)
	}
}

func hostPath(name, path string) func(*rand.Rand, *corev1.Pod) {
	return func(_ *rand.Rand, p *corev1.Pod) {
		addVolume(p, name, corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}})
	}
}

func hasClaim(p *corev1.Pod) bool {
	return volumeOf(p, compose.WorkspaceVolume).PersistentVolumeClaim != nil
}

func claimName(p *corev1.Pod) string {
	return volumeOf(p, compose.WorkspaceVolume).PersistentVolumeClaim.ClaimName
}

// ephemeral is a volume with a claim of its own, filled from another claim if one is named.
func ephemeral(from string) corev1.VolumeSource {
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		},
	}
	if from != "" {
		spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: from}
	}
	return corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec},
	}}
}
