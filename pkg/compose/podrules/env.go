package podrules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	// downwardFields are the field paths that the server knows at all. It reads spec.host as
	// spec.nodeName.
	downwardFields = []string{
		"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
		"spec.host", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.phase", "status.podIP", "status.podIPs",
	}
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	volumeFields = []string{
		"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
	}
	containerResources = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
	cpuDivisors  = []string{"1m", "1"}
	byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

func (c *checker) env(ctr *field.Path, vars []corev1.EnvVar) {
	for i := range vars {
		v := &vars[i]
		if v.Name == "" {
			c.required(ctr.Child("env").Index(i).Child("name"), "")
		} else if msgs := validation.IsRelaxedEnvVarName(v.Name); len(msgs) > 0 {
			c.invalidEach(ctr.Child("env").Index(i).Child("name"), v.Name, msgs)
		}
		if v.ValueFrom != nil {
			c.envSource(ctr.Child("env").Index(i).Child("valueFrom"), v)
		}
	}
}

func (c *checker) envSource(p *field.Path, v *corev1.EnvVar) {
	sources, from := 0, v.ValueFrom
	if from.FieldRef != nil {
		sources++
		c.fieldRef(p.Child("fieldRef"), from.FieldRef, envFields)
	}
	if from.ResourceFieldRef != nil {
		sources++
		c.resourceFieldRef(p.Child("resourceFieldRef"), from.ResourceFieldRef)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		sources++
		c.keyRef(p.Child("configMapKeyRef"), ref.Name, ref.Key)
	}
	if ref := from.SecretKeyRef; ref != nil {
		sources++
		c.keyRef(p.Child("secretKeyRef"), ref.Name, ref.Key)
	}
	if from.FileKeyRef != nil && c.since(envFiles) {
		sources++
		c.fileKeyRef(p.Child("fileKeyRef"), from.FileKeyRef)
	}
	switch {
	case sources == 0:
		c.invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case v.Value != "":
		c.invalid(p, "", "may not be specified when `value` is not empty")
	case sources > 1:
		c.invalid(p, "", "may not have more than one field specified at a time")
	}
}

func (c *checker) keyRef(p *field.Path, name, key string) {
	c.dnsSubdomain(p, "name", name)
	if key == "" {
		c.required(p.Child("key"), "")
		return
	}
	if msgs := validation.IsConfigMapKey(key); len(msgs) > 0 {
		c.invalidEach(p.Child("key"), key, msgs)
	}
}

func (c *checker) fileKeyRef(p *field.Path, ref *corev1.FileKeySelector) {
	if ref.Key == "" {
		c.required(p.Child("key"), "")
	} else {
		c.invalidEach(p.Child("key"), ref.Key, validation.IsRelaxedEnvVarName(ref.Key))
	}
	c.needed(p, "volumeName", ref.VolumeName)
	c.dnsLabelIfSet(p, "volumeName", ref.VolumeName)
	c.needed(p, "path", ref.Path)
	c.noBacksteps(p, "path", ref.Path)
}

// fileKeyVolumes reports file keys in volumes that are absent or no emptyDir.
func (c *checker) fileKeyVolumes(spec *field.Path) {
	if !c.since(envFiles) {
		return
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		for i := range ctr.Env {
			if from := ctr.Env[i].ValueFrom; from != nil && from.FileKeyRef != nil {
				c.fileKeyVolume(at.path().Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), from.FileKeyRef.VolumeName)
			}
		}
	})
}

func (c *checker) fileKeyVolume(p *field.Path, name string) {
	// Of several volumes of one name the server takes the last.
	for i := len(c.spec.Volumes) - 1; i >= 0; i-- {
		if v := &c.spec.Volumes[i]; v.Name == name {
			if v.EmptyDir == nil && v.VolumeSource != (corev1.VolumeSource{}) {
				c.invalid(p, name, "referenced volume must be of type emptyDir")
			}
			return
		}
	}
	if !slices.Contains(c.options.KnownVolumes, name) {
		c.notFound(p, name, noVolume)
	}
}

