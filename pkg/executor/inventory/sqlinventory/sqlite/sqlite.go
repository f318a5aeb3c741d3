// Package sqlite opens the inventory in a file: the one to use where a single machine's processes share it. The file
// has to be on a local disk, since SQLite's locks and its shared memory do not work over a network.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

//go:embed schema/*.sql
var schema embed.FS

// busyTimeout is how long a write waits for other processes' writes, each of which takes milliseconds.
const busyTimeout = 10 * time.Second

// Open opens the inventory in a file, which it makes where there is none, with the directories above it. Only the
// file's owner may be able to read or write the file and its directory; the error wraps inventory.ErrExposed where others can.
//
// What is acknowledged is on the disk: SQLite keeps a write-ahead log and syncs it at every write.
func Open(ctx context.Context, path string) (*sqlinventory.Inventory, error) {
	i, err := open(ctx, path, busyTimeout)
	if err != nil {
		return nil, fmt.Errorf("inventory %s: %w", path, err)
	}
	return i, nil
}

func open(ctx context.Context, path string, busy time.Duration) (*sqlinventory.Inventory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := prepareFile(ctx, path); err != nil {
		return nil, err
	}
	db, err := openDatabase(path, busy)
	if err != nil {
		return nil, err
	}
	i, err := openIn(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return i, nil
}

func openDatabase(path string, busy time.Duration) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dataSource(path, busy))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	// SQLite has one writer. In one process writers queue for the connection, in order; with several connections they
	// would poll for the file's lock.
	db.SetMaxOpenConns(1)
	return db, nil
}

func openIn(ctx context.Context, db *sql.DB) (*sqlinventory.Inventory, error) {
	if err := checkDurable(ctx, db); err != nil {
		return nil, err
	}
	return sqlinventory.Open(ctx, db, Dialect())
}

// Dialect is how the inventory speaks to SQLite. Open sets a connection up as the inventory needs it.
func Dialect() sqlinventory.Dialect {
	return sqlinventory.Dialect{
		Migrations: schema,
		HasSchema:  "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'inventory_schema_version'",
		Meaning:    meaning,
	}
}

// dataSource names the file and what every connection to it is set to. A transaction takes the write lock at its
// beginning, where SQLite can wait for it.
func dataSource(path string, busy time.Duration) string {
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // C:/...
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{
		"_busy_timeout": {fmt.Sprint(busy.Milliseconds())},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"1"},
		"_txlock":       {"immediate"},
	}.Encode()}
	return u.String()
}

// checkDurable demands what was asked for: SQLite keeps another journal, without a word, where a file system cannot
// share memory.
func checkDurable(ctx context.Context, db *sql.DB) error {
	var journal string
	var synchronous int
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return named(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return named(err)
	}
	if journal != "wal" || synchronous != synchronousFull {
		return fmt.Errorf("the file system does not let SQLite keep a write-ahead log: journal_mode is %s, synchronous is %d", journal, synchronous)
	}
	return nil
}

// synchronousFull is SQLite's number for PRAGMA synchronous = FULL.
const synchronousFull = 2
