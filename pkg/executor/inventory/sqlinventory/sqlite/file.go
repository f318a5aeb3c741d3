package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// prepareFile makes the database's file and the directories above it where they are missing, so that they outlive a
// loss of power, and checks that other users are kept out. SQLite gives the files beside it the same mode.
func prepareFile(ctx context.Context, path string) error {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return err
	}
	// A file that is there is not opened here: closing it would take away the locks that SQLite holds on it elsewhere in
	// this process, as POSIX has it.
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the caller says where, here and below
		if err := createFile(ctx, path); err != nil {
			return err
		}
	}
	return errors.Join(checkPrivate(dir), checkPrivate(path))
}

// makeDir is os.MkdirAll of directories that are the owner's alone.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700) //nolint:gosec // likewise
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		return makeDir(dir)
	case err != nil:
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// createFile makes an empty database under another name and gives it its own when it is whole. Whoever opens it so finds the
// write-ahead log switched on: two processes that switch it on at once would lock each other out.
func createFile(ctx context.Context, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // its content has another name by then, or is of no use
	if err := f.Close(); err != nil {
		return err
	}
	db, err := openDatabase(f.Name(), busyTimeout)
	if err != nil {
		return err
	}
	if err := errors.Join(checkDurable(ctx, db), db.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir writes a directory's entries to the disk; Windows does so by itself and lets nobody ask.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // likewise
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkPrivate demands that only the owner has permissions. On Windows the mode says nothing of that.
func checkPrivate(path string) error {
	info, err := os.Stat(path) //nolint:gosec // likewise
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: %s has mode %04o; take the others' permissions away", inventory.ErrExposed, path, mode)
	}
	return nil
}