// fieldRef checks a reference to a field of the Pod; fields are those that may be named here.
func (c *checker) fieldRef(p *field.Path, ref *corev1.ObjectFieldSelector, fields []string) {
	if ref.FieldPath == "" {
		c.required(p.Child("fieldPath"), "")
		return
	}
	if ref.APIVersion != "" && ref.APIVersion != "v1" {
		c.invalid(p.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: unsupported pod version: "+ref.APIVersion)
		return
	}
	if path, key, ok := cutSubscript(ref.FieldPath); ok {
		c.subscript(p, ref.FieldPath, path, key)
		return
	}
	path := ref.FieldPath
	switch {
	case !slices.Contains(downwardFields, path):
		c.invalid(p.Child("fieldPath"), path, "error converting fieldPath: field label not supported: "+path)
		return
	case path == "spec.host":
		path = "spec.nodeName"
	}
	oneOf(c, p, "fieldPath", path, fields)
}

func (c *checker) subscript(p *field.Path, whole, path, key string) {
	switch path {
	case "metadata.annotations":
		c.qualifiedName(p, strings.ToLower(key))
	case "metadata.labels":
		c.qualifiedName(p, key)
	default:
		c.invalid(p.Child("fieldPath"), whole, "error converting fieldPath: field label does not support subscript: "+whole)
	}
}

// cutSubscript splits metadata.labels['key'] into metadata.labels and key.
func cutSubscript(s string) (path, key string, ok bool) {
	s, ok = strings.CutSuffix(s, "']")
	if !ok {
		return "", "", false
	}
	path, key, ok = strings.Cut(s, "['")
	return path, key, ok && path != ""
}

func (c *checker) resourceFieldRef(p *field.Path, ref *corev1.ResourceFieldSelector) {
	switch {
	case ref.Resource == "":
		c.required(p.Child("resource"), "")
	case !isHugePageField(ref.Resource):
		oneOf(c, p, "resource", ref.Resource, containerResources)
	}
	c.divisor(p, ref)
}

// volumeResourceFieldRef is resourceFieldRef in a volume, where the container has to be named.
func (c *checker) volumeResourceFieldRef(p *field.Path, ref *corev1.ResourceFieldSelector) {
	if ref.ContainerName == "" {
		c.required(p.Child("containerName"), "")
		c.divisor(p, ref)
		return
	}
	c.resourceFieldRef(p, ref)
}

func isHugePageField(s string) bool {
	return strings.HasPrefix(s, "requests.hugepages-") || strings.HasPrefix(s, "limits.hugepages-")
}

func (c *checker) divisor(p *field.Path, ref *corev1.ResourceFieldSelector) {
	// A quantity remembers how it is written once asked, so the template's own is not asked.
	divisor := ref.Divisor
	if divisor.IsZero() {
		return
	}
	valid := byteDivisors
	var kind string
	switch _, name, _ := strings.Cut(ref.Resource, "."); {
	case isHugePageField(ref.Resource):
		kind = "hugepages"
	case !slices.Contains(containerResources, ref.Resource):
		return
	case name == "cpu":
		valid, kind = cpuDivisors, "cpu"
	case name == "memory":
		kind = "memory"
	default:
		kind = "local ephemeral storage"
	}
	if !slices.Contains(valid, divisor.String()) {
		c.invalid(p.Child("divisor"), ref.Resource,
			fmt.Sprintf("only divisor's values %s are supported with the %s resource", strings.Join(valid, ", "), kind))
	}
}

func (c *checker) envFrom(ctr *field.Path, sources []corev1.EnvFromSource) {
	for i := range sources {
		p, s := ctr.Child("envFrom"), &sources[i]
		if s.Prefix != "" {
			if msgs := validation.IsRelaxedEnvVarName(s.Prefix); len(msgs) > 0 {
				c.invalidEach(p.Index(i).Child("prefix"), s.Prefix, msgs)
			}
		}
		if s.ConfigMapRef != nil {
			c.envFromName(p.Index(i).Child("configMapRef"), s.ConfigMapRef.Name)
		}
		if s.SecretRef != nil {
			c.envFromName(p.Index(i).Child("secretRef"), s.SecretRef.Name)
		}
		switch {
		case s.ConfigMapRef == nil && s.SecretRef == nil:
			c.invalid(p, "", "must specify one of: `configMapRef` or `secretRef`")
		case s.ConfigMapRef != nil && s.SecretRef != nil:
			c.invalid(p, "", "may not have more than one field specified at a time")
		}
	}
}

func (c *checker) envFromName(p *field.Path, name string) {
	if name == "" {
		c.required(p.Child("name"), "")
		return
	}
	c.dnsSubdomainPrefix(p, "name", name)
}
