// Command supervise is started by package cluster; see package supervise.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// Processes are started from the main thread alone, which lives as long as this process: their parent-death
// signal comes with the end of the thread that started them.
func init() {
	runtime.LockOSThread()
}

func main() {
	roles := map[string]func(string) error{"guard": supervise.Guard, "run": supervise.Run}
	if len(os.Args) != 3 || roles[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: supervise guard|run CONFIG")
		os.Exit(2)
	}
	if err := roles[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "supervise "+os.Args[1]+":", err)
		os.Exit(1)
	}
}
