package cluster

import (
	"context"
	"errors"
	"net"
)

const (
	nodeNetwork  = "10.254.0.1/24" // in a network namespace of its own: each node has the same
	serviceRange = "10.254.2.0/24"
	nodeAPIPort  = 6443
)

func nodeIP() net.IP {
	ip, _, _ := net.ParseCIDR(nodeNetwork)
	return ip
}

func (c *Cluster) startNode(ctx context.Context) error { return errors.ErrUnsupported }
