package mutation

import (
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// neutrals are further changes that a comparison accepts and lists.
func neutrals() []PodOperator {
	return []PodOperator{
		neutral("label-added", func(_ *rand.Rand, p *corev1.Pod) { labelled(p, "team.example/cost-centre", "42") }),
		neutral("annotation-added", func(_ *rand.Rand, p *corev1.Pod) { annotated(p, "example.com/seen", "true") }),
		neutral("toleration", onSpec(func(s *corev1.PodSpec) {
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists})
		})),
		neutral("image-rewritten", onMain(func(c *corev1.Container) { c.Image = "mirror.example/agent@sha256:" + digits })),
		neutral("exec-probe", onMain(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
		})),
		neutral("service-links-off", onSpec(func(s *corev1.PodSpec) { s.EnableServiceLinks = new(false) })),
		neutral("same-platform-affinity", affinity(corev1.NodeSelectorRequirement{
			Key: compose.NodeArchLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64"},
		})),
		neutral("env-from-with-prefix", onMain(envFrom("CFG_"))),
		neutral("host-network", onSpec(func(s *corev1.PodSpec) {
			s.HostNetwork = true
			hostNetworkPorts(s)
		})),
		neutral("ancestor-in-sidecar", func(_ *rand.Rand, p *corev1.Pod) {
			emptyDir(p, "run")
			c := corev1.Container{Name: "injected", Image: "registry.example/injected:1"}
			mount(&c, "run", "/run")
			p.Spec.Containers = append(p.Spec.Containers, c)
		}),
		neutral("native-sidecar-type-dropped", func(_ *rand.Rand, p *corev1.Pod) {
			for i := range p.Spec.InitContainers {
				p.Spec.InitContainers[i].RestartPolicy = nil
			}
		}).when(func(p *corev1.Pod) bool {
			return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.RestartPolicy != nil })
		}),
		neutral("companion-removed", func(r *rand.Rand, p *corev1.Pod) { removeContainer(p, companion(r, p).Name) }).when(hasCompanion),
		neutral("debugger-of-nobody", debugger("", nil)).running(),
		neutral("scheduled", onSpec(func(s *corev1.PodSpec) { s.NodeName = "node-1" })).running(),
	}
}

const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// silents are changes that mean nothing: a comparison does not even list them.
func silents() []PodOperator {
	return []PodOperator{
		silent("api-defaults", func(_ *rand.Rand, p *corev1.Pod) { APIDefaults(p) }),
		silent("containers-reordered", onSpecChance(func(r *rand.Rand, s *corev1.PodSpec) { shuffle(r, s.Containers) })),
		silent("volumes-reordered", onSpecChance(func(r *rand.Rand, s *corev1.PodSpec) { shuffle(r, s.Volumes) })),
		silent("tolerations-reordered", onSpecChance(func(r *rand.Rand, s *corev1.PodSpec) { shuffle(r, s.Tolerations) })),
		silent("env-reordered", onEach(func(r *rand.Rand, c *corev1.Container) { shuffle(r, c.Env) })),
		silent("mounts-reordered", onEach(func(r *rand.Rand, c *corev1.Container) { shuffle(r, c.VolumeMounts) })),
		silent("ports-reordered", onEach(func(r *rand.Rand, c *corev1.Container) { shuffle(r, c.Ports) })),
		silent("quantities-rewritten", onEach(func(_ *rand.Rand, c *corev1.Container) {
			rewriteQuantities(c.Resources.Requests)
			rewriteQuantities(c.Resources.Limits)
		})),
		silent("mount-defaults", onEach(func(r *rand.Rand, c *corev1.Container) {
			for i := range c.VolumeMounts {
				if m := &c.VolumeMounts[i]; m.MountPropagation == nil && r.IntN(2) == 0 {
					m.MountPropagation = new(corev1.MountPropagationNone)
				}
				if m := &c.VolumeMounts[i]; m.RecursiveReadOnly == nil && r.IntN(2) == 0 {
					m.RecursiveReadOnly = new(corev1.RecursiveReadOnlyDisabled)
				}
			}
		})),
		silent("empty-lists", onEach(func(_ *rand.Rand, c *corev1.Container) {
			c.Args, c.EnvFrom = orEmpty(c.Args), orEmpty(c.EnvFrom)
		})),
		silent("server-metadata", func(_ *rand.Rand, p *corev1.Pod) {
			p.UID, p.ResourceVersion, p.Generation = "2f6c", "4711", 1
			p.Status.Phase, p.Status.QOSClass = corev1.PodPending, corev1.PodQOSBurstable
		}).refused(),
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func onSpecChance(f func(*rand.Rand, *corev1.PodSpec)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { f(r, &p.Spec) }
}

func onEach(f func(*rand.Rand, *corev1.Container)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { eachContainer(p, func(c *corev1.Container) { f(r, c) }) }
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// rewriteQuantities writes each quantity as a plain number, 1Gi as 1073741824.
func rewriteQuantities(list corev1.ResourceList) {
	for name, q := range list {
		q.Format = resource.DecimalSI
		list[name] = resource.MustParse(q.String())
	}
}
