package executor

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// DryRun is what the API server's admission makes of an object, which is not kept.
type DryRun[T object] struct {
	Requested T        // as it was sent, with a create nonce of its own
	Admitted  T        // as it would have been created
	Warnings  []string // of the server, in its order
}

// DryRunPod sends a Pod through validation and admission: defaults, plugins, webhooks, quota. The Pod is not changed. The
// warnings come back beside an error too.
func (c *Client) DryRunPod(ctx context.Context, pod *corev1.Pod) (DryRun[*corev1.Pod], error) {
	return dryRun(ctx, c, podResource, pod.DeepCopy(), &corev1.Pod{})
}

// DryRunClaim does for a claim what DryRunPod does for a Pod.
func (c *Client) DryRunClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) (DryRun[*corev1.PersistentVolumeClaim], error) {
	return dryRun(ctx, c, claimResource, claim.DeepCopy(), &corev1.PersistentVolumeClaim{})
}

func dryRun[T object](ctx context.Context, c *Client, resource string, requested, admitted T) (DryRun[T], error) {
	compose.SetNonce(requested, compose.NewNonce())
	d := DryRun[T]{Requested: requested, Admitted: admitted}
	err := c.create(withWarnings(ctx, &d.Warnings), resource, requested, admitted, true)
	return d, err
}
