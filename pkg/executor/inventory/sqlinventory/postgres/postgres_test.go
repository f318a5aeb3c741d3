package postgres

import (
	"os"
	"testing"

	"github.com/kandev/kandev-podlint/internal/postgrestest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

func TestInventory(t *testing.T) {
	inventorytest.Run(t, func(t *testing.T) inventory.Inventory { return openDatabase(t, postgrestest.Database(t)) })
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
