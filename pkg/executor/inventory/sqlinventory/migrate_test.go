package sqlinventory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/kandev/kandev-podlint/internal/postgrestest"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/postgres"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// onEach runs a test on each database, which is empty. connect opens a new connection pool to it.
func onEach(t *testing.T, test func(t *testing.T, d sqlinventory.Dialect, connect func() *sql.DB)) {
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "inventory.db")
		test(t, sqlite.Dialect(), func() *sql.DB {
			db, err := sql.Open("sqlite", path+"?_busy_timeout=60000&_journal_mode=WAL&_txlock=immediate&_foreign_keys=1")
			return pool(t, db, err)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		config, err := pgx.ParseConfig(postgrestest.Database(t))
		if err != nil {
			t.Fatal(err)
		}
		test(t, postgres.Dialect(), func() *sql.DB { return pool(t, stdlib.OpenDB(*config), nil) })
	})
}

func pool(t *testing.T, db *sql.DB, err error) *sql.DB {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	return db
}

// versions returns the first migrations of a dialect.
func versions(t *testing.T, d sqlinventory.Dialect, n int) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	for v := 1; v <= n; v++ {
		name := fmt.Sprintf("schema/%d.sql", v)
		data, err := fs.ReadFile(d.Migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: data}
	}
	return out
}

