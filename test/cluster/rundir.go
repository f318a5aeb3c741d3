package cluster

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// makeDir makes a new directory for a cluster. Its lock, which is returned, is free when nothing of the cluster
// runs any more: so the locks of the directories in stale, of clusters whose guard was killed, which are returned
// too.
func makeDir(root string) (dir string, held *os.File, stale []*os.File, err error) {
	run := filepath.Join(root, "run")
	if err := os.MkdirAll(run, 0o755); err != nil {
		return "", nil, nil, err
	}
	unlock, err := lock(run + ".lock") // nobody sees a new directory before it is locked
	if err != nil {
		return "", nil, nil, err
	}
	defer unlock()
	dirs, err := filepath.Glob(filepath.Join(run, "*"))
	if err != nil {
		return "", nil, nil, err
	}
	for _, dir := range dirs {
		if f, err := tryLock(dir); err == nil {
			stale = append(stale, f)
		}
	}
	if dir, err = os.MkdirTemp(run, ""); err != nil {
		return "", nil, stale, err
	}
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		return "", nil, stale, err
	}
	held, err = tryLock(dir)
	return dir, held, stale, err
}

// removeStale removes the directories of the locks, and their cgroups.
func removeStale(stale []*os.File) error {
	var errs []error
	for _, f := range stale {
		errs = append(errs, supervise.Remove(filepath.Dir(f.Name())), f.Close())
	}
	return errors.Join(errs...)
}

// tryLock takes a cluster's lock, or returns an error when it is taken.
func tryLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
