// Command kandev-podlint lints, renders and diffs the Pod templates of Kandev's Kubernetes executor.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kandev/kandev-podlint/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
