package sqlinventory

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Inventory keeps rows in a database.
type Inventory struct {
	db      *sql.DB
	dialect Dialect
}

var _ inventory.Inventory = (*Inventory)(nil)

// Open brings the schema of a database up to date and returns the inventory in it. Close closes db. The error
// is a *inventory.SchemaError for a schema that is newer than this program.
func Open(ctx context.Context, db *sql.DB, d Dialect) (*Inventory, error) {
	i := &Inventory{db: db, dialect: d}
	if err := i.migrate(ctx); err != nil {
		return nil, err
	}
	return i, nil
}

// Close closes the database.
func (i *Inventory) Close() error { return i.db.Close() }

// now is the time as rows hold it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Create implements inventory.Inventory.
func (i *Inventory) Create(ctx context.Context, owner string, id compose.Identity, s compose.Snapshot) (inventory.Row, error) {
	row, err := inventory.NewRow(owner, id, s)
	if err != nil {
		return inventory.Row{}, err
	}
	row.CreatedAt = now()
	row.UpdatedAt = row.CreatedAt
	if err := i.insert(ctx, row, s); err != nil {
		return inventory.Row{}, fmt.Errorf("create instance %q: %w", id.InstanceID, err)
	}
	return row, nil
}

func (i *Inventory) insert(ctx context.Context, row inventory.Row, s compose.Snapshot) error {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return i.failedRead(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing; before, the error that led here is the one to return
	if _, err := tx.ExecContext(ctx, insertRow, values(row)...); err != nil {
		return i.failedWrite(err)
	}
	if _, err := tx.ExecContext(ctx, insertSnapshot, row.Identity.InstanceID, string(s.Encode())); err != nil {
		return i.failedWrite(err)
	}
	return i.failedWrite(tx.Commit())
}

// Get implements inventory.Inventory.
func (i *Inventory) Get(ctx context.Context, instanceID string) (inventory.Row, error) {
	row, err := scan(i.db.QueryRowContext(ctx, selectRow, instanceID))
	if err != nil {
		return inventory.Row{}, fmt.Errorf("get instance %q: %w", instanceID, i.failedRead(err))
	}
	return row, nil
}

// Snapshot implements inventory.Inventory.
func (i *Inventory) Snapshot(ctx context.Context, instanceID string) (compose.Snapshot, error) {
	var encoded, want string
	err := i.db.QueryRowContext(ctx, selectSnapshot, instanceID).Scan(&encoded, &want)
	if err != nil {
		return compose.Snapshot{}, fmt.Errorf("launch snapshot of instance %q: %w", instanceID, i.failedRead(err))
	}
	if sum := sha256.Sum256([]byte(encoded)); hex.EncodeToString(sum[:]) != want {
		return compose.Snapshot{}, fmt.Errorf("launch snapshot of instance %q: %w: its bytes are not those recorded", instanceID, inventory.ErrCorrupt)
	}
	s, err := compose.DecodeSnapshot([]byte(encoded))
	if err != nil {
		return compose.Snapshot{}, fmt.Errorf("launch snapshot of instance %q: %w", instanceID, err)
	}
	return s, nil
}

// List implements inventory.Inventory.
func (i *Inventory) List(ctx context.Context, f inventory.Filter) ([]inventory.Row, error) {
	rows, err := i.list(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", i.failedRead(err))
	}
	return rows, nil
}

func (i *Inventory) list(ctx context.Context, f inventory.Filter) ([]inventory.Row, error) {
	limit := int64(f.Limit)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	result, err := i.db.QueryContext(ctx, selectRows, f.Owner, f.Namespace, stateList(f.States), f.After, limit)
	if err != nil {
		return nil, err
	}
	defer result.Close() //nolint:errcheck // Err says what there is to say
	var rows []inventory.Row
	for result.Next() {
		row, err := scan(result)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, result.Err()
}

// stateList writes states as selectRows looks for one in them; "" for any state.
func stateList(states []inventory.State) string {
	if len(states) == 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range states {
		b.WriteString("," + string(s))
	}
	return b.String() + ","
}

// Update implements inventory.Inventory.
func (i *Inventory) Update(ctx context.Context, holder inventory.Holder, row inventory.Row) (inventory.Row, error) {
	return i.write(ctx, row.Identity.InstanceID, func(old inventory.Row) (inventory.Row, error) {
		if err := old.Check(holder, row.Generation); err != nil {
			return inventory.Row{}, err
		}
		changed := row.Clone()
		changed.Holder, changed.CreatedAt = old.Holder, old.CreatedAt
		return changed, changed.ValidateUpdate(old)
	})
}

// TakeOver implements inventory.Inventory.
func (i *Inventory) TakeOver(ctx context.Context, instanceID string, from inventory.Holder, owner string) (inventory.Row, error) {
	return i.write(ctx, instanceID, func(old inventory.Row) (inventory.Row, error) {
		if old.Holder != from {
			return inventory.Row{}, &inventory.FencedError{InstanceID: instanceID, Have: old.Holder, Want: from}
		}
		taken := old
		taken.Holder = inventory.Holder{Owner: owner, Epoch: from.Epoch + 1}
		taken.Generation++ // as it will be written, for the check
		err := taken.Validate()
		taken.Generation--
		return taken, err
	})
}

// write puts in a row's place what change makes of it. Where another write comes between reading and writing, change is
// asked again, about the row as it is then.
func (i *Inventory) write(ctx context.Context, instanceID string, change func(old inventory.Row) (inventory.Row, error)) (inventory.Row, error) {
	for {
		old, err := i.Get(ctx, instanceID)
		if err != nil {
			return inventory.Row{}, err
		}
		row, err := change(old)
		if err != nil {
			return inventory.Row{}, err
		}
		row.Generation, row.UpdatedAt = old.Generation+1, now()
		written, err := i.exec(ctx, updateRow, append(guard(old), values(row)[1:]...))
		if err != nil {
			return inventory.Row{}, fmt.Errorf("write instance %q: %w", instanceID, err)
		}
		if written {
			return row, nil
		}
	}
}

// Delete implements inventory.Inventory.
func (i *Inventory) Delete(ctx context.Context, holder inventory.Holder, instanceID string, generation int64) error {
	for {
		old, err := i.Get(ctx, instanceID)
		if err != nil {
			return err
		}
		if err := old.Check(holder, generation); err != nil {
			return err
		}
		if err := old.ValidateDelete(); err != nil {
			return err
		}
		deleted, err := i.exec(ctx, deleteRow, guard(old))
		if err != nil {
			return fmt.Errorf("delete instance %q: %w", instanceID, err)
		}
		if deleted {
			return nil
		}
	}
}

// exec runs a guarded statement and reports whether the row was still as the guard says.
func (i *Inventory) exec(ctx context.Context, statement string, args []any) (bool, error) {
	result, err := i.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, i.failedWrite(err)
	}
	n, err := result.RowsAffected()
	return n == 1, err
}
