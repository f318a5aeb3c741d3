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

func cgroupMounts() ([]string, error) { return nil, nil }

func enterNode(Config) error { return errors.ErrUnsupported }
