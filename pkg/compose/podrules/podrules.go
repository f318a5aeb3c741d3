// Package podrules says what a kube-apiserver would refuse in a Pod, as far as that is known without a
// cluster.
//
// The rules are those that a Kubernetes minor of Options applies when a Pod is created, with its feature gates at
// their defaults and after its own defaulting. Each error carries the type and the field path that the
// API server would report, even where that path is not one of the document (the server names
// volumeMounts.subPath without the index of the mount, for example).
//
// What a server decides from its own state or configuration is left out: admission plugins, quotas,
// whether privileged containers are allowed, whether a named object exists. So is strict decoding.
package podrules

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Options says what the Pod will have that its template does not.
type Options struct {
	// KnownVolumes names volumes that exist though the template does not define them. Mounts,
	// devices and file keys may refer to them; nothing is assumed about their sources.
	KnownVolumes []string
	// KnownLabels are labels that the Pod will carry besides those of the template. They matter to
	// matchLabelKeys and mismatchLabelKeys, which the API server resolves against the Pod's labels.
	KnownLabels map[string]string
	// Minor is the Kubernetes minor whose rules apply, 36 for 1.36. 0 is NewestMinor, and one before OldestMinor has
	// the rules of that.
	Minor int
}

// Validate returns what a kube-apiserver would refuse in a Pod made from t, at paths below root: with
// field.NewPath("template") these are template.metadata... and template.spec.... Of the metadata only
// labels and annotations are looked at, and ephemeral containers are not looked at. The template is not
// changed, and the order of the errors is the same for the same template.
func Validate(t *corev1.PodTemplateSpec, root *field.Path, o Options) field.ErrorList {
	c := &checker{
		meta:      &t.ObjectMeta,
		spec:      &t.Spec,
		options:   &o,
		grace:     gracePeriod(&t.Spec),
		hostUsers: t.Spec.HostUsers == nil || *t.Spec.HostUsers,
	}
	c.metadata(root.Child("metadata"))
	c.podSpec(root.Child("spec"))
	c.onCreate(root.Child("spec"))
	return c.errs
}

// checker gathers the errors of one template, and holds what the rules of different places share.
type checker struct {
	errs    field.ErrorList
	meta    *metav1.ObjectMeta
	spec    *corev1.PodSpec
	options *Options

	// volumes are the volumes that mounts may refer to: those of the template without an error.
	volumes map[string]*corev1.VolumeSource
	// dropped are the names of volumes that the server drops, with every mount of them.
	dropped sets.Set[string]
	// claims are the names in spec.resourceClaims.
	claims []string
	// grace is terminationGracePeriodSeconds after defaulting.
	grace     int64
	hostUsers bool
}

func (c *checker) add(errs field.ErrorList) {
	c.errs = append(c.errs, errs...)
}

func (c *checker) invalid(p *field.Path, value any, detail string) {
	c.errs = append(c.errs, field.Invalid(p, value, detail))
}

// invalidEach reports value once for every message.
func (c *checker) invalidEach(p *field.Path, value any, messages []string) {
	for _, m := range messages {
		c.invalid(p, value, m)
	}
}

func (c *checker) required(p *field.Path, detail string) {
	c.errs = append(c.errs, field.Required(p, detail))
}

func (c *checker) forbidden(p *field.Path, detail string) {
	c.errs = append(c.errs, field.Forbidden(p, detail))
}

func (c *checker) duplicate(p *field.Path, value any) {
	c.errs = append(c.errs, field.Duplicate(p, value))
}

func (c *checker) notFound(p *field.Path, value any, detail string) {
	err := field.NotFound(p, value)
	err.Detail = detail
	c.errs = append(c.errs, err)
}

func (c *checker) tooLong(p *field.Path, limit int) {
	c.errs = append(c.errs, field.TooLong(p, nil, limit))
}

func (c *checker) tooMany(p *field.Path, got, limit int) {
	if got > limit {
		c.errs = append(c.errs, field.TooMany(p, got, limit))
	}
}

// needed reports an absent value of the named field of p.
func (c *checker) needed(p *field.Path, name, value string) {
	if value == "" {
		c.required(p.Child(name), "")
	}
}

// sortFrom puts the errors from index start on into an order of their own. The rules over maps, whose
// order Go leaves open, end with it.
func (c *checker) sortFrom(start int) {
	slices.SortStableFunc(c.errs[start:], func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
}

// oneOf reports a value of the named field of p that is not among valid.
func oneOf[T ~string](c *checker, p *field.Path, name string, value T, valid []T) {
	if !slices.Contains(valid, value) {
		c.errs = append(c.errs, field.NotSupported(p.Child(name), value, valid))
	}
}

// oneOfIfSet is oneOf for an optional value.
func oneOfIfSet[T ~string](c *checker, p *field.Path, name string, value *T, valid []T) {
	if value != nil {
		oneOf(c, p, name, *value, valid)
	}
}
