package podrules

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// droppedAnnotations are what init containers were written in before they had a field. The server
// removes them before it looks at the rest.
var droppedAnnotations = map[string]bool{
	"pod.beta.kubernetes.io/init-containers":          true,
	"pod.alpha.kubernetes.io/init-containers":         true,
	"pod.beta.kubernetes.io/init-container-statuses":  true,
	"pod.alpha.kubernetes.io/init-container-statuses": true,
}

func (c *checker) metadata(p *field.Path) {
	c.labels(p.Child("labels"), c.meta.Labels)
	c.annotations(p.Child("annotations"), c.meta.Annotations, droppedAnnotations)
	if len(c.meta.Annotations) > 0 {
		c.podAnnotations(p.Child("annotations"), c.meta.Annotations)
	}
}

// labels reports keys and values that labels may not have, all at p as the server does.
func (c *checker) labels(p *field.Path, labels map[string]string) {
	start := len(c.errs)
	for k, v := range labels {
		c.qualifiedName(p, k)
		if !isLabelValue(v) {
			c.invalidEach(p, v, validation.IsValidLabelValue(v))
		}
	}
	c.sortFrom(start)
}

// annotations reports keys that annotations may not have, and too many bytes in all, without those that
// are dropped. The case of a key does not matter.
func (c *checker) annotations(p *field.Path, annotations map[string]string, dropped map[string]bool) {
	start, size := len(c.errs), 0
	for k, v := range annotations {
		if dropped[k] {
			continue
		}
		size += len(k) + len(v)
		if !isQualifiedName(k) {
			c.invalidEach(p, k, validation.IsQualifiedName(strings.ToLower(k)))
		}
	}
	c.sortFrom(start)
	if size > apivalidation.TotalAnnotationSizeLimitB {
		c.tooLong(p, apivalidation.TotalAnnotationSizeLimitB)
	}
}

// podAnnotations checks the annotations to which Pods give a meaning.
func (c *checker) podAnnotations(p *field.Path, annotations map[string]string) {
	if v, ok := annotations[corev1.MirrorPodAnnotationKey]; ok && c.spec.NodeName == "" {
		c.invalid(p.Key(corev1.MirrorPodAnnotationKey), v, "must set spec.nodeName if mirror pod annotation is set")
	}
	if v := annotations[corev1.TolerationsAnnotationKey]; v != "" {
		c.tolerationsAnnotation(p, v)
	}
	if v, ok := annotations[corev1.PodDeletionCost]; ok && !isDeletionCost(v) {
		c.invalid(p.Key(corev1.PodDeletionCost), v, "must be a 32bit integer")
	}
	c.seccompAnnotations(p, annotations)
	c.appArmorAnnotations(p, annotations)
}

func (c *checker) tolerationsAnnotation(p *field.Path, value string) {
	var tolerations []corev1.Toleration
	if err := json.Unmarshal([]byte(value), &tolerations); err != nil {
		c.invalid(p, corev1.TolerationsAnnotationKey, err.Error())
		return
	}
	c.tolerations(p.Child(corev1.TolerationsAnnotationKey), tolerations)
}

// isDeletionCost holds for a 32-bit integer written without a plus sign or leading zeros.
func isDeletionCost(s string) bool {
	if s == "" || s[0] == '+' || s[0] == '0' && s != "0" {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 32)
	return err == nil
}
