package executor

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// instance is one session that this process works on, under its lock.
type instance struct {
	*Executor
	row      inventory.Row
	snapshot compose.Snapshot
	objects  compose.Objects // as the snapshot composes them, without a nonce
	material *Material       // nil where a call has none
	seen     *corev1.Pod     // running, as this call has just seen it
	fresh    string          // the bootstrap nonce of an upload by this call
}

// work prepares the work on a row.
func (e *Executor) work(row inventory.Row, snapshot compose.Snapshot) (*instance, error) {
	objects, err := snapshot.Compose(row.Identity)
	if err != nil {
		return nil, err
	}
	return &instance{Executor: e, row: row, snapshot: snapshot, objects: objects}, nil
}

// recordTimeout bounds one write to the inventory, which the end of a call's context does not interrupt: what is known of
// the cluster is recorded first.
const recordTimeout = 30 * time.Second

// write changes the row and records it.
func (i *instance) write(ctx context.Context, change func(*inventory.Row)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	next := i.row.Clone()
	change(&next)
	written, err := i.Inventory.Update(ctx, i.row.Holder, next)
	if errors.Is(err, inventory.ErrUncertain) {
		written, err = i.settleWrite(ctx, next)
	}
	if err != nil {
		return inventoryError(err)
	}
	i.row = written
	return nil
}

// settleWrite finds out whether a write was made, and makes it where it was not.
func (i *instance) settleWrite(ctx context.Context, next inventory.Row) (inventory.Row, error) {
	stored, err := i.Inventory.Get(ctx, next.Identity.InstanceID)
	if err != nil {
		return stored, err
	}
	if stored.Generation == next.Generation {
		return i.Inventory.Update(ctx, i.row.Holder, next)
	}
	want := next.Clone()
	want.Generation, want.CreatedAt, want.UpdatedAt = next.Generation+1, stored.CreatedAt, stored.UpdatedAt
	if !reflect.DeepEqual(stored, want) {
		return stored, &inventory.ConflictError{InstanceID: next.Identity.InstanceID, Have: stored.Generation, Want: next.Generation}
	}
	return stored, nil
}

// enter records a state. A failure of the past is of the past.
func (i *instance) enter(ctx context.Context, state inventory.State) error {
	err := i.write(ctx, func(r *inventory.Row) { r.State, r.LastFailure = state, nil })
	if err == nil {
		i.tell(ctx, Event{Kind: StateEntered})
	}
	return err
}

// remember records why a call failed, and returns the error. That it cannot be recorded is no failure of its own.
func (i *instance) remember(ctx context.Context, err error) error {
	reason := reasonOf(err)
	if err == nil || reason == "" || reason == InventoryConflict || reason == InventoryFailed || i.row.State == inventory.Cleaned {
		return err
	}
	_ = i.write(ctx, func(r *inventory.Row) { r.LastFailure = &inventory.Failure{Code: string(reason)} })
	return err
}

// recorded returns the recorded object of a kind, nil where there is none.
func (i *instance) recorded(kind inventory.Kind) *inventory.Object {
	if kind == inventory.Pod {
		return i.row.Pod
	}
	return i.row.Claim
}

// open returns the index of the open request for a kind, -1 where there is none.
func (i *instance) open(kind inventory.Kind) int {
	return slices.IndexFunc(i.row.Intents, func(n inventory.Intent) bool { return n.Kind == kind && n.Outcome.Open() })
}

// main is the name of the main container.
func (i *instance) main() string { return i.row.MainContainer }

// container is the recorded Pod's main container.
func (i *instance) container() container {
	return container{client: i.Client, pod: place{podResource, i.Namespace, i.row.Pod.Name}, uid: i.row.Pod.UID, name: i.main()}
}

// controlPort is where the agent listens in a Pod.
func controlPort(pod *corev1.Pod, main string) int32 {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if c.Name == main && p.Name == compose.ControlPortName {
				return p.ContainerPort
			}
		}
	}
	return 0
}

// owns reports whether a live object bears every ownership label of the session.
func (i *instance) owns(o object) bool { return bears(o, i.row.Identity) }

func bears(o object, id compose.Identity) bool {
	labels := o.GetLabels()
	for key, value := range id.Labels() {
		if labels[key] != value {
			return false
		}
	}
	return true
}
