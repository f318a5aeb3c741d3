package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// detachedFile, in a cluster's directory, holds the process ID of its guard.
const detachedFile = "detached"

// Detach lets the cluster outlive the calling process, until EndDetached.
func (c *Cluster) Detach() error {
	pid := strconv.Itoa(c.supervisor.guard.Process.Pid)
	if err := os.WriteFile(c.file(detachedFile), []byte(pid), 0o600); err != nil {
		return err
	}
	return c.supervisor.do(supervise.Request{Op: supervise.Detach})
}

// EndDetached ends all clusters that were detached, returns when nothing of them is left, and says how many there
// were.
func EndDetached(ctx context.Context) (int, error) {
	root, err := cacheDir()
	if err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(root, "run", "*", detachedFile))
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, endDetached(ctx, filepath.Dir(file)))
	}
	return len(files), errors.Join(errs...)
}

func endDetached(ctx context.Context, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, detachedFile))
	if err != nil {
		return err
	}
	guard, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	if held, err := tryLock(dir); err == nil { // its guard was killed, and the number may be another process's
		defer func() { _ = held.Close() }()
		return supervise.Remove(dir)
	}
	if err := syscall.Kill(guard, syscall.SIGTERM); err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, closeTimeout, true, func(context.Context) (bool, error) {
		_, err := os.Stat(dir)
		return os.IsNotExist(err), nil
	})
	if err != nil {
		return fmt.Errorf("the cluster in %s does not end: %w", dir, err)
	}
	return nil
}
