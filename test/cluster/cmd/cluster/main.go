// Command cluster runs clusters for use by hand.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/kandev/kandev-podlint/test/cluster"
)

const usage = `usage:
  cluster up [-version MINOR] [-node]   start a cluster and print how to use it
  cluster down                          end all clusters that were started so
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "up":
		return up(ctx, args[1:])
	case len(args) == 1 && args[0] == "down":
		n, err := cluster.EndDetached(ctx)
		fmt.Printf("clusters ended: %d\n", n)
		return err
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
		return nil
	}
}

func up(ctx context.Context, args []string) error {
	options := cluster.Options{Logf: func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}}
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&options.Version, "version", cluster.NodeVersion, "Kubernetes minor")
	flags.BoolVar(&options.Node, "node", false, "run a node, which needs root on Linux")
	_ = flags.Parse(args) // it exits by itself

	kubectl, err := cluster.Kubectl(ctx, options.Logf)
	if err != nil {
		return err
	}
	c, err := cluster.New(ctx, options)
	if err != nil {
		return err
	}
	if err := c.Detach(); err != nil {
		return err
	}
	fmt.Printf("Kubernetes %s is up:\n\n  export KUBECONFIG=%s\n  %s version\n", c.Version(), c.Kubeconfig(), kubectl)
	return nil
}
