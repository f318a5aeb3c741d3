package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// creating is held while a file is made. A process that closes a file loses its POSIX locks on it, also those that
// SQLite took through another descriptor; so a file that is there is never opened here, and one that is being made
// is not left to SQLite before it is closed.
var creating sync.Mutex

// prepareFile makes the database's file and the directories above it where they are missing, so that they outlive a
// loss of power, and checks that other users are kept out. SQLite gives the files beside it the same mode.
func prepareFile(path string) error {
	creating.Lock()
	defer creating.Unlock()
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return err
	}
	if err := createFile(path); err != nil {
		return err
	}
	return errors.Join(checkPrivate(dir), checkPrivate(path))
}

// makeDir is os.MkdirAll of directories that are the owner's alone.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
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

func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir writes a directory's entries to the disk; Windows does so by itself and lets nobody ask.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkPrivate demands that only the owner has permissions. On Windows the mode says nothing of that.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: %s has mode %04o; take the others' permissions away", inventory.ErrExposed, path, mode)
	}
	return nil
}
