package podrules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file holds seccomp and AppArmor: the fields, the annotations that came before them, and that the
// two agree where both are set.

const (
	localhostPrefix = corev1.SeccompLocalhostProfileNamePrefix

	seccompPodAnnotation        = corev1.SeccompPodAnnotationKey
	seccompContainerAnnotations = corev1.SeccompContainerAnnotationKeyPrefix
	appArmorAnnotations         = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix

	// maxAppArmorProfile is the longest path on Linux (PATH_MAX) without its terminator.
	maxAppArmorProfile = 4095
)

var (
	seccompTypes = []corev1.SeccompProfileType{
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined,
	}
	appArmorTypes = []corev1.AppArmorProfileType{
		corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined,
	}
)

// seccomp checks the seccompProfile of the security context at p.
func (c *checker) seccomp(p *field.Path, profile *corev1.SeccompProfile) {
	if profile == nil {
		return
	}
	p = p.Child("seccompProfile")
	if profile.Type == "" {
		c.required(p.Child("type"), "type is required when seccompProfile is set")
	} else {
		oneOf(c, p, "type", profile.Type, seccompTypes)
	}
	local := profile.Type == corev1.SeccompProfileTypeLocalhost
	switch {
	case local && profile.LocalhostProfile == nil:
		c.required(p.Child("localhostProfile"), "must be set when seccomp type is Localhost")
	case local:
		c.relativePath(p, "localhostProfile", *profile.LocalhostProfile)
	case profile.LocalhostProfile != nil:
		c.invalid(p.Child("localhostProfile"), *profile.LocalhostProfile, "can only be set when seccomp type is Localhost")
	}
}

// appArmor checks the appArmorProfile of the security context at p.
func (c *checker) appArmor(p *field.Path, profile *corev1.AppArmorProfile) {
	if profile == nil {
		return
	}
	p = p.Child("appArmorProfile")
	switch profile.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		c.appArmorLocalhost(p.Child("localhostProfile"), profile.LocalhostProfile)
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if profile.LocalhostProfile != nil {
			c.invalid(p.Child("localhostProfile"), *profile.LocalhostProfile, "can only be set when AppArmor type is Localhost")
		}
	case "":
		c.required(p.Child("type"), "type is required when appArmorProfile is set")
	default:
		oneOf(c, p, "type", profile.Type, appArmorTypes)
	}
}

func (c *checker) appArmorLocalhost(p *field.Path, profile *string) {
	if profile == nil || *profile == "" {
		c.required(p, "must be set when AppArmor type is Localhost")
		return
	}
	if strings.TrimSpace(*profile) != *profile {
		c.invalid(p, *profile, "must not be padded with whitespace")
	}
	if len(*profile) > maxAppArmorProfile {
		c.tooLong(p, maxAppArmorProfile)
	}
}

func (c *checker) seccompAnnotations(p *field.Path, annotations map[string]string) {
	start := len(c.errs)
	for k, v := range annotations {
		if k == seccompPodAnnotation || strings.HasPrefix(k, seccompContainerAnnotations) {
			c.seccompAnnotation(p, k, v)
		}
	}
	c.sortFrom(start)
}

func (c *checker) seccompAnnotation(p *field.Path, key, value string) {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault, corev1.SeccompProfileNameUnconfined:
		return
	}
	if profile, ok := strings.CutPrefix(value, localhostPrefix); ok {
		c.relativePath(p, key, profile)
		return
	}
	c.invalid(p.Child(key), value, "must be a valid seccomp profile")
}

func (c *checker) appArmorAnnotations(p *field.Path, annotations map[string]string) {
	start := len(c.errs)
	for k, v := range annotations {
		container, ok := strings.CutPrefix(k, appArmorAnnotations)
		if !ok {
			continue
		}
		if !c.hasContainer(container) {
			c.invalid(p.Key(k), container, "container not found")
		}
		if !isAppArmorAnnotation(v) {
			c.invalid(p.Key(k), v, fmt.Sprintf("invalid AppArmor profile name: %q", v))
		}
	}
	c.sortFrom(start)
}

func (c *checker) hasContainer(name string) bool {
	named := func(ctr corev1.Container) bool { return ctr.Name == name }
	return slices.ContainsFunc(c.spec.InitContainers, named) || slices.ContainsFunc(c.spec.Containers, named)
}

