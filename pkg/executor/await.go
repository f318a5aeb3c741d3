package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// running is what awaitRunning waits for.
type running struct {
	pod     place
	uid     types.UID
	main    string        // the container that counts, whatever the others do
	ready   bool          // it must pass its readiness probe too, which a session's agent does only once it is there
	started bool          // it has run before: when it ends, it starts again by itself
	claim   string        // whose events explain a Pod that does not start; "" is none
	timeout time.Duration // for the whole wait
	observe func(*Error)  // is told of states that may pass
}

// errNotRunning is the cause of a wait that ended without a running container.
var errNotRunning = errors.New("not running in time")

// awaitRunning waits for the main container to run, and no longer than there is hope. It watches, and does not poll.
func (c *Client) awaitRunning(ctx context.Context, w running) (*corev1.Pod, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, w.timeout, errNotRunning)
	defer cancel()
	hoping, giveUp := context.WithCancelCause(bounded)
	defer giveUp(nil)
	var (
		seen  *corev1.Pod
		last  *Error
		timer *time.Timer
	)
	err := follow(hoping, c, w.pod, w.uid, func(pod *corev1.Pod) (bool, error) {
		runs, fault := inspect(pod, w.main)
		if w.started && fault != nil && fault.err.Reason == Crashed {
			runs, fault = restarting(pod, w.main, fault)
		}
		switch {
		case runs && (!w.ready || isReady(pod, w.main)):
			seen = pod
			return true, nil
		case fault == nil:
			if timer != nil {
				timer.Stop()
			}
			last, timer = nil, nil
			return false, nil
		case !fault.passing:
			return false, fault.err
		}
		w.observe(fault.err)
		last = fault.err
		if timer == nil {
			timer = c.lose(hoping, w, fault.err.Reason, giveUp)
		}
		return false, nil
	})
	switch {
	case err == nil:
		return seen, nil
	case errors.Is(err, errGone):
		return nil, &Error{Reason: Vanished, Subject: w.pod.name, Message: "the Pod was deleted by someone else"}
	case errors.Is(err, errNotRunning):
		return nil, c.whyNotRunning(context.WithoutCancel(ctx), w, last)
	case ctx.Err() != nil:
		return nil, endedError(ctx)
	}
	return nil, err
}

// lose gives a wait up when its patience ends, and not where a node is on its way.
func (c *Client) lose(ctx context.Context, w running, reason Reason, giveUp context.CancelCauseFunc) *time.Timer {
	if reason != Unschedulable {
		return time.AfterFunc(patience, func() { giveUp(errNotRunning) })
	}
	return time.AfterFunc(scaleUpPatience, func() {
		if !c.scalesUp(ctx, w.pod.namespace, w.uid) {
			giveUp(errNotRunning)
		}
	})
}

// scaleUpPatience is how long an autoscaler may take to say that a node is on its way. The cluster autoscaler promises 30 seconds
// in a cluster of up to 100 nodes (its FAQ, "What are the Service Level Objectives").
const scaleUpPatience = 30 * time.Second

// scaleUps are the events about a Pod by which the cluster autoscaler and Karpenter say that a node is on its way
// (k8s.io/autoscaler cluster-autoscaler/processors/status, sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling).
var scaleUps = []string{"TriggeredScaleUp", "Nominated"}

// scalesUp reports whether an autoscaler has said that it adds a node for a Pod.
func (c *Client) scalesUp(ctx context.Context, namespace string, uid types.UID) bool {
	return slices.ContainsFunc(c.events(ctx, namespace, uid, corev1.EventTypeNormal), func(e corev1.Event) bool { return slices.Contains(scaleUps, e.Reason) })
}

// whyNotRunning explains a Pod that did not run in time: in the words of its claim's events, of its state or of its own events.
func (c *Client) whyNotRunning(ctx context.Context, w running, last *Error) error {
	if w.claim != "" {
		claim, err := c.GetClaim(ctx, w.pod.namespace, w.claim)
		if err == nil && claim.Status.Phase == corev1.ClaimPending {
			if said := c.lastWarning(ctx, w.pod.namespace, claim.UID); said != "" {
				return &Error{Reason: ClaimPending, Subject: w.claim, Message: said}
			}
		}
	}
	if last != nil {
		return last
	}
	if _, err := currently[*corev1.Pod](ctx, c, w.pod); transient(err) {
		return err // nothing was heard of the Pod because nothing was heard at all
	}
	said := c.lastWarning(ctx, w.pod.namespace, w.uid)
	if said == "" {
		said = fmt.Sprintf("the Pod is not running after %s, and there is no event that says why", w.timeout)
	}
	return &Error{Reason: NotStarted, Subject: w.pod.name, Message: said}
}

// endedError is the error of a call whose context has ended.
func endedError(ctx context.Context) *Error {
	return &Error{Reason: Interrupted, Message: context.Cause(ctx).Error(), cause: context.Cause(ctx)}
}

// isReady reports whether a container passes its readiness probe.
func isReady(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container && s.Ready })
}
