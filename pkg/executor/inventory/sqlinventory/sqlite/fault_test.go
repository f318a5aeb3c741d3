package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

// raw opens a file without the inventory around it.
func raw(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	return db
}

func statement(t testing.TB, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// refuses demands that every write fails with an error, that reads go on, and that nothing was written.
func refuses(t *testing.T, inv inventory.Inventory, row inventory.Row, want error) {
	t.Helper()
	_, createErr := inv.Create(t.Context(), "owner", inventorytest.Identity("i-2"), inventorytest.Snapshot(compose.EmptyDir))
	_, updateErr := inv.Update(t.Context(), row.Holder, row)
	_, takeOverErr := inv.TakeOver(t.Context(), row.Identity.InstanceID, row.Holder, "other")
	for call, err := range map[string]error{"Create": createErr, "Update": updateErr, "TakeOver": takeOverErr} {
		if !errors.Is(err, want) || errors.Is(err, inventory.ErrUncertain) {
			t.Errorf("%s: error %v, want %v", call, err, want)
		}
	}
	rows, err := inv.List(t.Context(), inventory.Filter{})
	if err != nil || len(rows) != 1 || rows[0].Generation != row.Generation {
		t.Errorf("then the rows are %v, %v; want the one of generation %d", rows, err, row.Generation)
	}
}

func TestLocked(t *testing.T) {
	path := newFile(t)
	inv, err := open(t.Context(), path, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer inv.Close() //nolint:errcheck // a test's
	row := create(t, inv, "i-1")
	other := raw(t, dataSource(path, time.Millisecond))
	statement(t, other, "BEGIN IMMEDIATE")
	refuses(t, inv, row, inventory.ErrBusy)
	if _, err := open(t.Context(), path, time.Millisecond); !errors.Is(err, inventory.ErrBusy) {
		t.Errorf("opened while locked: error %v, want %v", err, inventory.ErrBusy)
	}
	statement(t, other, "ROLLBACK")
	if _, err := inv.Update(t.Context(), row.Holder, row); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// TestContextEndsWait lets the context end while another process holds the lock.
func TestContextEndsWait(t *testing.T) {
	path := newFile(t)
	inv := openFile(t, path)
	row := create(t, inv, "i-1")
	other := raw(t, dataSource(path, time.Millisecond))
	statement(t, other, "BEGIN IMMEDIATE")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := inv.Update(ctx, row.Holder, row); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("error %v, want %v and %v", err, context.DeadlineExceeded, inventory.ErrUncertain)
	}
	statement(t, other, "ROLLBACK")
	if got, err := inv.Get(t.Context(), "i-1"); err != nil || got.Generation != 1 {
		t.Errorf("generation %d, %v; want 1", got.Generation, err)
	}
}

// TestReadOnly lets a connection only read, on which SQLite answers as on a file that cannot be written.
func TestReadOnly(t *testing.T) {
	path := newFile(t)
	row := create(t, openFile(t, path), "i-1")
	db := raw(t, dataSource(path, time.Millisecond))
	inv, err := sqlinventory.Open(t.Context(), db, Dialect())
	if err != nil {
		t.Fatal(err)
	}
	statement(t, db, "PRAGMA query_only = 1")
	refuses(t, inv, row, inventory.ErrReadOnly)
	if _, err := sqlinventory.Open(t.Context(), db, Dialect()); !errors.Is(err, inventory.ErrReadOnly) {
		t.Errorf("opened to read: error %v, want %v", err, inventory.ErrReadOnly)
	}
}

// TestFull lets the file have no more pages than it has.
func TestFull(t *testing.T) {
	path := newFile(t)
	row := create(t, openFile(t, path), "i-1")
	inv, err := sqlinventory.Open(t.Context(), raw(t, dataSource(path, time.Millisecond)+"&_pragma=max_page_count(1)"), Dialect())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1000 { // until the pages that there are have no more room
		id := inventorytest.Identity("filler-" + string(rune('a'+n%26)) + time.Duration(n).String())
		if _, err = inv.Create(t.Context(), "owner", id, inventorytest.Snapshot(compose.EmptyDir)); err != nil {
			break
		}
	}
	if !errors.Is(err, inventory.ErrFull) || errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("error %v, want %v", err, inventory.ErrFull)
	}
	if got, err := inv.Get(t.Context(), "i-1"); err != nil || got.Generation != row.Generation {
		t.Errorf("generation %d, %v; want %d", got.Generation, err, row.Generation)
	}
}

// TestNotADatabase opens files that are none of ours.
func TestNotADatabase(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		want    error
	}{
		"text":           {bytes.Repeat([]byte("not a database\n"), 1000), inventory.ErrCorrupt},
		"zeros":          {make([]byte, 8192), inventory.ErrCorrupt},
		"half a header":  {[]byte("SQLite format 3\x00\x10"), inventory.ErrCorrupt},
		"an empty file":  {nil, nil},
		"another header": {append([]byte("SQLite format 4\x00"), make([]byte, 8192)...), inventory.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			inv, err := Open(t.Context(), path)
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if err == nil {
				inv.Close() //nolint:errcheck // opened to see whether it can be
				return
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, test.content) {
				t.Errorf("the file was changed, or cannot be read: %v", err)
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.MkdirAll(filepath.Join(dir, "inventory.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "inventory.db")); !errors.Is(err, inventory.ErrReadOnly) {
		t.Errorf("a directory: error %v, want %v", err, inventory.ErrReadOnly)
	}
}

// TestCorruptPages overwrites every page of the table, one at a time.
func TestCorruptPages(t *testing.T) {
	path := newFile(t)
	inv := openFile(t, path)
	for _, id := range []string{"i-1", "i-2", "i-3"} {
		create(t, inv, id)
	}
	if err := inv.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	noticed := 0
	for at := 0; at < len(good); at += page {
		bad := bytes.Clone(good)
		copy(bad[at:], bytes.Repeat([]byte{0xa5}, page))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(t, path); err != nil {
			noticed++
			if !errors.Is(err, inventory.ErrCorrupt) {
				t.Errorf("page %d: error %v, want %v", at/page+1, err, inventory.ErrCorrupt)
			}
		}
	}
	// A page that only says which versions the schema had, or is free, need not be noticed.
	if pages := len(good) / page; noticed < pages/2 {
		t.Errorf("of %d pages %d were noticed", pages, noticed)
	}
}

// readAll opens a file and reads all that is in it.
func readAll(t *testing.T, path string) error {
	t.Helper()
	inv, err := Open(t.Context(), path)
	if err != nil {
		return err
	}
	defer inv.Close() //nolint:errcheck // a test's
	rows, err := inv.List(t.Context(), inventory.Filter{})
	if err != nil {
		return err
	}
	if len(rows) != 3 {
		t.Errorf("there are %d rows without an error, want 3", len(rows))
	}
	for _, row := range rows {
		if _, err := inv.Snapshot(t.Context(), row.Identity.InstanceID); err != nil {
			return err
		}
	}
	return nil
}

// TestCorruptRows changes a row behind the inventory's back.
func TestCorruptRows(t *testing.T) {
	for _, change := range []string{
		"state = 'resting'",
		"generation = 0",
		"epoch = 9",
		"owner = 'no name'",
		"task_id = ''",
		"pod_uid = '00000000-0000-4000-8000-000000000009'",
		"intents = ''",
		"intents = 'null'",
		"intents = ' []'",
		"intents = '[] []'",
		`intents = '[{"secret":"x"}]'`,
		"workspace_mode = 'managed_pvc', state = 'scheduling'",
		"control_port = 4294967297",
		"control_port = -4294967296",
		"snapshot_sha256 = 'x'",
		"failure_code = 'the password is wrong'",
	} {
		t.Run(change, func(t *testing.T) {
			path := newFile(t)
			inv := openFile(t, path)
			row := create(t, inv, "i-1")
			create(t, inv, "i-2")
			statement(t, raw(t, dataSource(path, time.Second)), "UPDATE executors_running SET "+change+" WHERE instance_id = 'i-1'")
			_, getErr := inv.Get(t.Context(), "i-1")
			_, listErr := inv.List(t.Context(), inventory.Filter{})
			_, updateErr := inv.Update(t.Context(), row.Holder, row)
			_, takeOverErr := inv.TakeOver(t.Context(), "i-1", row.Holder, "other")
			deleteErr := inv.Delete(t.Context(), row.Holder, "i-1", row.Generation)
			for call, err := range map[string]error{"Get": getErr, "List": listErr, "Update": updateErr, "TakeOver": takeOverErr, "Delete": deleteErr} {
				if !errors.Is(err, inventory.ErrCorrupt) {
					t.Errorf("%s: error %v, want %v", call, err, inventory.ErrCorrupt)
				}
			}
			if _, err := inv.Get(t.Context(), "i-2"); err != nil {
				t.Errorf("the other row: %v", err)
			}
		})
	}
}

// TestCorruptSnapshots changes a launch snapshot behind the inventory's back.
func TestCorruptSnapshots(t *testing.T) {
	path := newFile(t)
	inv := openFile(t, path)
	create(t, inv, "i-1")
	db := raw(t, dataSource(path, time.Second))
	for _, change := range []string{
		"UPDATE launch_snapshots SET encoded = replace(encoded, 'agent:1', 'agent:2')",
		"UPDATE launch_snapshots SET encoded = ''",
		"DELETE FROM launch_snapshots",
	} {
		statement(t, db, change)
		if _, err := inv.Snapshot(t.Context(), "i-1"); !errors.Is(err, inventory.ErrCorrupt) {
			t.Errorf("%s: error %v, want %v", change, err, inventory.ErrCorrupt)
		}
	}
}
