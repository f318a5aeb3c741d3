// Package live tests what the product does on real clusters, through its own program.
package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/test/cluster"
)

// folder holds what the run builds.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "live"); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, shared := range []*sharedCluster{&apiServer, &wholeNode} {
		if err := shared.close(); err != nil {
			fmt.Fprintln(os.Stderr, "ending the cluster:", err)
			code = 1
		}
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// sharedCluster is a cluster that tests share; each has namespaces of its own.
type sharedCluster struct {
	options cluster.Options
	once    sync.Once
	cluster *cluster.Cluster
	err     error
}

var (
	apiServer = sharedCluster{options: cluster.Options{Version: version()}}
	wholeNode = sharedCluster{options: cluster.Options{Node: true}}
)

func (s *sharedCluster) start(t *testing.T) *cluster.Cluster {
	t.Helper()
	s.once.Do(func() {
		options := s.options
		options.Logf = t.Logf
		s.cluster, s.err = cluster.New(context.Background(), options)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

func (s *sharedCluster) close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Close()
}

// api returns an API server without a node.
func api(t *testing.T) *cluster.Cluster {
	t.Helper()
	return apiServer.start(t)
}

// node returns a cluster that runs Pods.
func node(t *testing.T) *cluster.Cluster {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a node needs root")
	}
	return wholeNode.start(t)
}

// version is the Kubernetes version of the API server, by minor version: that of LIVE_KUBE_VERSION, or of the node.
func version() string {
	if v := os.Getenv("LIVE_KUBE_VERSION"); v != "" {
		return v
	}
	return cluster.NodeVersion
}

func clientset(t *testing.T, c *cluster.Cluster) *kubernetes.Clientset {
	t.Helper()
	config := c.Config()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// namespace makes a namespace that bears the test's name.
func namespace(t *testing.T, c *cluster.Cluster, labels map[string]string) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	if len(name) > 60 {
		name = name[len(name)-60:]
	}
	name = strings.Trim(name, "-")
	if err := c.CreateNamespace(t.Context(), name, labels); err != nil {
		t.Fatal(err)
	}
	return name
}

var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(folder, "kandev-podlint")
	build := exec.Command("go", "build", "-o", file, "./cmd/kandev-podlint")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released, for images without libraries
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

// result is what one run of the program printed, and how it ended.
type result struct {
	out, err string
	code     int
}

func (r result) String() string { return fmt.Sprintf("exit status %d\n%s%s", r.code, r.out, r.err) }

// command prepares a run of the program.
func command(t *testing.T, kubeconfig string, args ...string) *exec.Cmd {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), file, args...)
	c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	c.WaitDelay = time.Minute
	return c
}

func run(t *testing.T, kubeconfig string, args ...string) result {
	t.Helper()
	return finish(t, command(t, kubeconfig, args...))
}

// finish runs a prepared command to its end.
func finish(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return result{out.String(), errOut.String(), c.ProcessState.ExitCode()}
}

// write writes a file of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// template is a PodTemplate with more in its spec.
func template(t *testing.T, spec string) string {
	t.Helper()
	return write(t, "template.yaml", `apiVersion: v1
kind: PodTemplate
template:
  spec:
`+spec+`    containers:
    - name: kandev-agent
      image: registry.example/agent:1
      resources:
        requests: {cpu: 100m, memory: 64Mi}
        limits: {cpu: 500m, memory: 128Mi}
`)
}

// bareTemplate says nothing but the image.
const bareTemplate = `apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers:
    - name: kandev-agent
      image: registry.example/agent:1
`

// eventually looks at a condition until it holds, which may take a while on a busy machine.
func eventually(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
