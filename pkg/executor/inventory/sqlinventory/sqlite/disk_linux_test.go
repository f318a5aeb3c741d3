package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// mount returns a directory that is a small file system of its own. Only root may have one.
func mount(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestDiskFull writes until a real disk is full: what was acknowledged is there, also after opening it again, and when there
// is room again it can be written.
func TestDiskFull(t *testing.T) {
	dir := mount(t, "size=512k,mode=0700")
	path := filepath.Join(dir, "inventory.db")
	inv := openFile(t, path)
	written := 0
	var err error
	for ; written < 10000; written++ {
		id := inventorytest.Identity(fmt.Sprintf("i-%d", written))
		if _, err = inv.Create(t.Context(), "owner", id, inventorytest.Snapshot(compose.EmptyDir)); err != nil {
			break
		}
	}
	if !errors.Is(err, inventory.ErrFull) || errors.Is(err, inventory.ErrUncertain) {
		t.Errorf("after %d rows: error %v, want %v", written, err, inventory.ErrFull)
	}
	count := func(when string) {
		if rows, err := inv.List(t.Context(), inventory.Filter{}); err != nil || len(rows) != written {
			t.Errorf("%s: %d rows, %v; want %d", when, len(rows), err, written)
		}
	}
	count("full")
	if err := inv.Close(); err != nil {
		t.Logf("close: %v", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	inv = openFile(t, path)
	count("with room")
	create(t, inv, "one-more")
}

// TestDiskReadOnly opens a file on a disk that was made read-only.
func TestDiskReadOnly(t *testing.T) {
	dir := mount(t, "mode=0700")
	path := filepath.Join(dir, "inventory.db")
	inv := openFile(t, path)
	create(t, inv, "i-1")
	if err := inv.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "mode=0700"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, inventory.ErrReadOnly) {
		t.Errorf("error %v, want %v", err, inventory.ErrReadOnly)
	}
}
