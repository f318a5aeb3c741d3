package inventory

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	// ErrNotFound means that the instance has no row.
	ErrNotFound = errors.New("the inventory has no such instance")
	// ErrExists means that the instance has a row.
	ErrExists = errors.New("the inventory already has this instance")

	// ErrUncertain means that the write may have been made, or may yet be: the connection or the context ended before the
	// answer came.
	ErrUncertain = errors.New("whether the inventory was written is unknown")

	// ErrBusy means that other writers kept this one out for too long. Nothing was written; it may be tried again.
	ErrBusy = errors.New("the inventory is busy")
	// ErrReadOnly means that the file, the disk or the database cannot be written or not be opened for writing.
	ErrReadOnly = errors.New("the inventory cannot be written")
	// ErrFull means that there is no space left for the inventory.
	ErrFull = errors.New("there is no space left for the inventory")
	// ErrCorrupt means that what is stored is not what was written. Nothing may be concluded from it.
	ErrCorrupt = errors.New("the inventory is corrupt")
	// ErrExposed means that other users of the machine can read or write the inventory.
	ErrExposed = errors.New("the inventory is open to other users")
)

// ConflictError means that the row was written since it was read.
type ConflictError struct {
	InstanceID string
	Have, Want int64 // the row's generation, and the one that the caller named
}

// Error names both generations.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("instance %q was written meanwhile: its generation is %d, not %d", e.InstanceID, e.Have, e.Want)
}

// FencedError means that the row has another holder. Whoever was its holder has lost the instance for good.
type FencedError struct {
	InstanceID string
	Have, Want Holder // the row's holder, and the one that the caller named
}

// Error names both holders.
func (e *FencedError) Error() string {
	return fmt.Sprintf("instance %q is held by %s, not by %s", e.InstanceID, e.Have, e.Want)
}

// String names the owner and the epoch.
func (h Holder) String() string {
	owner := "nobody"
	if h.Owner != "" {
		owner = fmt.Sprintf("%q", h.Owner)
	}
	return fmt.Sprintf("%s since epoch %d", owner, h.Epoch)
}

// InvalidError means that a row, or a change of one, breaks the rules of this package. It names fields and never shows
// a value.
type InvalidError struct {
	InstanceID string
	Errors     field.ErrorList
}

// Error names every field that is wrong.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("instance %q: %v", e.InstanceID, e.Errors.ToAggregate())
}

// invalid returns an *InvalidError without values, nil where there are no errors.
func invalid(instanceID string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	for _, e := range errs {
		e.BadValue = field.OmitValueType{}
	}
	return &InvalidError{InstanceID: instanceID, Errors: errs}
}

// SchemaError means that a newer program has written the inventory. It is left as it is.
type SchemaError struct {
	Have, Known int // the inventory's version, and the newest that this program knows
}

// Error names both versions.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("the inventory has schema version %d and this program knows up to %d: use a newer program", e.Have, e.Known)
}
