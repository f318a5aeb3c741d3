// Package postgres opens the inventory in a PostgreSQL database: the one to use where several machines share it.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

//go:embed schema/*.sql
var schema embed.FS

// maxConns is the largest number of connections that one Inventory has open: a PostgreSQL server has 100 for all by default, and a
// write takes a millisecond or two.
const maxConns = 8

// lockSchema takes a lock that has no meaning but this one: its number is the first eight bytes of the SHA-256 of the table's name.
const lockSchema = "SELECT pg_advisory_xact_lock(('x' || left(encode(sha256('executors_running'), 'hex'), 16))::bit(64)::bigint)"

// Open opens the inventory in a database, named by a URL or by key=value pairs as libpq reads them, and makes the tables
// where there are none, in the first schema of the search path. The error shows no password.
//
// What is acknowledged is on the server's disk, also where the database's settings do not ask for that.
func Open(ctx context.Context, database string) (*sqlinventory.Inventory, error) {
	db, err := connect(database)
	if err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	i, err := sqlinventory.Open(ctx, db, Dialect())
	if err != nil {
		return nil, fmt.Errorf("inventory: %w", errors.Join(err, db.Close()))
	}
	return i, nil
}

func connect(database string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(commitToDisk))
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	return db, nil
}

// Dialect is how the inventory speaks to PostgreSQL, for a backend that has opened the database itself.
func Dialect() sqlinventory.Dialect {
	return sqlinventory.Dialect{
		Migrations: schema,
		HasSchema:  "SELECT to_regclass('inventory_schema_version') IS NOT NULL",
		LockSchema: lockSchema,
		Meaning:    meaning,
	}
}

// commitToDisk makes a commit wait for the disk where the settings let it not. Settings that wait for more stay.
func commitToDisk(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// meaning implements sqlinventory.Dialect by PostgreSQL's error codes, https://www.postgresql.org/docs/current/errcodes-appendix.html.
func meaning(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if pgconn.SafeToRetry(err) { // nothing was sent
			return nil
		}
		return inventory.ErrUncertain
	}
	if e.SeverityUnlocalized != "ERROR" { // the connection ended, perhaps after the commit
		return inventory.ErrUncertain
	}
	switch e.Code {
	case "23505": // unique_violation
		return inventory.ErrExists
	case "25006": // read_only_sql_transaction
		return inventory.ErrReadOnly
	case "53100": // disk_full
		return inventory.ErrFull
	case "XX001", "XX002": // data_corrupted, index_corrupted
		return inventory.ErrCorrupt
	case "40001", "40P01", "55P03": // serialization_failure, deadlock_detected, lock_not_available
		return inventory.ErrBusy
	}
	return nil
}
