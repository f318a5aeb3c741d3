package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// TestFileModes demands that the directories, the file and those that SQLite puts beside it are the owner's alone, and
// that names which mean something in a URL are names like any other.
func TestFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	root := filepath.Join(t.TempDir(), "state ?mode=memory#%41")
	path := filepath.Join(root, "below", "a&b=c.db")
	inv := openFile(t, path)
	create(t, inv, "i-1")
	got := map[string]string{}
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			got[strings.TrimPrefix(path, root)] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"":                    "drwx------",
		"/below":              "drwx------",
		"/below/a&b=c.db":     "-rw-------",
		"/below/a&b=c.db-wal": "-rw-------",
		"/below/a&b=c.db-shm": "-rw-------",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestExposed opens what others can read or write.
func TestExposed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	path := newFile(t)
	if err := openFile(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path string
		mode os.FileMode
		want error
	}{
		{path, 0o640, inventory.ErrExposed},
		{path, 0o602, inventory.ErrExposed},
		{path, 0o600, nil},
		{filepath.Dir(path), 0o755, inventory.ErrExposed},
		{filepath.Dir(path), 0o700, nil},
	} {
		if err := os.Chmod(test.path, test.mode); err != nil {
			t.Fatal(err)
		}
		inv, err := Open(t.Context(), path)
		if !errors.Is(err, test.want) {
			t.Errorf("mode %o: error %v, want %v", test.mode, err, test.want)
		}
		if err == nil {
			inv.Close() //nolint:errcheck // opened to see whether it can be
		}
	}
}

// TestTwoHandles opens one file twice in a process: closing one handle leaves the other its locks, and each
// sees what the other wrote.
func TestTwoHandles(t *testing.T) {
	path := newFile(t)
	a, b := openFile(t, path), openFile(t, path)
	row := create(t, a, "i-1")
	if err := openFile(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	taken, err := b.TakeOver(t.Context(), "i-1", row.Holder, "other")
	if err != nil {
		t.Fatal(err)
	}
	var fenced *inventory.FencedError
	if _, err := a.Update(t.Context(), row.Holder, row); !errors.As(err, &fenced) || fenced.Have != taken.Holder {
		t.Errorf("error %v, want that it is fenced by %v", err, taken.Holder)
	}
}

// TestNoSecretsInFiles offers credentials to the inventory and looks for them in the bytes of its files, while they are
// in use and after.
func TestNoSecretsInFiles(t *testing.T) {
	path := newFile(t)
	inv := openFile(t, path)
	inventorytest.OfferSecrets(t, inv)
	search := func(when string) {
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			data, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if strings.Contains(string(data), "CANARY") {
				t.Errorf("%s: %s holds a credential", when, file)
			}
		}
	}
	if data, err := os.ReadFile(path + "-wal"); err != nil || !strings.Contains(string(data), "session-1") {
		t.Fatalf("the log does not hold what was written: %v", err)
	}
	search("in use")
	if err := inv.Close(); err != nil {
		t.Fatal(err)
	}
	search("closed")
}

// create creates a row, in mode empty_dir where none is given.
func create(t testing.TB, inv inventory.Inventory, instanceID string, mode ...compose.WorkspaceMode) inventory.Row {
	t.Helper()
	row, err := inv.Create(t.Context(), "owner", inventorytest.Identity(instanceID), inventorytest.Snapshot(append(mode, compose.EmptyDir)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestCreateFile demands that a new file keeps a write-ahead log before anyone opens it, which its header says
// (https://www.sqlite.org/fileformat.html#file_format_version_numbers), and that nothing else is left beside it.
func TestCreateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inventory.db")
	if err := createFile(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < 20 || data[18] != 2 || data[19] != 2 {
		t.Errorf("the file has %d bytes, %v; want a header with the versions of a write-ahead log", len(data), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
	if err := createFile(t.Context(), path); err != nil {
		t.Errorf("where another process was faster: %v", err)
	}
}
