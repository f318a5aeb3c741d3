package podrules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of a Pod certificate's lifetime, in seconds.
const (
	minCertificateSeconds           = 60 * 60
	maxCertificateSeconds           = 91 * 24 * 60 * 60
	maxKubernetesCertificateSeconds = 24 * 60 * 60 // from a signer of Kubernetes itself
)

// maxSignerName is a domain, a slash and a path of a subdomain and a label.
const maxSignerName = 2*(validation.DNS1123SubdomainMaxLength+1) + validation.DNS1123LabelMaxLength

var certificateKeyTypes = []string{"ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"}

// trustBundle checks the certificates of one ClusterTrustBundle, or of all that a signer has.
func (pr *projection) trustBundle(p *field.Path, s *corev1.ClusterTrustBundleProjection) {
	switch {
	case s.Name != nil && s.SignerName != nil:
		pr.invalid(p, *s.Name, "only one of name and signerName may be used")
	case s.Name != nil:
		pr.bundleName(p.Child("name"), *s.Name)
		if s.LabelSelector != nil {
			pr.invalid(p.Child("labelSelector"), *s.Name, "labelSelector must be unset if name is specified")
		}
	case s.SignerName != nil:
		pr.signer(p.Child("signerName"), *s.SignerName)
		pr.add(metav1validation.ValidateLabelSelector(s.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, p.Child("labelSelector")))
	default:
		pr.required(p, "either name or signerName must be specified")
	}
	pr.needed(p, "path", s.Path)
	pr.localPath(p, "path", s.Path)
	if pr.paths.Has(s.Path) { // unlike every other path also when it is empty
		pr.invalid(pr.volume, s.Path, "conflicting duplicate paths")
	}
	pr.paths.Insert(s.Path)
}

// bundleName checks the name of a ClusterTrustBundle. That of a signer's starts with the signer's, colons for slashes.
func (pr *projection) bundleName(p *field.Path, name string) {
	if name == "" {
		pr.required(p, "must be a valid object name")
	}
	last := strings.LastIndexByte(name, ':')
	if last == 0 || last > 0 && strings.Contains(name[:last], "/") {
		pr.invalid(p, name, "must be a name, or a signer's name with a colon for its slash, a colon and a name")
		return
	}
	pr.invalidEach(p, name, apivalidation.NameIsDNSSubdomain(name[last+1:], false))
}

// signer checks the name of a signer: a domain of two labels or more, and a path.
func (pr *projection) signer(p *field.Path, name string) {
	domain, path, ok := strings.Cut(name, "/")
	switch {
	case name == "":
		pr.required(p, "")
		return
	case !ok || strings.Contains(path, "/"):
		pr.invalid(p, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		pr.tooLong(p, validation.DNS1123SubdomainMaxLength)
	}
	if strings.Count(domain, ".") == 0 {
		pr.invalid(p, domain, "should be a domain with at least two segments separated by dots")
	}
	pr.labelsOf(p, domain, validation.IsDNS1123Label)
	pr.labelsOf(p, path, validation.IsDNS1123Subdomain)
	if len(name) > maxSignerName {
		pr.tooLong(p, maxSignerName)
	}
}

// labelsOf reports the first label of a dotted name that is none.
func (pr *projection) labelsOf(p *field.Path, name string, check func(string) []string) {
	for label := range strings.SplitSeq(name, ".") {
		if messages := check(label); len(messages) > 0 {
			pr.invalidEach(p, name, messages)
			return
		}
	}
}

// certificate checks a certificate that the kubelet asks a signer for.
func (pr *projection) certificate(p *field.Path, s *corev1.PodCertificateProjection) {
	pr.signer(p.Child("signerName"), s.SignerName)
	for _, key := range slices.Sorted(maps.Keys(s.UserAnnotations)) {
		pr.add(validation.IsDomainPrefixedKey(p.Child("userAnnotations"), strings.ToLower(key)))
	}
	if apivalidation.ValidateAnnotationsSize(s.UserAnnotations) != nil {
		pr.tooLong(p.Child("userAnnotations"), apivalidation.TotalAnnotationSizeLimitB)
	}
	oneOf(pr.checker, p, "keyType", s.KeyType, certificateKeyTypes)
	pr.lifetime(p.Child("maxExpirationSeconds"), s)
	for _, file := range []struct{ name, path string }{
		{"credentialBundlePath", s.CredentialBundlePath}, {"keyPath", s.KeyPath}, {"certificateChainPath", s.CertificateChainPath},
	} {
		if file.path != "" {
			pr.localPath(p, file.name, file.path)
			pr.once(file.path, file.path)
		}
	}
	if s.CredentialBundlePath == "" && s.KeyPath == "" && s.CertificateChainPath == "" {
		pr.required(p, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}

func (pr *projection) lifetime(p *field.Path, s *corev1.PodCertificateProjection) {
	if s.MaxExpirationSeconds == nil {
		return
	}
	seconds, most := *s.MaxExpirationSeconds, int32(maxCertificateSeconds)
	if domain, _, _ := strings.Cut(s.SignerName, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		most = maxKubernetesCertificateSeconds
	}
	if seconds < minCertificateSeconds {
		pr.invalid(p, seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", minCertificateSeconds))
	}
	if seconds > most {
		pr.invalid(p, seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", most))
	}
}
