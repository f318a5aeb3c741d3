package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// deletionTimeout bounds the wait for one object to be gone, beyond its own grace period. A finalizer that nobody removes
// holds it longer, and is named.
const deletionTimeout = 2 * time.Minute

// takeBack ends a launch that failed: what it created is deleted, where everything is certain. The error is the launch's.
func (i *instance) takeBack(ctx context.Context, launch error) error {
	switch reasonOf(launch) {
	case Ambiguous, Quarantined, Interrupted, IdentityMismatch, InventoryFailed, InventoryConflict, Unreachable, Throttled, ServerError, "":
		return i.remember(ctx, launch)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*deletionTimeout)
	defer cancel()
	if err := i.cleanUp(ctx); err != nil {
		return fmt.Errorf("%w; and what it created remains, for Cleanup: %w", launch, i.remember(ctx, err))
	}
	return launch
}

// cleanUp deletes Pod, managed claim and row, each after the one before is gone.
func (i *instance) cleanUp(ctx context.Context) error {
	if i.row.State != inventory.Cleaned && i.row.State != inventory.Cleaning {
		if err := i.enter(ctx, inventory.Cleaning); err != nil {
			return err
		}
	}
	if i.row.State == inventory.Cleaning {
		if err := cleanUpKind(ctx, i, podKind); err != nil {
			return err
		}
		if err := cleanUpKind(ctx, i, claimKind); err != nil {
			return err
		}
		if err := i.enter(ctx, inventory.Cleaned); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := i.Inventory.Delete(ctx, i.row.Holder, i.row.Identity.InstanceID, i.row.Generation)
	if errors.Is(err, inventory.ErrNotFound) {
		return nil
	}
	return inventoryError(err)
}

// cleanUpKind deletes the session's object of a kind, the one that a request of unknown outcome created too.
func cleanUpKind[T object](ctx context.Context, i *instance, k kindOf[T]) error {
	if n := i.open(k.kind); n >= 0 {
		if err := settleForCleanup(ctx, i, k, i.row.Intents[n]); err != nil {
			return err
		}
	}
	if i.recorded(k.kind) == nil {
		return nil
	}
	if k.kind == inventory.PersistentVolumeClaim && !i.row.CreatedClaim() {
		return nil // an existing claim stays, and so does the record of it
	}
	if err := i.deleteRecorded(ctx, k.kind, k.resource); err != nil {
		return err
	}
	return i.write(ctx, func(r *inventory.Row) {
		if k.kind == inventory.Pod {
			r.Pod = nil
		} else {
			r.Claim = nil
		}
	})
}

// settleForCleanup finds out whether the open request created an object, by the nonce, and records it. What admission made of
// it does not matter any more.
func settleForCleanup[T object](ctx context.Context, i *instance, k kindOf[T], intent inventory.Intent) error {
	requested := k.empty()
	if i.objects.Claim != nil || k.kind == inventory.Pod {
		requested = k.compose(i)
	}
	requested.SetAnnotations(map[string]string{compose.NonceAnnotation: intent.Nonce})
	found, settled := i.Client.find(ctx, &created{resource: k.resource, requested: requested}, createBound)
	switch {
	case found == nil && ctx.Err() != nil && !settled:
		return endedError(ctx)
	case found == nil && !settled:
		return &Error{Reason: Ambiguous, Subject: intent.Name, Message: fmt.Sprintf("whether %s %s was created cannot be found out now", k.kind, intent.Name)}
	case found == nil:
		if err := quarantine(ctx, i, k, requested); err != nil {
			return err
		}
		return i.outcome(ctx, intent.Nonce, inventory.Refused)
	}
	return i.commit(ctx, k.kind, found)
}

// deleteRecorded deletes the recorded object of a kind and waits until it is gone. Live UID and ownership labels must match; an
// object of another UID has the name only because ours is gone.
func (i *instance) deleteRecorded(ctx context.Context, kind inventory.Kind, resource string) error {
	recorded := i.recorded(kind)
	at := place{resource, i.Namespace, recorded.Name}
	for {
		live, err := currently[object](ctx, i.Client, at)
		switch {
		case reasonOf(err) == NotFound || err == nil && live.GetUID() != recorded.UID:
			i.tell(ctx, Event{Kind: Deleted, Object: kind, Name: recorded.Name})
			return nil
		case transient(err) && ctx.Err() == nil:
			wait(ctx, pause)
			continue
		case err != nil:
			return err
		case !i.owns(live):
			return i.notOurs(live)
		}
		err = i.Client.deleteAndWait(ctx, at, recorded.UID, live.GetResourceVersion())
		if reasonOf(err) == Conflict && ctx.Err() == nil {
			continue // it was changed since it was looked at: look again
		}
		if err == nil {
			i.tell(ctx, Event{Kind: Deleted, Object: kind, Name: recorded.Name})
		}
		return err
	}
}

// deleteAndWait deletes the object of a UID, and of a resource version where one is given, and waits until it is gone.
func (c *Client) deleteAndWait(ctx context.Context, at place, uid types.UID, version string) error {
	err := c.deletePrecisely(ctx, at, uid, version)
	for transient(err) && ctx.Err() == nil {
		wait(ctx, pause)
		err = c.deletePrecisely(ctx, at, uid, version)
	}
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, deletionTimeout)
	defer cancel()
	var last object
	err = follow(bounded, c, at, uid, func(o object) (bool, error) {
		last = o
		return false, nil
	})
	switch {
	case errors.Is(err, errGone):
		return nil
	case ctx.Err() != nil:
		return endedError(ctx)
	case bounded.Err() != nil && last != nil:
		return &Error{Reason: StillThere, Subject: at.name, Message: fmt.Sprintf("%s (UID %s) is deleted and still there, with finalizers %v", at.name, uid, last.GetFinalizers())}
	}
	return err
}

// deletePrecisely asks for the deletion of one object in one version, and of no other.
func (c *Client) deletePrecisely(ctx context.Context, at place, uid types.UID, version string) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	preconditions := metav1.NewUIDPreconditions(string(uid))
	if version != "" {
		preconditions.ResourceVersion = &version
	}
	err := classify(c.rest.Delete().Namespace(at.namespace).Resource(at.resource).Name(at.name).
		Body(&metav1.DeleteOptions{Preconditions: preconditions}).Do(ctx).Error())
	if reasonOf(err) == NotFound {
		return nil
	}
	return err
}