// latest returns the newest version that a dialect knows.
func latest(t *testing.T, d sqlinventory.Dialect) int {
	t.Helper()
	files, err := fs.Glob(d.Migrations, "schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestOlderVersions opens a database of each version that there ever was, with the rows that a program of that version wrote. Whoever
// adds a version adds its rows: testdata/rows-N.sql.
func TestOlderVersions(t *testing.T) {
	onEach(t, func(t *testing.T, d sqlinventory.Dialect, connect func() *sql.DB) {
		for v := 1; v <= latest(t, d); v++ {
			t.Run(fmt.Sprint(v), func(t *testing.T) {
				rows, err := os.ReadFile(fmt.Sprintf("testdata/rows-%d.sql", v))
				if err != nil {
					t.Fatal(err)
				}
				old := d
				old.Migrations = versions(t, d, v)
				db := connect()
				if _, err := sqlinventory.Open(t.Context(), db, old); err != nil {
					t.Fatal(err)
				}
				if _, err := db.ExecContext(t.Context(), string(rows)); err != nil {
					t.Fatal(err)
				}
				inv, err := sqlinventory.Open(t.Context(), connect(), d)
				if err != nil {
					t.Fatal(err)
				}
				checkRows(t, inv)
			})
		}
	})
}

// checkRows demands the rows of testdata/rows-N.sql, which are those of inventorytest.Lifecycle after each step, as far as the
// version knows them.
func checkRows(t *testing.T, inv inventory.Inventory) {
	t.Helper()
	got, err := inv.List(t.Context(), inventory.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := lifecycles(t)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for _, row := range got {
		id := row.Identity.InstanceID
		expected := want[id]
		expected.CreatedAt, expected.UpdatedAt = row.CreatedAt, row.UpdatedAt
		if diff := cmp.Diff(expected, row); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if s, err := inv.Snapshot(t.Context(), id); err != nil || s.SHA256() != row.SnapshotSHA256 {
			t.Errorf("instance %s: launch snapshot: %v", id, err)
		}
	}
}

// lifecycles returns a row for each step of each lifecycle.
func lifecycles(t *testing.T) map[string]inventory.Row {
	t.Helper()
	out := map[string]inventory.Row{}
	for _, mode := range compose.WorkspaceModes() {
		for n := range len(inventorytest.Lifecycle(mode)) + 1 {
			id := fmt.Sprintf("%s-%02d", mode, n)
			row, err := inventory.NewRow("owner", inventorytest.Identity(id), inventorytest.Snapshot(mode))
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range inventorytest.Lifecycle(mode)[:n] {
				step.Change(&row)
				row.Generation++
			}
			out[id] = row
		}
	}
	return out
}

// TestRowsOfThisVersion demands that rows of the newest version are kept for the programs to come, and that this program
// still writes them so. INVENTORY_WRITE_ROWS=1 writes those of a version that has none.
func TestRowsOfThisVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "inventory.db")
	inv, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer inv.Close() //nolint:errcheck // a test's
	for id, want := range lifecycles(t) {
		row, err := inv.Create(t.Context(), "owner", inventorytest.Identity(id), inventorytest.Snapshot(want.WorkspaceMode))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range inventorytest.Lifecycle(want.WorkspaceMode)[:want.Generation-1] {
			step.Change(&row)
			if row, err = inv.Update(t.Context(), row.Holder, row); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := sql.Open("sqlite", path)
	got := dump(t, pool(t, db, err))
	file := fmt.Sprintf("testdata/rows-%d.sql", latest(t, sqlite.Dialect()))
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("INVENTORY_WRITE_ROWS") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

// dump writes all rows as statements, with times that are always the same.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	return dumpTable(t, db, "executors_running") + dumpTable(t, db, "launch_snapshots")
}

func dumpTable(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	var columns, quoted string
	err := db.QueryRowContext(t.Context(), `SELECT group_concat(name, ', '),
		group_concat(CASE WHEN name LIKE '%_at' THEN '1800000000000000' ELSE 'quote(' || name || ')' END, ' || '', '' || ')
		FROM pragma_table_info($1)`, table).Scan(&columns, &quoted)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT "+quoted+" FROM "+table+" ORDER BY instance_id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err says what there is to say
	var out strings.Builder
	for rows.Next() {
		var values string
		if err := rows.Scan(&values); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "INSERT INTO %s (%s) VALUES (%s);\n", table, columns, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMigrate takes a database through schemas that are made up, one that fails among them.
func TestMigrate(t *testing.T) {
	onEach(t, func(t *testing.T, d sqlinventory.Dialect, connect func() *sql.DB) {
		known := func(scripts ...string) sqlinventory.Dialect {
			files := versions(t, d, 1).(fstest.MapFS) //nolint:forcetypeassert // made above
			for n, script := range scripts {
				files[fmt.Sprintf("schema/%d.sql", 2+n)] = &fstest.MapFile{Data: []byte(script)}
			}
			next := d
			next.Migrations = files
			return next
		}
		db := connect()
		open := func(d sqlinventory.Dialect) error {
			_, err := sqlinventory.Open(t.Context(), db, d)
			return err
		}
		wantVersions := func(want ...int) {
			t.Helper()
			if diff := cmp.Diff(want, versionsOf(t, db)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}

		if err := open(d); err != nil {
			t.Fatal(err)
		}
		wantVersions(1)
		// A script that fails takes back itself and those before it.
		if err := open(known("CREATE TABLE second (a TEXT);", "CREATE TABLE third (a TEXT); INSERT INTO nowhere VALUES (1);")); err == nil {
			t.Error("a script that fails was accepted")
		}
		wantVersions(1)
		if err := open(known("CREATE TABLE second (a TEXT);", "ALTER TABLE second ADD COLUMN b TEXT; INSERT INTO second VALUES ('x', 'y');")); err != nil {
			t.Fatal(err)
		}
		wantVersions(1, 2, 3)
		var a, b string
		if err := db.QueryRowContext(t.Context(), "SELECT a, b FROM second").Scan(&a, &b); err != nil || a != "x" || b != "y" {
			t.Errorf("the scripts made %q, %q, %v", a, b, err)
		}
		// A program that knows less leaves it alone.
		var schema *inventory.SchemaError
		if err := open(d); !errors.As(err, &schema) || *schema != (inventory.SchemaError{Have: 3, Known: 1}) {
			t.Errorf("error %v, want a *SchemaError of 3 and 1", err)
		}
		wantVersions(1, 2, 3)
	})
}

// TestMigrateAtOnce opens an empty database many times at once.
func TestMigrateAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, d sqlinventory.Dialect, connect func() *sql.DB) {
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 12 {
			db := connect()
			if err := db.PingContext(context.Background()); err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				<-start
				if _, err := sqlinventory.Open(t.Context(), db, d); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
		if diff := cmp.Diff([]int{1}, versionsOf(t, connect())); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// versionsOf returns the versions that a database has been through.
func versionsOf(t *testing.T, db *sql.DB) []int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT version FROM inventory_schema_version ORDER BY version")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err says what there is to say
	var out []int
	for rows.Next() {
		var v int
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
