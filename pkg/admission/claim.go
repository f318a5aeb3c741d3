package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// claim compares the spec of a managed claim. volumeName, and the storage class where none was requested, are
// the API server's and its plugins' to set.
func (c *collector) claim(requested, admitted *corev1.PersistentVolumeClaim) {
	r, a := &requested.Spec, &admitted.Spec
	if !sameModes(r.AccessModes, a.AccessModes) {
		c.add(RuleClaim, specRoot.Child("accessModes"), "the access modes were changed", r.AccessModes, a.AccessModes)
	} else {
		r.AccessModes = a.AccessModes // a set: another order or a repetition is no difference
	}
	for _, f := range []struct {
		name    string
		was, is any
	}{
		{"volumeMode", &r.VolumeMode, &a.VolumeMode},
		{"resources", &r.Resources, &a.Resources},
		{"volumeAttributesClassName", &r.VolumeAttributesClassName, &a.VolumeAttributesClassName},
		{"selector", &r.Selector, &a.Selector},
		{"dataSource", &r.DataSource, &a.DataSource},
		{"dataSourceRef", &r.DataSourceRef, &a.DataSourceRef},
	} {
		for _, d := range differences(specRoot.Child(f.name), f.was, f.is) {
			c.add(RuleClaim, d.at, f.name+" of the claim was changed", d.requested, d.admitted)
		}
	}
	if r.StorageClassName != nil {
		c.storageClass(requested, admitted)
	}
}

func sameModes(r, a []corev1.PersistentVolumeAccessMode) bool {
	set := func(modes []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
		modes = slices.Clone(modes)
		slices.Sort(modes)
		return slices.Compact(modes)
	}
	return slices.Equal(set(r), set(a))
}

// storageClass compares a class that was asked for. The annotation is the older way to ask, which still wins over the field.
func (c *collector) storageClass(requested, admitted *corev1.PersistentVolumeClaim) {
	class := *requested.Spec.StorageClassName
	if !equal(&requested.Spec.StorageClassName, &admitted.Spec.StorageClassName) {
		c.add(RuleClaim, specRoot.Child("storageClassName"), "the storage class was changed", class, admitted.Spec.StorageClassName)
	}
	const key = corev1.BetaStorageClassAnnotation
	was, had := requested.Annotations[key]
	is, has := admitted.Annotations[key]
	if has && is != class && (!had || was != is) {
		c.add(RuleClaim, metadataRoot.Child("annotations").Key(key),
			fmt.Sprintf("an annotation asks for storage class %q, past the requested %q", is, class), class, is)
	}
}
