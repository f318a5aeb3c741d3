// Package admission compares what was sent to a Kubernetes API server with what came back.
//
// Between the two stand mutating webhooks and the API server's own plugins. Most of what they do is
// their business: sidecars, tolerations, resources. What Kandev owns (pkg/compose) must come back as it
// was sent, and nothing may have gained access to the runtime, the credentials or the workspace.
// A comparison splits the difference between the two objects into violations, accepted changes and,
// among those, changes that raise a privilege.
//
// Everything is compared by name, never by position: a webhook may insert a container at index 0 or
// replace a whole array.
package admission

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Phase says when the admitted object was seen.
type Phase int

const (
	// AtCreate is the response to a create request or to a dry run: not scheduled, not terminating.
	AtCreate Phase = iota
	// Reconcile is a GET that settles a create request whose outcome is unknown. The object may have been
	// scheduled by then, but one that is being deleted is no answer to the request.
	Reconcile
	// Later is any other GET. The object may be scheduled and may be terminating.
	Later
)

// Options tune a comparison. The zero value compares a create response.
type Options struct {
	// MainContainer is the profile's main container; compose.DefaultMainContainer when empty.
	MainContainer string
	Phase         Phase
	// Warnings returns the policy findings of a Pod. It is a function so that this package needs no
	// policy engine; without it a report lists no escalations.
	Warnings func(*corev1.Pod) ([]finding.Finding, error)
}

// ComparePod compares the Pod that was sent with the Pod that the API server returned. Neither is changed.
// A nil Pod counts as an empty one. The error is that of Options.Warnings.
func ComparePod(requested, admitted *corev1.Pod, o Options) (Report, error) {
	if o.MainContainer == "" {
		o.MainContainer = compose.DefaultMainContainer
	}
	escalations, err := escalations(requested, admitted, o.Warnings)
	if err != nil {
		return Report{}, err
	}
	c := podComparison{
		requested: normalisedPod(requested), admitted: normalisedPod(admitted), options: o,
	}
	c.metadata(&c.requested.ObjectMeta, &c.admitted.ObjectMeta, o.Phase)
	c.podSpec()
	c.volumes()
	c.containers()
	c.removedGrants()
	changes := append(
		differences(metadataRoot, &c.requested.ObjectMeta, &c.admitted.ObjectMeta),
		differences(specRoot, &c.requested.Spec, &c.admitted.Spec)...)
	return c.report(c.grantTable(), escalations, changes), nil
}

// ComparePVC compares the PersistentVolumeClaim that was sent with the one that the API server returned.
// Neither is changed. A nil claim counts as an empty one.
func ComparePVC(requested, admitted *corev1.PersistentVolumeClaim, o Options) Report {
	r, a := normalisedClaim(requested), normalisedClaim(admitted)
	var c collector
	c.metadata(&r.ObjectMeta, &a.ObjectMeta, o.Phase, pvcProtection)
	c.claim(r, a)
	changes := append(
		differences(metadataRoot, &r.ObjectMeta, &a.ObjectMeta),
		differences(specRoot, &r.Spec, &a.Spec)...)
	return c.report(nil, nil, changes)
}

// podComparison is one comparison of two Pods, in which every documented default is filled in.
type podComparison struct {
	collector

	requested, admitted *corev1.Pod
	options             Options
}
