package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// createBound is how long after a create request its object may still appear: the API server's own bound of a request, 34
// seconds by default, and a little for the clocks.
const createBound = 36 * time.Second

// cleanup deletes what was made, the last first, and waits until it is gone. The caller's context does not interrupt it; its
// own bound does.
func (p *probe) cleanup(ctx context.Context, made []*created) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	p.barred = ""
	for _, c := range slices.Backward(made) {
		key, kind := "pod-delete", "Pod"
		if c.resource == claimResource {
			key, kind = "claim-delete", "claim"
		}
		if !c.sent {
			p.skip(key, "nothing was created")
			continue
		}
		p.step(ctx, key, fmt.Sprintf("delete %s %s", kind, c.requested.GetName()), func(ctx context.Context, o *outcome) error {
			return p.remove(ctx, c, kind, o)
		})
	}
}

// remove deletes one object by its UID. One that was not found after its create was looked for until it could no longer appear.
func (p *probe) remove(ctx context.Context, c *created, kind string, o *outcome) error {
	if !c.settled {
		c.admitted, c.settled = p.client.find(ctx, c, createBound)
	}
	switch {
	case !c.settled:
		return fmt.Errorf("whether %s %s was created is unknown, and it may remain", kind, c.requested.GetName())
	case c.admitted == nil:
		o.message = fmt.Sprintf("no %s was created", kind)
		return nil
	}
	name, uid := c.admitted.GetName(), c.admitted.GetUID()
	o.message = fmt.Sprintf("%s %s is gone", kind, name)
	err := p.client.deleteAndWait(ctx, placeOf(c.resource, c.admitted), uid, "")
	switch reasonOf(err) {
	case Conflict: // another object has the name, so ours is gone
		return nil
	case StillThere, "":
		return err
	}
	return fmt.Errorf("%s %s (UID %s) may remain: %w", kind, name, uid, err)
}

// find looks for the object of a create request whose answer was lost, for as long as it may still appear. The nonce proves that
// it is ours. A webhook may have renamed it, so the labels are asked too. Without an object, settled says whether the last look
// was late enough and saw everything.
func (c *Client) find(ctx context.Context, of *created, bound time.Duration) (found object, settled bool) {
	deadline := time.Now().Add(bound)
	for {
		last := !time.Now().Before(deadline)
		candidates, err := c.candidates(ctx, of)
		for _, o := range candidates {
			if o.GetAnnotations()[compose.NonceAnnotation] == of.requested.GetAnnotations()[compose.NonceAnnotation] {
				return o, true
			}
		}
		if last || ctx.Err() != nil {
			return nil, last && err == nil
		}
		wait(ctx, pause)
	}
}

// candidates are the objects with the request's instance label, and the one with its name.
func (c *Client) candidates(ctx context.Context, of *created) ([]object, error) {
	requested := of.requested
	owned := labels.Set{compose.LabelInstanceID: requested.GetLabels()[compose.LabelInstanceID]}
	list, err := c.list(ctx, of.resource, requested.GetNamespace(), metav1.ListOptions{LabelSelector: owned.String()})
	if err != nil {
		return nil, err
	}
	var out []object
	take := func(o runtime.Object) error {
		out = append(out, o.(object))
		return nil
	}
	if err := meta.EachListItem(list, take); err != nil {
		return nil, classify(err)
	}
	one, err := currently[object](ctx, c, placeOf(of.resource, requested))
	switch reasonOf(err) {
	case "":
		return append(out, one), nil
	case NotFound:
		return out, nil
	}
	return out, err
}
