package inventory

import (
	"context"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Inventory keeps rows. All methods may be called by several goroutines, and several Inventories of several processes
// may keep the same rows. Package inventorytest holds an implementation against what is said here.
//
// A row that is returned belongs to the caller. Errors are those of errors.go, wrapped, or the context's.
type Inventory interface {
	// Create records a new instance that owner holds, in state Configured and generation 1. An identity without a
	// name gets the name that its Pod will have; the namespace is required. The error is ErrExists for an instance
	// ID that has a row. IDs are for ever: that of a deleted row may not be used again.
	Create(ctx context.Context, owner string, id compose.Identity, snapshot compose.Snapshot) (Row, error)

	// Get returns the row of an instance, or ErrNotFound.
	Get(ctx context.Context, instanceID string) (Row, error)

	// Snapshot returns the launch snapshot of an instance, or ErrNotFound.
	Snapshot(ctx context.Context, instanceID string) (compose.Snapshot, error)

	// List returns the rows that the filter lets through, by instance ID in the order of its bytes.
	List(ctx context.Context, f Filter) ([]Row, error)

	// Update writes a row that holder has read and changed, and returns it as written: with the next generation
	// and its time. The error is ErrNotFound, a *FencedError when holder does not hold the row, a *ConflictError when
	// the row's generation is not that of row, or an *InvalidError when ValidateUpdate has something against the change.
	Update(ctx context.Context, holder Holder, row Row) (Row, error)

	// TakeOver gives the row that from holds to an owner, in the next epoch and generation, and returns it. A holder
	// gives its row up by naming the owner "". The error is ErrNotFound, or a *FencedError when from does not
	// hold the row.
	TakeOver(ctx context.Context, instanceID string, from Holder, owner string) (Row, error)

	// Delete removes the row of a Cleaned instance, and its snapshot. The error is as for Update.
	Delete(ctx context.Context, holder Holder, instanceID string, generation int64) error

	// Close releases what the Inventory holds. Calls under way end first; later ones fail.
	Close() error
}

// Filter says which rows are listed: those that meet everything in it. The zero Filter lets all rows through.
type Filter struct {
	// Owner, Namespace and States keep the rows with this owner, in this namespace, and in one of these states.
	Owner     string
	Namespace string
	States    []State
	// After keeps the instance IDs that sort after it; Limit, where it is greater than 0, is the largest number
	// of rows returned. The last ID of one page is the After of the next.
	After string
	Limit int
}