func isAppArmorAnnotation(v string) bool {
	return v == "" || v == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
		v == corev1.DeprecatedAppArmorBetaProfileNameUnconfined || strings.HasPrefix(v, localhostPrefix)
}

// profilesAgree reports seccomp and AppArmor fields that say something else than the annotation beside
// them.
func (c *checker) profilesAgree(spec *field.Path) {
	annotations := c.meta.Annotations
	if len(annotations) == 0 {
		return
	}
	var pod corev1.PodSecurityContext
	if c.spec.SecurityContext != nil {
		pod = *c.spec.SecurityContext
	}
	if v, ok := annotations[seccompPodAnnotation]; ok {
		c.seccompAgrees(spec.Child("securityContext"), pod.SeccompProfile, v)
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		if v, ok := annotations[seccompContainerAnnotations+ctr.Name]; ok && ctr.SecurityContext != nil {
			c.seccompAgrees(at.path().Child("securityContext"), ctr.SecurityContext.SeccompProfile, v)
		}
	})
	if isWindows(c.spec) {
		return
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		if v, ok := annotations[appArmorAnnotations+ctr.Name]; ok {
			c.appArmorAgrees(at.path().Child("securityContext"), appArmorOf(ctr, pod.AppArmorProfile, v), v)
		}
	})
}

func (c *checker) seccompAgrees(p *field.Path, profile *corev1.SeccompProfile, annotation string) {
	if profile == nil {
		return
	}
	p = p.Child("seccompProfile")
	want := true
	switch profile.Type {
	case corev1.SeccompProfileTypeUnconfined:
		want = annotation == corev1.SeccompProfileNameUnconfined
	case corev1.SeccompProfileTypeRuntimeDefault:
		want = annotation == corev1.SeccompProfileRuntimeDefault || annotation == corev1.DeprecatedSeccompProfileDockerDefault
	case corev1.SeccompProfileTypeLocalhost:
		c.localhostAgrees(p, "seccomp", profile.LocalhostProfile, annotation)
	}
	if !want {
		c.forbidden(p.Child("type"), "seccomp type in annotation and field must match")
	}
}

func (c *checker) appArmorAgrees(p *field.Path, profile *corev1.AppArmorProfile, annotation string) {
	if profile == nil {
		return
	}
	p = p.Child("appArmorProfile")
	want := true
	switch profile.Type {
	case corev1.AppArmorProfileTypeUnconfined:
		want = annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
	case corev1.AppArmorProfileTypeRuntimeDefault:
		want = annotation == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault
	case corev1.AppArmorProfileTypeLocalhost:
		c.localhostAgrees(p, "apparmor", profile.LocalhostProfile, annotation)
	}
	if !want {
		c.forbidden(p.Child("type"), "apparmor type in annotation and field must match")
	}
}

// localhostAgrees compares a profile of type Localhost with its annotation.
func (c *checker) localhostAgrees(p *field.Path, kind string, profile *string, annotation string) {
	name, ok := strings.CutPrefix(annotation, localhostPrefix)
	switch {
	case !ok:
		c.forbidden(p.Child("type"), kind+" type in annotation and field must match")
	case profile == nil || name != *profile:
		c.forbidden(p.Child("localhostProfile"), kind+" profile in annotation and field must match")
	}
}

// appArmorOf returns the profile that the server compares with the annotation. It copies a valid
// annotation into a container that has no profile of its own, so that only an annotation it cannot read
// meets the profile of the Pod.
func appArmorOf(ctr *corev1.Container, pod *corev1.AppArmorProfile, annotation string) *corev1.AppArmorProfile {
	if ctr.SecurityContext != nil && ctr.SecurityContext.AppArmorProfile != nil {
		return ctr.SecurityContext.AppArmorProfile
	}
	if isCopiedToField(annotation) {
		return nil
	}
	return pod
}

func isCopiedToField(annotation string) bool {
	if annotation == "" || !isAppArmorAnnotation(annotation) {
		return false
	}
	name, ok := strings.CutPrefix(annotation, localhostPrefix)
	return !ok || name != "" && strings.TrimSpace(name) == name && len(name) <= maxAppArmorProfile
}
