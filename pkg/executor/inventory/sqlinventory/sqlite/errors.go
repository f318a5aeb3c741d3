package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// meaning implements sqlinventory.Dialect by SQLite's result codes, https://www.sqlite.org/rescode.html.
func meaning(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return inventory.ErrUncertain // the context ended, perhaps after the commit
	}
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return inventory.ErrExists
	}
	switch e.Code() & 0xff { // without what makes it an extended code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return inventory.ErrBusy
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return inventory.ErrReadOnly
	case sqlite3.SQLITE_FULL:
		return inventory.ErrFull
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return inventory.ErrCorrupt
	case sqlite3.SQLITE_IOERR:
		return inventory.ErrUncertain
	}
	return nil
}

// named puts the meaning before an error of opening.
func named(err error) error {
	if m := meaning(err); m != nil && !errors.Is(m, inventory.ErrUncertain) {
		return fmt.Errorf("%w: %w", m, err)
	}
	return err
}
