package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// Apply applies a manifest as an administrator does, with kubectl.
func (c *Cluster) Apply(ctx context.Context, manifest []byte) error {
	kubectl, err := Kubectl(ctx, c.options.Logf)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, kubectl, "--kubeconfig", c.Kubeconfig(), "apply", "--filename", "-")
	cmd.Stdin = bytes.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, out)
	}
	return nil
}
