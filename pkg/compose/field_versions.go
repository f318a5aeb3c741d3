package compose

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// fieldsSince lists the fields of a PodTemplate that are younger than podrules.OldestMinor, each with the first
// Kubernetes minor whose API server knows it. test/admission holds it against the OpenAPI documents of real ones.
var fieldsSince = map[reflect.Type]map[string]int{
	reflect.TypeFor[corev1.ClusterTrustBundleProjection]():  {"user": 37},
	reflect.TypeFor[corev1.ConfigMapVolumeSource]():         {"defaultUser": 37},
	reflect.TypeFor[corev1.DownwardAPIVolumeFile]():         {"user": 37},
	reflect.TypeFor[corev1.DownwardAPIVolumeSource]():       {"defaultUser": 37},
	reflect.TypeFor[corev1.EmptyDirVolumeSource]():          {"mode": 37},
	reflect.TypeFor[corev1.GRPCAction]():                    {"mode": 37},
	reflect.TypeFor[corev1.HTTPGetAction]():                 {"protocol": 37},
	reflect.TypeFor[corev1.KeyToPath]():                     {"user": 37},
	reflect.TypeFor[corev1.PodCertificateProjection]():      {"user": 37, "userAnnotations": 35},
	reflect.TypeFor[corev1.PodSpec]():                       {"evictionResponders": 37, "schedulingGroup": 36},
	reflect.TypeFor[corev1.ProjectedVolumeSource]():         {"defaultUser": 37},
	reflect.TypeFor[corev1.SecretVolumeSource]():            {"defaultUser": 37},
	reflect.TypeFor[corev1.ServiceAccountTokenProjection](): {"user": 37},
	reflect.TypeFor[corev1.VolumeMount]():                   {"bindMountOptions": 37},
}

// FieldSince returns the first Kubernetes minor whose API server knows a field of an API type, by its JSON name. Every
// field that the type has and the list of younger ones has not is podrules.OldestMinor's.
func FieldSince(typ reflect.Type, name string) int {
	return max(fieldsSince[typ][name], podrules.OldestMinor)
}
