package compose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

// PlaceholderDigest marks an image whose digest is still to be found out: NAME@sha256:unresolved. No registry has such a
// digest, since the digits of one are hexadecimal, and no node can pull it. A template with a placeholder can be linted and
// looked at; nothing composes it for a create request.
const PlaceholderDigest = "sha256:unresolved"

// IsPlaceholder reports whether an image's digest is the placeholder.
func IsPlaceholder(image string) bool { return strings.HasSuffix(image, "@"+PlaceholderDigest) }

// ImageReference is what an image's name says beside where the image is kept.
type ImageReference struct {
	Tag    string // "" where there is none, which a node reads as latest
	Digest string // such as "sha256:" and 64 hex digits, "" where there is none
}

// imageReference is the grammar of an image's name (github.com/distribution/reference).
var imageReference = lazyregexp.New(`^(?:(?:[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*)(?:\.[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*)*(?::[0-9]+)?/)?` +
	`[a-z0-9]+(?:(?:[._/]|__|-+)[a-z0-9]+)*(?::(\w[\w.-]{0,127}))?(?:@(sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})))?$`)

// ParseImage reads an image's name. The API server takes any text; what is no reference here, no node can pull.
func ParseImage(image string) (ref ImageReference, ok bool) {
	m := imageReference().FindStringSubmatch(image)
	if m == nil {
		return ImageReference{}, false
	}
	return ImageReference{Tag: m[1], Digest: m[2]}, true
}

// imageAt is one image that a template names.
type imageAt struct {
	name      string
	what      string // whose it is, in a sentence
	container string // "" for a volume's
	at        *field.Path
}

// images lists the images of a template's containers and volumes.
func images(t *corev1.PodTemplateSpec, p Profile) []imageAt {
	var out []imageAt
	(&validator{profile: p}).eachContainer(&t.Spec, func(c *containerAt) {
		out = append(out, imageAt{c.Image, c.what(), c.Name, c.at.Child("image")})
	})
	at := templateRoot.Child("spec", "volumes")
	for i, v := range t.Spec.Volumes {
		if v.Image != nil {
			out = append(out, imageAt{v.Image.Reference, fmt.Sprintf("volume %q", v.Name), "", at.Index(i).Child("image", "reference")})
		}
	}
	return out
}

// fault returns what keeps the image from being deployed as it is written, if anything does.
func (i *imageAt) fault() (v Violation, found bool) {
	is := func(rule, what, remedy string) (Violation, bool) {
		return violation(rule, i.at, i.container, fmt.Sprintf("%s has the image %s, which %s", i.what, i.name, what), remedy), true
	}
	ref, ok := ParseImage(i.name)
	switch {
	case IsPlaceholder(i.name):
		return is(RuleImagePlaceholder, "has a placeholder for its digest", "write the digest that the registry gives for the image in place of "+PlaceholderDigest)
	case i.name == "" || ref.Digest != "":
		return Violation{}, false
	case !ok:
		return is(RuleImageMutable, "is no reference to an image", "write NAME:TAG@sha256:DIGEST")
	}
	return is(RuleImageMutable, "names no digest", "add the image's digest: NAME:TAG@sha256:DIGEST")
}

// Deployable returns what keeps a template's images from being deployed as they are written: a placeholder for a digest,
// and a reference for which the registry can give another image tomorrow.
func Deployable(t *corev1.PodTemplateSpec, p Profile) []Violation {
	var out []Violation
	for _, image := range images(t, p.WithDefaults()) {
		if v, found := image.fault(); found {
			out = append(out, v)
		}
	}
	return out
}

// placeholders finds the images whose digest is still to be found out.
func placeholders(t *corev1.PodTemplateSpec, p Profile) []Violation {
	return slices.DeleteFunc(Deployable(t, p), func(v Violation) bool { return v.Rule != RuleImagePlaceholder })
}
