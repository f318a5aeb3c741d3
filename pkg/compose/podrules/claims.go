package podrules

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	accessModes = []corev1.PersistentVolumeAccessMode{
		corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod,
	}
	volumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
)

// ephemeral checks a volume for which a claim of its own is made.
func (c *checker) ephemeral(p *field.Path, v *corev1.EphemeralVolumeSource) {
	if v.VolumeClaimTemplate == nil {
		c.required(p.Child("volumeClaimTemplate"), "")
		return
	}
	p = p.Child("volumeClaimTemplate")
	c.claimMeta(p.Child("metadata"), &v.VolumeClaimTemplate.ObjectMeta)
	c.claimSpec(p.Child("spec"), &v.VolumeClaimTemplate.Spec)
}

// claimMeta allows labels and annotations, and nothing else. The server names the other fields after
// those of the Go type, hence uID.
func (c *checker) claimMeta(p *field.Path, m *metav1.ObjectMeta) {
	c.annotations(p.Child("annotations"), m.Annotations, nil)
	c.labels(p.Child("labels"), m.Labels)
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", m.Name != ""},
		{"generateName", m.GenerateName != ""},
		{"namespace", m.Namespace != ""},
		{"selfLink", m.SelfLink != ""}, //nolint:staticcheck // deprecated, yet still refused
		{"uID", m.UID != ""},
		{"resourceVersion", m.ResourceVersion != ""},
		{"generation", m.Generation != 0},
		{"creationTimestamp", !m.CreationTimestamp.IsZero()},
		{"deletionTimestamp", m.DeletionTimestamp != nil},
		{"deletionGracePeriodSeconds", m.DeletionGracePeriodSeconds != nil},
		{"ownerReferences", m.OwnerReferences != nil},
		{"finalizers", m.Finalizers != nil},
		{"managedFields", m.ManagedFields != nil},
	} {
		if f.set {
			c.forbidden(p.Child(f.name), "cannot be set")
		}
	}
}

func (c *checker) claimSpec(p *field.Path, s *corev1.PersistentVolumeClaimSpec) {
	c.accessModes(p, s.AccessModes)
	c.add(metav1validation.ValidateLabelSelector(s.Selector, metav1validation.LabelSelectorValidationOptions{}, p.Child("selector")))
	c.storageRequest(p.Child("resources").Key(string(corev1.ResourceStorage)), s.Resources.Requests)
	if s.StorageClassName != nil {
		c.dnsSubdomainIfSet(p, "storageClassName", *s.StorageClassName)
	}
	oneOfIfSet(c, p, "volumeMode", s.VolumeMode, volumeModes)
	c.dataSources(p, s)
	if s.VolumeAttributesClassName != nil {
		c.dnsSubdomainIfSet(p, "volumeAttributesClassName", *s.VolumeAttributesClassName)
	}
}

func (c *checker) accessModes(p *field.Path, modes []corev1.PersistentVolumeAccessMode) {
	if len(modes) == 0 {
		c.required(p.Child("accessModes"), "at least 1 access mode is required")
	}
	exclusive, shared := false, false
	for _, mode := range modes {
		oneOf(c, p, "accessModes", mode, accessModes)
		exclusive = exclusive || mode == corev1.ReadWriteOncePod
		shared = shared || mode != corev1.ReadWriteOncePod && slices.Contains(accessModes, mode)
	}
	if exclusive && shared {
		c.forbidden(p.Child("accessModes"), "may not use ReadWriteOncePod with other access modes")
	}
}

func (c *checker) storageRequest(p *field.Path, requests corev1.ResourceList) {
	q, ok := requests[corev1.ResourceStorage]
	switch {
	case !ok:
		c.required(p, "")
	case q.Sign() <= 0:
		c.invalid(p, q.String(), "must be greater than zero")
	}
}

// dataSources checks where the claim's content comes from. Two references have to agree, and one into
// another namespace stands alone.
func (c *checker) dataSources(p *field.Path, s *corev1.PersistentVolumeClaimSpec) {
	source, ref := s.DataSource, s.DataSourceRef
	if source != nil {
		c.dataSource(p.Child("dataSource"), source)
	}
	if ref == nil {
		return
	}
	local := &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	c.dataSource(p.Child("dataSourceRef"), local)
	foreign := ref.Namespace != nil && *ref.Namespace != ""
	if foreign {
		c.dnsLabel(p.Child("dataSourceRef"), "namespace", *ref.Namespace)
	}
	switch {
	case source == nil:
	case foreign:
		c.invalid(p, p.Child("dataSource").String(), "may not be specified when dataSourceRef.namespace is specified")
	case !reflect.DeepEqual(source, local):
		c.invalid(p, p.Child("dataSource").String(), "must match dataSourceRef")
	}
}

func (c *checker) dataSource(p *field.Path, ref *corev1.TypedLocalObjectReference) {
	c.needed(p, "name", ref.Name)
	c.needed(p, "kind", ref.Kind)
	if ref.APIGroup != nil && *ref.APIGroup != "" {
		c.dnsSubdomain(p, "apiGroup", *ref.APIGroup)
	} else if ref.Kind != "PersistentVolumeClaim" {
		c.invalid(p, ref.Kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
}
