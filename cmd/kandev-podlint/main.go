// Command kandev-podlint lints, renders and diffs the Pod templates of Kandev's Kubernetes executor.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/kandev/kandev-podlint/internal/cli"
)

// gcPercent lets the heap of a short run grow further before it is collected: it is small, and linting makes much that
// is thrown away at once.
const gcPercent = 600

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signal.Ignore(syscall.SIGPIPE) // a write into a closed pipe is an error like others, after which files are tidied up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
