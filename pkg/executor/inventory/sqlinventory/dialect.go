package sqlinventory

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Dialect is what one database does in its own way.
type Dialect struct {
	// Migrations holds schema/1.sql, schema/2.sql and so on: N.sql takes a schema of version N-1 to version N. The first makes the
	// table inventory_schema_version with the columns version and applied_at.
	Migrations fs.FS
	// HasSchema is a query for whether that table is there.
	HasSchema string
	// LockSchema is a statement that lets one transaction at a time go on, until its end; "" where a
	// transaction's beginning does that.
	LockSchema string
	// Meaning returns the error of package inventory that an error of the driver means: ErrUncertain where the database
	// did not answer, nil where it refused for a reason that has no name there.
	Meaning func(error) error
}

// failedRead gives an error of a read its meaning; nil stays nil.
func (i *Inventory) failedRead(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return inventory.ErrNotFound
	case errors.Is(err, inventory.ErrCorrupt):
		return err
	}
	meaning := i.dialect.Meaning(err)
	if meaning == nil || errors.Is(meaning, inventory.ErrUncertain) { // a read leaves nothing uncertain
		return err
	}
	return fmt.Errorf("%w: %w", meaning, err)
}

// failedWrite gives an error of a write its meaning; nil stays nil.
func (i *Inventory) failedWrite(err error) error {
	if err == nil {
		return nil
	}
	if meaning := i.dialect.Meaning(err); meaning != nil {
		return fmt.Errorf("%w: %w", meaning, err)
	}
	return err
}
