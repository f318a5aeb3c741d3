//go:build !linux

package supervise

import (
	"errors"
	"syscall"
)

func adoptOrphans() error { return nil }

func reapOrphans() {}

func runnerAttr(bool) *syscall.SysProcAttr { return nil }

func programAttr() *syscall.SysProcAttr { return nil }

// awaitStopped does not wait where a stopped child cannot be asked for without taking away its end from who waits.
func awaitStopped(int) error { return nil }

func cgroupMounts() ([]string, error) { return nil, nil }

func enterNode(Config) error { return errors.ErrUnsupported }
