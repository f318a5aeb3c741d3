package executor

import (
	"context"
	"log/slog"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// EventKind says what an Event tells of. Its values are stable.
type EventKind string

// What happens to a session.
const (
	StateEntered EventKind = "state"       // it is in State now, and recorded so
	Requested    EventKind = "requested"   // a create request is recorded, and leaves
	Created      EventKind = "created"     // the object of a create request is known and recorded
	Unconfirmed  EventKind = "unconfirmed" // the answer to a create request was lost, and what came of it is being looked up
	Waiting      EventKind = "waiting"     // something holds the Pod up that may pass
	Deleted      EventKind = "deleted"     // the object is gone
)

// Event is one thing that happened to a session. It holds no secret: Reason and Detail come from the API server and the
// node, never from the session's container.
type Event struct {
	InstanceID string
	Kind       EventKind
	State      inventory.State
	// Object and Name say what it is about, where it is about one object.
	Object inventory.Kind
	Name   string
	Reason Reason
	Detail string
}

// tell hands an event to whoever wants it.
func (i *instance) tell(ctx context.Context, e Event) {
	e.InstanceID, e.State = i.row.Identity.InstanceID, i.row.State
	if i.Observe != nil {
		i.Observe(e)
	}
	i.Logger.LogAttrs(ctx, slog.LevelInfo, string(e.Kind),
		slog.String("instance", e.InstanceID), slog.String("state", string(e.State)),
		slog.String("object", string(e.Object)), slog.String("name", e.Name),
		slog.String("reason", string(e.Reason)), slog.String("detail", e.Detail))
}
