package podrules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of a service account token, in seconds.
const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

// projection checks a projected volume, in which no two files may have one path.
type projection struct {
	*checker
	volume *field.Path
	paths  sets.Set[string]
}

// projected checks the sources that the server keeps.
func (c *checker) projected(p *field.Path, v *corev1.ProjectedVolumeSource) {
	c.fileMode(p, "defaultMode", v.DefaultMode)
	pr := &projection{checker: c, volume: p, paths: sets.Set[string]{}}
	for i := range v.Sources {
		pr.source(p.Child("sources").Index(i), &v.Sources[i])
	}
}

func (pr *projection) source(p *field.Path, s *corev1.VolumeProjection) {
	sources := 0
	if s.Secret != nil {
		sources++
		pr.keys(p.Child("secret"), s.Secret.Name, s.Secret.Items)
	}
	if s.ConfigMap != nil {
		sources++
		pr.keys(p.Child("configMap"), s.ConfigMap.Name, s.ConfigMap.Items)
	}
	if s.DownwardAPI != nil {
		sources++
		for i := range s.DownwardAPI.Items {
			file := &s.DownwardAPI.Items[i]
			pr.downwardFile(p.Child("downwardAPI"), file)
			pr.once(file.Path, file.Path)
		}
	}
	if s.ServiceAccountToken != nil {
		sources++
		pr.token(p.Child("serviceAccountToken"), s.ServiceAccountToken)
	}
	if s.ClusterTrustBundle != nil && pr.since(clusterTrustBundles) {
		sources++
		pr.trustBundle(p.Child("clusterTrustBundle"), s.ClusterTrustBundle)
	}
	if s.PodCertificate != nil && pr.since(podCertificates) {
		sources++
		pr.certificate(p.Child("podCertificate"), s.PodCertificate)
	}
	if sources > 1 {
		pr.forbidden(p, "may not specify more than 1 volume type per source")
	}
}

func (pr *projection) keys(p *field.Path, name string, items []corev1.KeyToPath) {
	pr.needed(p, "name", name)
	for i := range items {
		pr.keyToPath(p.Child("items").Index(i), &items[i])
		pr.once(items[i].Path, name)
	}
}

// once reports a second file at a path, with the value that the server shows.
func (pr *projection) once(path, shown string) {
	if path == "" {
		return
	}
	if pr.paths.Has(path) {
		pr.invalid(pr.volume, shown, "conflicting duplicate paths")
	}
	pr.paths.Insert(path)
}

func (pr *projection) token(p *field.Path, t *corev1.ServiceAccountTokenProjection) {
	if s := t.ExpirationSeconds; s != nil && *s < minTokenSeconds {
		pr.invalid(p.Child("expirationSeconds"), *s, "may not specify a duration less than 10 minutes")
	} else if s != nil && *s > maxTokenSeconds {
		pr.invalid(p.Child("expirationSeconds"), *s, "may not specify a duration larger than 2^32 seconds")
	}
	pr.needed(pr.volume, "path", t.Path)
	pr.localPath(pr.volume, "path", t.Path)
}
