package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// pvcProtection is the finalizer that the API server puts on every claim.
const pvcProtection = "kubernetes.io/pvc-protection"

// metadata compares what identifies an object and decides about its deletion.
func (c *collector) metadata(r, a *metav1.ObjectMeta, phase Phase, finalizers ...string) {
	same(c, compose.RuleOwnedMetadata, metadataRoot.Child("name"), "the object was renamed", r.Name, a.Name)
	same(c, compose.RuleOwnedMetadata, metadataRoot.Child("generateName"), "generateName was changed; Kandev names the object itself", r.GenerateName, a.GenerateName)
	c.namespace(r, a)
	c.labels(r.Labels, a.Labels)
	c.annotations(r.Annotations, a.Annotations)
	if len(a.OwnerReferences) > 0 {
		c.add(compose.RuleOwnedMetadata, metadataRoot.Child("ownerReferences"),
			"an owner reference was added: the garbage collector would delete the object with its owner", nil, owners(a.OwnerReferences))
	}
	for _, f := range a.Finalizers {
		if !slices.Contains(finalizers, f) {
			c.add(compose.RuleOwnedMetadata, metadataRoot.Child("finalizers"),
				fmt.Sprintf("finalizer %q was added: deleting the object would wait for whoever it belongs to", f), nil, f)
		}
	}
	if phase != Later {
		c.terminating(a)
	}
}

func owners(refs []metav1.OwnerReference) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.Kind + "/" + r.Name
	}
	return strings.Join(names, ", ")
}

// terminating refuses an object that is being deleted already.
func (c *collector) terminating(a *metav1.ObjectMeta) {
	if a.DeletionTimestamp != nil {
		c.add(compose.RuleOwnedMetadata, metadataRoot.Child("deletionTimestamp"), "the object is being deleted", nil, a.DeletionTimestamp)
	}
	if a.DeletionGracePeriodSeconds != nil {
		c.add(compose.RuleOwnedMetadata, metadataRoot.Child("deletionGracePeriodSeconds"), "the object is being deleted", nil, a.DeletionGracePeriodSeconds)
	}
}

// namespace leaves the choice to whoever sent the object when it states none.
func (c *collector) namespace(r, a *metav1.ObjectMeta) {
	if r.Namespace == "" {
		r.Namespace = a.Namespace
	}
	same(c, compose.RuleOwnedMetadata, metadataRoot.Child("namespace"), "the object is in another namespace", r.Namespace, a.Namespace)
}

// labels compares every label that was requested, and every label whose key is Kandev's. Other added
// labels are accepted.
func (c *collector) labels(r, a map[string]string) {
	for _, key := range bothKeys(r, a) {
		was, requested := r[key]
		is, admitted := a[key]
		at := metadataRoot.Child("labels").Key(key)
		switch {
		case compose.IsReservedKey(key):
			c.entry(compose.RuleReservedMetadata, at, fmt.Sprintf("ownership label %s", key), requested, admitted, was, is)
		case requested:
			c.entry(RuleLabel, at, fmt.Sprintf("label %s", key), requested, admitted, was, is)
		}
	}
}

// annotations compares the annotations under kandev.ai/; all others are free.
func (c *collector) annotations(r, a map[string]string) {
	for _, key := range bothKeys(r, a) {
		if !strings.HasPrefix(key, compose.ReservedPrefix) {
			continue
		}
		rule, what := compose.RuleReservedMetadata, fmt.Sprintf("annotation %s", key)
		if key == compose.NonceAnnotation {
			rule, what = RuleNonce, "the create nonce"
		}
		was, requested := r[key]
		is, admitted := a[key]
		c.entry(rule, metadataRoot.Child("annotations").Key(key), what, requested, admitted, was, is)
	}
}

// entry compares one entry of a map, in which "" is a value too.
func (c *collector) entry(rule string, at *field.Path, what string, requested, admitted bool, was, is string) {
	switch {
	case requested && !admitted:
		c.add(rule, at, what+" was removed", was, nil)
	case !requested && admitted:
		c.add(rule, at, what+" was added", nil, is)
	case was != is:
		c.add(rule, at, what+" was changed", was, is)
	}
}

// bothKeys lists the keys of two maps in order.
func bothKeys(r, a map[string]string) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(r)), maps.Keys(a))
	slices.Sort(keys)
	return slices.Compact(keys)
}
