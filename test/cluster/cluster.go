package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// Options says what cluster is started. The zero value is an API server of NodeVersion with the defaults of
// Kubernetes.
type Options struct {
	// Version is a Kubernetes minor, one of Versions.
	Version string
	// Node adds a node that runs Pods. It needs Linux, root and NodeVersion.
	Node bool
	// APIServerFlags are added last to those of the API server: a flag that is given twice has its last value.
	APIServerFlags []string
	// AdmissionConfig is the text of an AdmissionConfiguration (apiserver.config.k8s.io/v1) that holds the
	// configurations of its plugins in itself.
	AdmissionConfig string
	// FeatureGates are given to all programs of Kubernetes.
	FeatureGates map[string]bool
	// RuntimeConfig turns APIs on and off, such as "admissionregistration.k8s.io/v1beta1=true".
	RuntimeConfig []string
	// PodMTU is that of the Pods' interfaces, in bytes; zero leaves it to the kernel.
	PodMTU int
	// Audit writes every request and response to AuditLog.
	Audit bool
	// Logf, where set, is told what takes long.
	Logf func(format string, args ...any)
}

// A Cluster is a running API server, with or without a node.
type Cluster struct {
	APIServer *Process
	Etcd      *Process
	// The programs of a node; nil without one.
	ControllerManager, Scheduler, Kubelet, Containerd *Process

	options    Options
	version    string
	dir        string
	server     string // URL of the API server for the host
	authority  *authority
	admin      *rest.Config
	programs   map[string]string // executables by name
	supervisor *supervisor
}

// Start starts a cluster that ends with the test, and fails the test where that does not succeed. Without root a
// test of a node is skipped.
func Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Node && os.Geteuid() != 0 {
		t.Skip("a node needs root on Linux")
	}
	options.Logf = t.Logf
	c, err := New(t.Context(), options)
	if err != nil {
		t.Fatalf("starting a cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("ending the cluster: %v", err)
		}
	})
	return c
}

// New starts a cluster, which lives until Close, and at most as long as the calling process. When ctx ends while
// it starts, it does not start.
func New(ctx context.Context, options Options) (*Cluster, error) {
	if options.Version == "" {
		options.Version = NodeVersion
	}
	if options.Logf == nil {
		options.Logf = func(string, ...any) {}
	}
	if options.Node && options.Version != NodeVersion {
		return nil, fmt.Errorf("a node is of Kubernetes %s, not %s", NodeVersion, options.Version)
	}
	c := &Cluster{options: options, programs: map[string]string{}}
	if err := c.buildPrograms(ctx); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // of which the other one is a consequence
		}
		if c.supervisor != nil {
			return nil, errors.Join(err, c.supervisor.close())
		}
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	return c, nil
}

// Close ends the cluster and returns when nothing of it is left.
func (c *Cluster) Close() error { return c.supervisor.close() }

// Version returns the version of the programs, such as "v1.36.3".
func (c *Cluster) Version() string { return c.version }

// AuditLog returns the path of the audit log, a JSON object a line.
func (c *Cluster) AuditLog() string { return c.file("audit.log") }

// file returns the path of a file in the cluster's directory.
func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) buildPrograms(ctx context.Context) error {
	commands := []string{"kube-apiserver"}
	if c.options.Node {
		if err := c.findHostPrograms(); err != nil {
			return err
		}
		commands = append(commands, "kube-controller-manager", "kube-scheduler", "kubelet")
	}
	for _, command := range commands {
		p, err := kubernetesProgram(c.options.Version, command)
		if err != nil {
			return err
		}
		c.version = p.version
		if c.programs[command], err = p.build(ctx, c.options.Logf); err != nil {
			return err
		}
	}
	p, err := etcdProgram()
	if err != nil {
		return err
	}
	for _, p := range []program{p, ownProgram("pause"), ownProgram("supervise", filepath.Join("internal", "supervise"))} {
		if c.programs[p.name], err = p.build(ctx, c.options.Logf); err != nil {
			return err
		}
	}
	return nil
}

// start starts the supervisor, and all else by it.
func (c *Cluster) start(ctx context.Context) error {
	port, err := c.startSupervisor()
	if err != nil {
		return err
	}
	// When ctx ends, what is waited for does not come any more, and whoever waits is told.
	defer context.AfterFunc(ctx, c.supervisor.hangUp)()
	if c.options.Node {
		err = c.startNode(ctx)
	} else {
		err = c.startAPIServer(port)
	}
	if err != nil {
		return err
	}
	return c.awaitDefaultNamespace(ctx)
}

// startSupervisor makes the cluster's directory and its supervisor, and returns the API server's port.
func (c *Cluster) startSupervisor() (port int, err error) {
	root, err := cacheDir()
	if err != nil {
		return 0, err
	}
	dir, held, stale, err := makeDir(root)
	if err := removeStale(stale); err != nil {
		c.options.Logf("removing what an earlier cluster has left: %v", err)
	}
	if err != nil {
		return 0, err
	}
	c.dir = dir

	config := supervise.Config{Root: root, Dir: dir}
	bind := reservePort
	if c.options.Node {
		config.Network, config.Forward = nodeNetwork, fmt.Sprintf("127.0.0.1:%d", nodeAPIPort)
		bind = listen
	}
	socket, port, err := bind()
	if err != nil {
		return 0, errors.Join(err, held.Close())
	}
	c.server = fmt.Sprintf("https://127.0.0.1:%d", port)
	if err = c.writeAdmin(); err == nil {
		c.supervisor, err = newSupervisor(c.programs["supervise"], config, held, socket)
	}
	// From here on they are the supervisor's alone: who connects when that has ended is refused.
	return port, errors.Join(err, held.Close(), socket.Close())
}
