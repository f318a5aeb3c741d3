package supervise

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of programs whose runner was killed.
func adoptOrphans() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// reapOrphans waits until all adopted processes have ended. They were killed with their parent.
func reapOrphans() {
	for {
		_, err := unix.Wait4(-1, nil, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// runnerAttr ends the runner with the guard, and gives a node's runner its namespaces.
func runnerAttr(node bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if node {
		attr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC
	}
	return attr
}

// programAttr ends a program with the runner.
func programAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// cldStopped is CLD_STOPPED of siginfo(2).
const cldStopped = 5

// awaitStopped returns when a child that was sent SIGSTOP has stopped, which takes a while on a busy machine: each
// of its threads stops when it is scheduled next, and the kernel reports the process when the last one has.
func awaitStopped(pid int) error {
	for {
		var info unix.Siginfo
		// WNOWAIT leaves its end to whoever waits for that, and the report to the next who asks.
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD), err == nil && info.Code != cldStopped:
			return os.ErrProcessDone
		default:
			return err
		}
	}
}

// cgroupMounts returns where the cgroup hierarchies are mounted: one with version 2, one for each controller with
// version 1.
func cgroupMounts() ([]string, error) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var mounts []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if fields[2] == "cgroup" || fields[2] == "cgroup2" {
			mounts = append(mounts, fields[1])
		}
	}
	slices.Sort(mounts)
	return slices.Compact(mounts), lines.Err()
}
