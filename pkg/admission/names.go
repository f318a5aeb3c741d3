package admission

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// listKeys says what names an item of a list, by the item's type. Items of other lists are named by
// their position.
var listKeys = map[reflect.Type]func(reflect.Value) string{
	reflect.TypeFor[corev1.Container]():            keyed(func(c *corev1.Container) string { return c.Name }),
	reflect.TypeFor[corev1.EphemeralContainer]():   keyed(func(c *corev1.EphemeralContainer) string { return c.Name }),
	reflect.TypeFor[corev1.Volume]():               keyed(func(v *corev1.Volume) string { return v.Name }),
	reflect.TypeFor[corev1.VolumeMount]():          keyed(func(m *corev1.VolumeMount) string { return m.MountPath }),
	reflect.TypeFor[corev1.VolumeDevice]():         keyed(func(d *corev1.VolumeDevice) string { return d.DevicePath }),
	reflect.TypeFor[corev1.EnvVar]():               keyed(func(e *corev1.EnvVar) string { return e.Name }),
	reflect.TypeFor[corev1.EnvFromSource]():        keyed(envFromName),
	reflect.TypeFor[corev1.ContainerPort]():        keyed(portName),
	reflect.TypeFor[corev1.Toleration]():           keyed(tolerationName),
	reflect.TypeFor[corev1.LocalObjectReference](): keyed(func(r *corev1.LocalObjectReference) string { return r.Name }),
	reflect.TypeFor[corev1.PodSchedulingGate]():    keyed(func(g *corev1.PodSchedulingGate) string { return g.Name }),
	reflect.TypeFor[corev1.PodReadinessGate]():     keyed(func(g *corev1.PodReadinessGate) string { return string(g.ConditionType) }),
	reflect.TypeFor[corev1.PodResourceClaim]():     keyed(func(c *corev1.PodResourceClaim) string { return c.Name }),
	reflect.TypeFor[corev1.ResourceClaim]():        keyed(func(c *corev1.ResourceClaim) string { return c.Name + "/" + c.Request }),
	reflect.TypeFor[corev1.ContainerResizePolicy](): keyed(func(p *corev1.ContainerResizePolicy) string {
		return string(p.ResourceName)
	}),
	reflect.TypeFor[corev1.HostAlias]():         keyed(func(h *corev1.HostAlias) string { return h.IP }),
	reflect.TypeFor[corev1.Sysctl]():            keyed(func(s *corev1.Sysctl) string { return s.Name }),
	reflect.TypeFor[metav1.OwnerReference]():    keyed(func(o *metav1.OwnerReference) string { return string(o.UID) }),
	reflect.TypeFor[corev1.EvictionResponder](): keyed(func(e *corev1.EvictionResponder) string { return e.Name }),
}

// keyed makes a function on an item of a list from one on its type.
func keyed[T any](name func(*T) string) func(reflect.Value) string {
	return func(v reflect.Value) string {
		return name(v.Addr().Interface().(*T)) //nolint:forcetypeassert // listKeys is looked up by this type
	}
}

func envFromName(e *corev1.EnvFromSource) string {
	source := ""
	switch {
	case e.ConfigMapRef != nil:
		source = "configMapRef:" + e.ConfigMapRef.Name
	case e.SecretRef != nil:
		source = "secretRef:" + e.SecretRef.Name
	}
	return e.Prefix + source
}

// portName is a port's name, or its number and protocol when it has none.
func portName(p *corev1.ContainerPort) string {
	if p.Name != "" {
		return p.Name
	}
	return fmt.Sprintf("%d/%s", p.ContainerPort, p.Protocol)
}

// tolerationName is the taint that is tolerated.
func tolerationName(t *corev1.Toleration) string {
	name := t.Key
	if t.Value != "" {
		name += "=" + t.Value
	}
	if t.Effect != "" {
		name += ":" + string(t.Effect)
	}
	return name
}

// itemNames returns what names each item of a list of structs. The second item of a name is NAME#2.
func itemNames(list reflect.Value) []string {
	name := listKeys[list.Type().Elem()]
	taken := map[string]bool{}
	out := make([]string, list.Len())
	for i := range out {
		if name == nil {
			out[i] = strconv.Itoa(i)
			continue
		}
		base := name(list.Index(i))
		out[i] = base
		for n := 2; taken[out[i]]; n++ {
			out[i] = base + "#" + strconv.Itoa(n)
		}
		taken[out[i]] = true
	}
	return out
}

// namesOf is itemNames for a list that is not behind an interface.
func namesOf[T any](list []T) []string { return itemNames(reflect.ValueOf(list)) }

// orderMatters reports whether the order of a list means something: init containers run one after the
// other, and of two environment sources the later wins.
func orderMatters(elem reflect.Type, at *field.Path) bool {
	switch elem {
	case reflect.TypeFor[corev1.EnvFromSource]():
		return true
	case reflect.TypeFor[corev1.Container]():
		return strings.HasSuffix(at.String(), "initContainers")
	}
	return false
}
