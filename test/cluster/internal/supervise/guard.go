package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// removeTimeout bounds the wait for cgroups whose processes have just ended.
const removeTimeout = 20 * time.Second

// Guard runs a runner with the same config and cleans up after it.
func Guard(configFile string) error {
	c, err := ReadConfig(configFile)
	if err != nil {
		return err
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	// Only SIGTERM ends a cluster by force: Ctrl-C means the program that holds the pipe.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)

	self, err := os.Executable()
	if err != nil {
		return err
	}
	runner := exec.Command(self, "run", configFile)
	runner.Stdin, runner.Stdout, runner.Stderr = os.Stdin, os.Stdout, os.Stderr
	runner.ExtraFiles = []*os.File{os.NewFile(lockFD, "lock"), os.NewFile(socketFD, "socket")}
	defer runtime.KeepAlive(runner) // and with it the lock
	runner.SysProcAttr = runnerAttr(c.Network != "")
	if err := runner.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting the runner: %w", err), Remove(c.Dir))
	}
	_ = json.NewEncoder(os.Stdout).Encode(Reply{Runner: runner.Process.Pid})
	_ = os.Stdin.Close()
	_ = os.Stdout.Close()

	go func() {
		<-terminate
		_ = runner.Process.Kill()
	}()
	ended := runner.Wait()
	reapOrphans()
	return errors.Join(ended, Remove(c.Dir))
}

// Remove removes the cgroups and the directory of a cluster of which no process is left.
func Remove(dir string) error {
	mounts, err := cgroupMounts()
	if err != nil {
		return err
	}
	for _, mount := range mounts {
		if err := removeCgroup(filepath.Join(mount, Cgroup(dir))); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// removeCgroup removes a cgroup and those below it. The kernel refuses as long as a process that has ended is
// still accounted for.
func removeCgroup(dir string) error {
	deadline := time.Now().Add(removeTimeout)
	for {
		err := removeTree(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// removeTree removes directories only: the files of a cgroup go with it.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return syscall.Rmdir(dir)
}
