package sqlinventory

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// migrate brings the schema to the newest version that this program knows, all or nothing, while other programs that
// open the same database wait. A newer schema stays as it is: its rows may hold what this program would lose.
func (i *Inventory) migrate(ctx context.Context) error {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return i.failedRead(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing; before, the error that led here is the one to return
	if err := i.migrateIn(ctx, tx); err != nil {
		return err
	}
	return i.failedWrite(tx.Commit())
}

func (i *Inventory) migrateIn(ctx context.Context, tx *sql.Tx) error {
	if i.dialect.LockSchema != "" {
		if _, err := tx.ExecContext(ctx, i.dialect.LockSchema); err != nil {
			return i.failedRead(err)
		}
	}
	have, err := i.version(ctx, tx)
	if err != nil {
		return i.failedRead(err)
	}
	files, err := fs.Glob(i.dialect.Migrations, "schema/*.sql")
	if err != nil {
		return err
	}
	if have > len(files) {
		return &inventory.SchemaError{Have: have, Known: len(files)}
	}
	for v := have + 1; v <= len(files); v++ {
		if err := i.apply(ctx, tx, v); err != nil {
			return fmt.Errorf("bring the inventory to schema version %d: %w", v, i.failedWrite(err))
		}
	}
	return nil
}

// version returns the version of the schema, 0 where there is none.
func (i *Inventory) version(ctx context.Context, tx *sql.Tx) (int, error) {
	var exists bool
	if err := tx.QueryRowContext(ctx, i.dialect.HasSchema).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	var version int
	err := tx.QueryRowContext(ctx, "SELECT max(version) FROM inventory_schema_version").Scan(&version)
	return version, err
}

// apply takes the schema to a version from the one before.
func (i *Inventory) apply(ctx context.Context, tx *sql.Tx, version int) error {
	script, err := fs.ReadFile(i.dialect.Migrations, fmt.Sprintf("schema/%d.sql", version))
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO inventory_schema_version (version, applied_at) VALUES ($1, $2)", version, now().UnixMicro())
	return err
}
