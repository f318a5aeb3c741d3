// Package mutation holds what can happen to an object between its create request and the API server's answer:
// operators that change a Pod or a claim as a webhook would, each with what a comparison must say to it; the defaults that the API
// server persists; and generators of the objects to try them on.
//
// It is for tests only. The operators are pure functions on the typed object, so that a test may
// compare the result itself or send the difference as a webhook's JSON patch.
package mutation

import (
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Kind says what a comparison must make of an operator's change.
type Kind string

// The kinds of operator.
const (
	Tamper  Kind = "tamper"  // a violation that names the field
	Neutral Kind = "neutral" // no violation
	Silent  Kind = "silent"  // no difference at all
)

// Operator is one change to an object of type T.
type Operator[T any] struct {
	Name string
	Kind Kind
	// Field is the path that a violation must name, [*] standing for any item; for Tamper only.
	Field string
	// Refused says that a real API server refuses the result or undoes it, so that only an offline comparison sees it.
	Refused bool
	// Running says that the change happens to a running Pod only.
	Running bool
	// Needs reports whether the object has what the operator changes.
	Needs func(T) bool
	// Apply changes the object. It draws on nothing but the source of chance.
	Apply func(*rand.Rand, T)
}

type (
	// PodOperator changes a Pod.
	PodOperator = Operator[*corev1.Pod]
	// ClaimOperator changes a PersistentVolumeClaim.
	ClaimOperator = Operator[*corev1.PersistentVolumeClaim]
)

// PodOperators returns every operator on Pods.
func PodOperators() []PodOperator {
	var out []PodOperator
	for _, list := range [][]PodOperator{
		metadataTampers[*corev1.Pod](), podTampers(), mainTampers(), volumeTampers(), grantTampers(), accessTampers(),
		webhooks(), neutrals(), silents(),
	} {
		out = append(out, list...)
	}
	return out
}

// ClaimOperators returns every operator on claims.
func ClaimOperators() []ClaimOperator {
	return append(metadataTampers[*corev1.PersistentVolumeClaim](), claimOperators()...)
}

// Names reports whether a violation's path is the operator's field or lies in it.
func (o Operator[T]) Names(path string) bool {
	for i, part := range strings.Split(o.Field, "[*]") {
		if i > 0 {
			end := strings.IndexByte(path, ']')
			if !strings.HasPrefix(path, "[") || end < 0 {
				return false
			}
			path = path[end+1:]
		}
		rest, ok := strings.CutPrefix(path, part)
		if !ok {
			return false
		}
		path = rest
	}
	return path == "" || path[0] == '.' || path[0] == '['
}

// Applies reports whether the object has what the operator changes.
func (o Operator[T]) Applies(object T) bool { return o.Needs == nil || o.Needs(object) }

// tamper starts an operator on Pods that must be caught.
func tamper(name, field string, apply func(*rand.Rand, *corev1.Pod)) PodOperator {
	return PodOperator{Name: name, Kind: Tamper, Field: field, Apply: apply}
}

func neutral(name string, apply func(*rand.Rand, *corev1.Pod)) PodOperator {
	return PodOperator{Name: name, Kind: Neutral, Apply: apply}
}

func silent(name string, apply func(*rand.Rand, *corev1.Pod)) PodOperator {
	return PodOperator{Name: name, Kind: Silent, Apply: apply}
}

func (o Operator[T]) when(needs func(T) bool) Operator[T] {
	o.Needs = needs
	return o
}

func (o Operator[T]) refused() Operator[T] {
	o.Refused = true
	return o
}

func (o Operator[T]) running() Operator[T] {
	o.Running = true
	return o
}

// mainOf returns the main container: the one that mounts the credentials.
func mainOf(p *corev1.Pod) *corev1.Container {
	for i := range p.Spec.Containers {
		if mountOf(&p.Spec.Containers[i], compose.AuthVolume) != nil {
			return &p.Spec.Containers[i]
		}
	}
	return nil
}

// mountOf returns a container's mount of a volume.
func mountOf(c *corev1.Container, volume string) *corev1.VolumeMount {
	for i := range c.VolumeMounts {
		if c.VolumeMounts[i].Name == volume {
			return &c.VolumeMounts[i]
		}
	}
	return nil
}

// volumeOf returns a Pod's volume.
func volumeOf(p *corev1.Pod, name string) *corev1.Volume {
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Name == name {
			return &p.Spec.Volumes[i]
		}
	}
	return nil
}

// companions returns the ordinary containers beside the main one, those with a grant or those without.
func companions(p *corev1.Pod, granted bool) []*corev1.Container {
	var out []*corev1.Container
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if mountOf(c, compose.AuthVolume) == nil && (mountOf(c, compose.WorkspaceVolume) != nil) == granted {
			out = append(out, c)
		}
	}
	return out
}

func hasGrantee(p *corev1.Pod) bool   { return len(companions(p, true)) > 0 }
func hasCompanion(p *corev1.Pod) bool { return len(companions(p, false)) > 0 }
func hasInit(p *corev1.Pod) bool      { return len(p.Spec.InitContainers) > 0 }

// grantee picks a companion with a grant, and its mount.
func grantee(r *rand.Rand, p *corev1.Pod) (*corev1.Container, *corev1.VolumeMount) {
	c := pick(r, companions(p, true))
	return c, mountOf(c, compose.WorkspaceVolume)
}

// companion picks a companion without a grant.
func companion(r *rand.Rand, p *corev1.Pod) *corev1.Container { return pick(r, companions(p, false)) }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// onGrant makes an operator's function of one on a granted container and its mount.
func onGrant(f func(*corev1.Container, *corev1.VolumeMount)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { f(grantee(r, p)) }
}

// onMain makes an operator's function of one on the main container.
func onMain(f func(*corev1.Container)) func(*rand.Rand, *corev1.Pod) {
	return func(_ *rand.Rand, p *corev1.Pod) { f(mainOf(p)) }
}

// onSpec makes an operator's function of one on the Pod's spec.
func onSpec(f func(*corev1.PodSpec)) func(*rand.Rand, *corev1.Pod) {
	return func(_ *rand.Rand, p *corev1.Pod) { f(&p.Spec) }
}

// onCompanion makes an operator's function of one on a container without a grant.
func onCompanion(f func(*corev1.Container)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { f(companion(r, p)) }
}

// onInit makes an operator's function of one on an init container.
func onInit(f func(*corev1.Container)) func(*rand.Rand, *corev1.Pod) {
	return func(r *rand.Rand, p *corev1.Pod) { f(&p.Spec.InitContainers[r.IntN(len(p.Spec.InitContainers))]) }
}

func mount(c *corev1.Container, volume, path string) {
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
}

func without(mounts []corev1.VolumeMount, volume string) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, m := range mounts {
		if m.Name != volume {
			out = append(out, m)
		}
	}
	return out
}

func emptyDir(p *corev1.Pod, name string) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{
		Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	})
}

func addVolume(p *corev1.Pod, name string, source corev1.VolumeSource) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
}
