package mutation

import (
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// metadataTampers changes what identifies an object and decides about its deletion.
func metadataTampers[T metav1.Object]() []Operator[T] {
	meta := func(name, field string, apply func(*rand.Rand, metav1.Object)) Operator[T] {
		return Operator[T]{Name: name, Kind: Tamper, Field: "metadata." + field, Apply: func(r *rand.Rand, o T) { apply(r, o) }}
	}
	return []Operator[T]{
		meta("rename", "name", func(_ *rand.Rand, o metav1.Object) { o.SetName(o.GetName() + "-x") }),
		meta("move-namespace", "namespace", func(_ *rand.Rand, o metav1.Object) { o.SetNamespace("elsewhere") }).refused(),
		meta("generate-name", "generateName", func(_ *rand.Rand, o metav1.Object) { o.SetGenerateName("kandev-") }),
		meta("drop-nonce", "annotations["+compose.NonceAnnotation+"]", func(_ *rand.Rand, o metav1.Object) {
			annotate(o, func(a map[string]string) { delete(a, compose.NonceAnnotation) })
		}),
		meta("rewrite-nonce", "annotations["+compose.NonceAnnotation+"]", func(_ *rand.Rand, o metav1.Object) {
			annotate(o, func(a map[string]string) { a[compose.NonceAnnotation] = strings.Repeat("0", 64) })
		}),
		meta("upper-case-nonce", "annotations["+compose.NonceAnnotation+"]", func(_ *rand.Rand, o metav1.Object) {
			annotate(o, func(a map[string]string) {
				a[compose.NonceAnnotation] = strings.ToUpper(a[compose.NonceAnnotation]) + "A"
			})
		}),
		meta("add-kandev-annotation", "annotations[kandev.ai/trusted]", func(_ *rand.Rand, o metav1.Object) {
			annotate(o, func(a map[string]string) { a["kandev.ai/trusted"] = "" })
		}),
		meta("drop-ownership-label", "labels[*]", func(r *rand.Rand, o metav1.Object) {
			label(o, func(l map[string]string) { delete(l, pick(r, ownershipLabels)) })
		}),
		meta("rewrite-ownership-label", "labels[*]", func(r *rand.Rand, o metav1.Object) {
			label(o, func(l map[string]string) { l[pick(r, ownershipLabels)] = "other" })
		}),
		meta("empty-ownership-label", "labels[*]", func(r *rand.Rand, o metav1.Object) {
			label(o, func(l map[string]string) { l[pick(r, ownershipLabels)] = "" })
		}),
		meta("add-kandev-label", "labels[kandev.ai/extra]", func(_ *rand.Rand, o metav1.Object) {
			label(o, func(l map[string]string) { l["kandev.ai/extra"] = "x" })
		}),
		meta("add-owner", "ownerReferences", func(_ *rand.Rand, o metav1.Object) {
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "7b1c"}})
		}),
		meta("add-finalizer", "finalizers", func(_ *rand.Rand, o metav1.Object) {
			o.SetFinalizers([]string{"kueue.x-k8s.io/managed"})
		}),
		meta("delete", "deletionTimestamp", func(_ *rand.Rand, o metav1.Object) {
			past := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
			o.SetDeletionTimestamp(&past)
		}),
		meta("delete-grace", "deletionGracePeriodSeconds", func(_ *rand.Rand, o metav1.Object) {
			o.SetDeletionGracePeriodSeconds(new(int64))
		}),
	}
}

// ownershipLabels are the labels by which a session's objects are known.
var ownershipLabels = []string{
	compose.LabelName, compose.LabelComponent, compose.LabelManagedBy, compose.LabelInstance, compose.LabelExecutorID,
	compose.LabelProfileID, compose.LabelInstanceID, compose.LabelTaskID, compose.LabelSessionID, compose.LabelEnvironmentID,
}

func annotate(o metav1.Object, f func(map[string]string)) {
	o.SetAnnotations(edited(o.GetAnnotations(), f))
}

func label(o metav1.Object, f func(map[string]string)) { o.SetLabels(edited(o.GetLabels(), f)) }

// edited changes a copy of a map.
func edited(m map[string]string, f func(map[string]string)) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	f(out)
	return out
}
