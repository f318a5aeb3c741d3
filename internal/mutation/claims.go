package mutation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimOperators changes a managed claim.
func claimOperators() []ClaimOperator {
	spec := func(name, field string, kind Kind, f func(*corev1.PersistentVolumeClaimSpec)) ClaimOperator {
		return ClaimOperator{Name: name, Kind: kind, Field: field, Apply: func(_ *rand.Rand, c *corev1.PersistentVolumeClaim) { f(&c.Spec) }}
	}
	named := func(c *corev1.PersistentVolumeClaim) bool { return c.Spec.StorageClassName != nil }
	return []ClaimOperator{
		spec("claim-access-mode", "spec.accessModes", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		}),
		spec("claim-access-mode-added", "spec.accessModes", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = append(append([]corev1.PersistentVolumeAccessMode{}, s.AccessModes...), corev1.ReadOnlyMany)
		}),
		spec("claim-block", "spec.volumeMode", Tamper, func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeMode = new(corev1.PersistentVolumeBlock) }),
		spec("claim-size", "spec.resources.requests[storage]", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
		}),
		spec("claim-limit", "spec.resources.limits[storage]", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.Resources.Limits = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ti")}
		}),
		spec("claim-class", "spec.storageClassName", Tamper, func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = new("slow") }).when(named),
		spec("claim-class-dropped", "spec.storageClassName", Tamper, func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = nil }).when(named),
		{
			Name: "claim-class-annotation", Kind: Tamper, Field: "metadata.annotations[" + corev1.BetaStorageClassAnnotation + "]", Needs: named,
			Apply: func(_ *rand.Rand, c *corev1.PersistentVolumeClaim) {
				annotate(c, func(m map[string]string) { m[corev1.BetaStorageClassAnnotation] = "slow" })
			},
		},
		spec("claim-attributes-class", "spec.volumeAttributesClassName", Tamper, func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeAttributesClassName = new("gold") }),
		spec("claim-selector", "spec.selector", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "someone-elses"}}
		}),
		spec("claim-data-source", "spec.dataSource", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "someone-elses"}
		}),
		spec("claim-data-source-ref", "spec.dataSourceRef", Tamper, func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "x", Namespace: new("elsewhere")}
		}).refused(),
		spec("claim-default-class", "", Neutral, func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = new("standard") }).
			when(func(c *corev1.PersistentVolumeClaim) bool { return c.Spec.StorageClassName == nil }),
		spec("claim-bound", "", Neutral, func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeName = "pvc-0001" }),
		{Name: "claim-protection", Kind: Neutral, Apply: func(_ *rand.Rand, c *corev1.PersistentVolumeClaim) {
			c.Finalizers = []string{"kubernetes.io/pvc-protection"}
			annotate(c, func(m map[string]string) { m["pv.kubernetes.io/bind-completed"] = "yes" })
		}},
		spec("claim-defaults", "", Silent, func(s *corev1.PersistentVolumeClaimSpec) {
			s.VolumeMode = new(corev1.PersistentVolumeFilesystem)
			rewriteQuantities(s.Resources.Requests)
		}),
		spec("claim-modes-repeated", "", Silent, func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = append(append([]corev1.PersistentVolumeAccessMode{}, s.AccessModes...), s.AccessModes...)
		}),
		{Name: "claim-status", Kind: Silent, Refused: true, Apply: func(_ *rand.Rand, c *corev1.PersistentVolumeClaim) {
			c.UID, c.ResourceVersion, c.Status.Phase = "9a1f", "12", corev1.ClaimPending
		}},
	}
}
