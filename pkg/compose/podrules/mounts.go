package podrules

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	noVolume      = "must be the name of a volume of the Pod"
	invalidVolume = "the volume of this name is itself not valid"
)

var (
	propagations = []corev1.MountPropagationMode{
		corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone,
	}
	recursiveReadOnlyModes = []corev1.RecursiveReadOnlyMode{
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible,
	}
)

func (c *checker) mounts(ctr *field.Path, container *corev1.Container) {
	if len(container.VolumeMounts) == 0 {
		return
	}
	list := ctr.Child("volumeMounts")
	paths := make(sets.Set[string], len(container.VolumeMounts))
	for i := range container.VolumeMounts {
		m := &container.VolumeMounts[i]
		if c.dropped.Has(m.Name) {
			continue
		}
		p := list.Index(i)
		c.needed(p, "name", m.Name)
		c.volumeRef(p, m.Name)
		c.needed(p, "mountPath", m.MountPath)
		if paths.Has(m.MountPath) {
			c.invalid(p.Child("mountPath"), m.MountPath, "must be unique")
		}
		paths.Insert(m.MountPath)
		if slices.ContainsFunc(container.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == m.Name }) {
			c.invalid(p.Child("name"), m.Name, "must not already exist in volumeDevices")
		}
		if hasDevicePath(container.VolumeDevices, m.MountPath) {
			c.invalid(p.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices")
		}
		c.subPaths(list, i, m)
		c.propagation(list, m, container)
		c.recursiveReadOnly(list, m)
	}
}

// volumeRef reports the name of a volume that is not there, or that is there but invalid.
func (c *checker) volumeRef(p *field.Path, name string) {
	if _, ok := c.volumes[name]; ok || slices.Contains(c.options.KnownVolumes, name) {
		return
	}
	detail := noVolume
	if slices.ContainsFunc(c.spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
		detail = invalidVolume
	}
	c.notFound(p.Child("name"), name, detail)
}

// subPaths reports at the list what is wrong with either path, and at the mount that both are set.
func (c *checker) subPaths(list *field.Path, i int, m *corev1.VolumeMount) {
	c.relativePath(list, "subPath", m.SubPath)
	if m.SubPathExpr != "" && m.SubPath != "" {
		c.invalid(list.Index(i).Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive")
	}
	c.relativePath(list, "subPathExpr", m.SubPathExpr)
}

func (c *checker) propagation(list *field.Path, m *corev1.VolumeMount, container *corev1.Container) {
	if m.MountPropagation == nil {
		return
	}
	oneOf(c, list, "mountPropagation", *m.MountPropagation, propagations)
	if *m.MountPropagation == corev1.MountPropagationBidirectional && !isPrivileged(container.SecurityContext) {
		c.forbidden(list.Child("mountPropagation"), "Bidirectional mount propagation is available only to privileged containers")
	}
}

func (c *checker) recursiveReadOnly(list *field.Path, m *corev1.VolumeMount) {
	if m.RecursiveReadOnly == nil {
		return
	}
	switch *m.RecursiveReadOnly {
	case corev1.RecursiveReadOnlyDisabled:
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			c.forbidden(list.Child("recursiveReadOnly"), "may only be specified when readOnly is true")
		}
		if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
			c.forbidden(list.Child("recursiveReadOnly"), "may only be specified when mountPropagation is None or not specified")
		}
	default:
		oneOf(c, list, "recursiveReadOnly", *m.RecursiveReadOnly, recursiveReadOnlyModes)
	}
}

func (c *checker) devices(ctr *field.Path, container *corev1.Container) {
	names, paths := sets.Set[string]{}, sets.Set[string]{}
	for i := range container.VolumeDevices {
		d := &container.VolumeDevices[i]
		p := ctr.Child("volumeDevices").Index(i)
		c.needed(p, "name", d.Name)
		if names.Has(d.Name) {
			c.invalid(p.Child("name"), d.Name, "must be unique")
		}
		c.deviceVolume(p, d.Name)
		c.needed(p, "devicePath", d.DevicePath)
		if paths.Has(d.DevicePath) {
			c.invalid(p.Child("devicePath"), d.DevicePath, "must be unique")
		}
		if hasBackstep(d.DevicePath) {
			c.invalid(p.Child("devicePath"), d.DevicePath, "can not contain backsteps ('..')")
		} else {
			paths.Insert(d.DevicePath)
		}
		c.deviceAsMount(p, d, c.keptMounts(container))
		if d.Name != "" {
			names.Insert(d.Name)
		}
	}
}

// deviceVolume reports a volume that cannot be a device: only claims can.
func (c *checker) deviceVolume(p *field.Path, name string) {
	if v, ok := c.volumes[name]; ok && v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
		c.invalid(p.Child("name"), name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
	}
	c.volumeRef(p, name)
}

// keptMounts returns a container's mounts without those of volumes that the server drops.
func (c *checker) keptMounts(container *corev1.Container) []corev1.VolumeMount {
	if len(c.dropped) == 0 {
		return container.VolumeMounts
	}
	return slices.DeleteFunc(slices.Clone(container.VolumeMounts), func(m corev1.VolumeMount) bool { return c.dropped.Has(m.Name) })
}

// deviceAsMount reports a device of a volume that is also mounted, or at the path of a mount.
func (c *checker) deviceAsMount(p *field.Path, d *corev1.VolumeDevice, mounts []corev1.VolumeMount) {
	if slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
		c.invalid(p.Child("name"), d.Name, "must not already exist in volumeMounts")
	}
	if hasMountPath(mounts, d.DevicePath) {
		c.invalid(p.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts")
	}
}

// The server remembers one path for each volume, the last: hasMountPath and hasDevicePath do the same.

func hasMountPath(mounts []corev1.VolumeMount, path string) bool {
	for i := range mounts {
		later := func(m corev1.VolumeMount) bool { return m.Name == mounts[i].Name }
		if mounts[i].MountPath == path && !slices.ContainsFunc(mounts[i+1:], later) {
			return true
		}
	}
	return false
}

func hasDevicePath(devices []corev1.VolumeDevice, path string) bool {
	for i := range devices {
		later := func(d corev1.VolumeDevice) bool { return d.Name == devices[i].Name }
		if devices[i].DevicePath == path && !slices.ContainsFunc(devices[i+1:], later) {
			return true
		}
	}
	return false
}

// relativePath reports a path in the named field of p that is absolute or goes up.
func (c *checker) relativePath(p *field.Path, name, value string) {
	if path.IsAbs(value) {
		c.invalid(p.Child(name), value, "must be a relative path")
	}
	c.noBacksteps(p, name, value)
}

// localPath is relativePath for a file in a volume, whose name the kubelet keeps free of a leading "..".
func (c *checker) localPath(p *field.Path, name, value string) {
	c.relativePath(p, name, value)
	if strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../") {
		c.invalid(p.Child(name), value, "must not start with '..'")
	}
}

func (c *checker) noBacksteps(p *field.Path, name, value string) {
	if hasBackstep(value) {
		c.invalid(p.Child(name), value, "must not contain '..'")
	}
}

func hasBackstep(s string) bool {
	return strings.Contains(s, "..") && slices.Contains(strings.Split(s, "/"), "..")
}
