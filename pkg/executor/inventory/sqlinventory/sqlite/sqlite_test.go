package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory"
)

func TestInventory(t *testing.T) {
	inventorytest.Run(t, func(t *testing.T) inventory.Inventory { return openFile(t, newFile(t)) })
}

// newFile returns the name of a file that does not exist, in a directory that does not exist.
func newFile(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "inventory.db")
}

// openFile opens an inventory for as long as the test runs.
func openFile(t testing.TB, path string) *sqlinventory.Inventory {
	t.Helper()
	inv, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inv.Close() }) //nolint:errcheck // some tests close it before
	return inv
}

func BenchmarkInventory(b *testing.B) {
	inventorytest.Benchmark(b, func(b *testing.B) inventory.Inventory { return openFile(b, newFile(b)) })
}
