package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/kandev/kandev-podlint/internal/postgrestest"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

func TestInventory(t *testing.T) {
	inventorytest.Run(t, func(t *testing.T) inventory.Inventory { return openDatabase(t, postgrestest.Database(t)) })
}

func BenchmarkInventory(b *testing.B) {
	inventorytest.Benchmark(b, func(b *testing.B) inventory.Inventory { return openDatabase(b, postgrestest.Database(b)) })
}

// openDatabase opens an inventory for as long as the test runs.
func openDatabase(t testing.TB, database string) *sqlinventory.Inventory {
	t.Helper()
	inv, err := Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inv.Close() }) //nolint:errcheck // some tests close it before
	return inv
}

// raw opens a database without the inventory around it.
func raw(t *testing.T, database string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	return db
}

func create(t *testing.T, inv inventory.Inventory, instanceID string) inventory.Row {
	t.Helper()
	row, err := inv.Create(t.Context(), "owner", inventorytest.Identity(instanceID), inventorytest.Snapshot(compose.EmptyDir))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestTwoBackends opens one database twice, as two backends do.
func TestTwoBackends(t *testing.T) {
	database := postgrestest.Database(t)
	a, b := openDatabase(t, database), openDatabase(t, database)
	row := create(t, a, "i-1")
	taken, err := b.TakeOver(t.Context(), "i-1", row.Holder, "other")
	if err != nil {
		t.Fatal(err)
	}
	var fenced *inventory.FencedError
	if _, err := a.Update(t.Context(), row.Holder, row); !errors.As(err, &fenced) || fenced.Have != taken.Holder {
		t.Errorf("error %v, want that it is fenced by %v", err, taken.Holder)
	}
}

// TestCommitToDisk opens databases whose settings wait for less than the disk, and for more: the server's own is off.
func TestCommitToDisk(t *testing.T) {
	database := postgrestest.Database(t)
	for option, want := range map[string]string{
		"":                                 "on",
		"&synchronous_commit=off":          "on",
		"&synchronous_commit=remote_apply": "remote_apply",
	} {
		t.Run(option, func(t *testing.T) {
			db, err := connect(database + option)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // a test's
			var got string
			if err := db.QueryRowContext(t.Context(), "SHOW synchronous_commit").Scan(&got); err != nil || got != want {
				t.Errorf("it is %s, %v; want %s", got, err, want)
			}
		})
	}
}

// TestBlocked lets another transaction hold the row.
func TestBlocked(t *testing.T) {
	database := postgrestest.Database(t)
	inv := openDatabase(t, database+"&lock_timeout=1")
	row := create(t, inv, "i-1")
	other := raw(t, database)
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // rolled back below
	if _, err := tx.ExecContext(t.Context(), "SELECT FROM executors_running FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := inv.Update(t.Context(), row.Holder, row); !errors.Is(err, inventory.ErrBusy) || errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("error %v, want %v", err, inventory.ErrBusy)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := inv.Update(t.Context(), row.Holder, row); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// TestConnectionLost ends the connection while a write waits on it: the write is uncertain, and the next finds another
// connection.
func TestConnectionLost(t *testing.T) {
	database := postgrestest.Database(t)
	inv := openDatabase(t, database+"&application_name=lost")
	row := create(t, inv, "i-1")
	other := raw(t, database)
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // rolled back below
	if _, err := tx.ExecContext(t.Context(), "SELECT FROM executors_running FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := inv.Update(t.Context(), row.Holder, row)
		done <- err
	}()
	for ended := false; !ended; { // until it waits for the lock
		err := other.QueryRowContext(t.Context(), `SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_stat_activity
			WHERE application_name = 'lost' AND wait_event_type = 'Lock'`).Scan(&ended)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; !errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("error %v, want %v", err, inventory.ErrUncertain)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := inv.Update(t.Context(), row.Holder, row); err != nil {
		t.Errorf("on another connection: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	database := postgrestest.Database(t)
	row := create(t, openDatabase(t, database), "i-1")
	inv := openDatabase(t, database+"&default_transaction_read_only=on")
	if _, err := inv.Update(t.Context(), row.Holder, row); !errors.Is(err, inventory.ErrReadOnly) || errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("error %v, want %v", err, inventory.ErrReadOnly)
	}
}

// TestUnprivileged lets a role that may only change rows use tables that another has made.
func TestUnprivileged(t *testing.T) {
	database := postgrestest.Database(t)
	create(t, openDatabase(t, database), "i-1")
	if _, err := raw(t, database).ExecContext(t.Context(), `CREATE ROLE backend LOGIN;
		DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO backend', current_schema()); END $$;
		GRANT SELECT, INSERT, UPDATE, DELETE ON executors_running, launch_snapshots TO backend;
		GRANT SELECT ON inventory_schema_version TO backend;`); err != nil {
		t.Fatal(err)
	}
	inv := openDatabase(t, strings.Replace(database, "user=test", "user=backend", 1))
	create(t, inv, "i-2")
}

// TestNoPasswordInErrors fails to connect, and to understand what it should connect to.
func TestNoPasswordInErrors(t *testing.T) {
	for _, database := range []string{
		"postgres://someone:CANARY@" + url(t) + "/none",
		"postgres://someone:CANARY@host:port:/none",
		"host=" + t.TempDir() + " password=CANARY sslmode=wrong",
	} {
		_, err := Open(t.Context(), database)
		if err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("error %v, want one without the password", err)
		}
		if errors.Is(err, inventory.ErrUncertain) {
			t.Errorf("error %v: nothing was sent", err)
		}
	}
}

// url returns an address at which nothing listens.
func url(t *testing.T) string {
	t.Helper()
	return strings.ReplaceAll(t.TempDir(), "/", "%2F")
}

// TestNoSecretsOnDisk offers credentials to the inventory and looks for them in all files of the server, its write-ahead log
// among them.
func TestNoSecretsOnDisk(t *testing.T) {
	database := postgrestest.Database(t)
	inventorytest.OfferSecrets(t, openDatabase(t, database))
	db := raw(t, database)
	var dir string
	if err := db.QueryRowContext(t.Context(), "SHOW data_directory").Scan(&dir); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	written := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // the server tidies up
			return nil
		}
		if strings.Contains(string(data), "CANARY") {
			t.Errorf("%s holds a credential", path)
		}
		if strings.Contains(string(data), "provisioning-storage") {
			written++
		}
		return err
	})
	if err != nil || written < 2 { // a table and the log
		t.Errorf("what was written is in %d files, %v; want 2 or more", written, err)
	}
}

// TestMeaning holds the codes that no test here provokes.
func TestMeaning(t *testing.T) {
	for _, test := range []struct {
		err  error
		want error
	}{
		{&pgconn.PgError{Code: "53100", SeverityUnlocalized: "ERROR"}, inventory.ErrFull},
		{&pgconn.PgError{Code: "53100", SeverityUnlocalized: "PANIC"}, inventory.ErrUncertain},
		{&pgconn.PgError{Code: "XX001", SeverityUnlocalized: "ERROR"}, inventory.ErrCorrupt},
		{&pgconn.PgError{Code: "40P01", SeverityUnlocalized: "ERROR"}, inventory.ErrBusy},
		{&pgconn.PgError{Code: "42501", SeverityUnlocalized: "ERROR"}, nil},
		{&pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}, inventory.ErrUncertain},
		{context.DeadlineExceeded, inventory.ErrUncertain},
	} {
		if got := meaning(test.err); !errors.Is(got, test.want) {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
