package admission_test

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// tokenVolume is the volume that the ServiceAccount plugin adds, with a name that is never the same.
var tokenVolume = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)

// resources makes a list of one resource.
func resources(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}
