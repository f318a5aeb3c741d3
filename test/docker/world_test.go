package docker

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
	"github.com/kandev/kandev-podlint/test/cluster"
)

const (
	recipe    = "../../k8s/worker-images/full"
	namespace = "sessions" // of every session
	agent     = "kandev-agent"
	engine    = "docker-engine"

	// podMTU is smaller than what Docker takes by default, as in a cluster whose network wraps packets into others.
	podMTU = 1400
	// engineMemory is the engine's limit: small enough that a hog reaches it soon.
	engineMemory = 1 << 30
)

var acceptance = flag.Bool("acceptance", false, "take the recipe's own image for the agent, prove all that needs it, and write docs/evidence/docker-workloads.md")

// world is a node and what sessions are made of.
type world struct {
	t       *testing.T
	cluster *cluster.Cluster
	kube    kubernetes.Interface
	file    string // of the inventory
	images  images
}

// images are the containers' images, by digest.
type images struct{ agent, engine string }

// theNode is started once for all tests of this package.
var theNode struct {
	once   sync.Once
	c      *cluster.Cluster
	images images
	err    error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a node needs root")
	}
	theNode.once.Do(func() { theNode.c, theNode.images, theNode.err = startNode(context.Background()) })
	if theNode.err != nil {
		t.Fatal(theNode.err)
	}
	w := &world{t: t, cluster: theNode.c, images: theNode.images, file: filepath.Join(t.TempDir(), "inventory", "sessions.db")}
	var err error
	if w.kube, err = kubernetes.NewForConfig(w.cluster.Config()); err != nil {
		t.Fatal(err)
	}
	return w
}

// startNode starts a node that has the images. It outlives the test that starts it.
func startNode(ctx context.Context) (c *cluster.Cluster, i images, err error) {
	engineFile, err := rootFS(ctx, lifecyclePackages...)
	if err != nil {
		return nil, i, err
	}
	agentFile := ""
	if *acceptance {
		if agentFile, err = recipeImage(ctx); err != nil {
			return nil, i, err
		}
	}
	if c, err = cluster.New(ctx, cluster.Options{Node: true, PodMTU: podMTU}); err != nil {
		return nil, i, err
	}
	if i, err = importImages(ctx, c, engineFile, agentFile); err != nil {
		return c, i, err
	}
	return c, i, govern(ctx, c, i.engine)
}

// template is the recipe's own, with images that the node has and limits that a test reaches.
func (w *world) template() *corev1.PodTemplateSpec {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(recipe, "pod-template.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	parsed, violations := compose.ParseTemplate(data)
	if len(violations) > 0 {
		w.t.Fatal(violations)
	}
	for i := range parsed.Spec.Spec.Containers {
		c := &parsed.Spec.Spec.Containers[i]
		c.Image = w.images.agent
		c.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.Quantity{} // of which the node keeps no account
		if c.Name == engine {
			c.Image = w.images.engine
			c.Resources.Limits[corev1.ResourceMemory] = *resource.NewQuantity(engineMemory, resource.BinarySI)
		}
	}
	if violations := compose.Deployable(parsed.Spec, compose.Profile{}); len(violations) > 0 {
		w.t.Fatal(violations)
	}
	return parsed.Spec
}

// executor is a backend of its own.
func (w *world) executor(owner string) *executor.Executor {
	w.t.Helper()
	client, err := executor.NewClient(w.cluster.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	store, err := sqlite.Open(w.t.Context(), w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	e, err := executor.New(executor.Options{
		Client: client, Inventory: store, Owner: owner, Namespace: namespace, Observe: w.observe,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// observe does for a volume of the node's what the kubelet does for every other kind: it gives it to the Pod's fsGroup.
func (w *world) observe(e executor.Event) {
	if e.Kind != executor.StateEntered || e.State != inventory.Bootstrapping {
		return
	}
	const script = `for d in /tmp/hostpath_pv/*; do [ ! -d "$d" ] || { chgrp 1000 "$d" && chmod 2775 "$d"; }; done`
	if out, err := w.cluster.NodeCommand(context.Background(), "sh", "-c", script).CombinedOutput(); err != nil {
		w.t.Errorf("%v\n%s", err, out)
	}
}

// agentBlob is the agent that test/session uses too.
var agentBlob = sync.OnceValues(func() (*upload.Blob, error) {
	dir, err := os.MkdirTemp("", "mockagent")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the operating system's to clean
	file := filepath.Join(dir, "agentctl")
	if err := build(file, "../session", "./mockagent"); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	return upload.NewBlob(data), err
})

// build builds a program that needs no libraries.
func build(file, module, pkg string) error {
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, pkg)
	c.Dir, c.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// request is a session of the recipe, with its own preparation.
func (w *world) request(id string, env ...bootstrap.EnvVar) executor.Request {
	w.t.Helper()
	blob, err := agentBlob()
	if err != nil {
		w.t.Fatal(err)
	}
	prepare, err := os.ReadFile(filepath.Join(recipe, "prepare.sh"))
	if err != nil {
		w.t.Fatal(err)
	}
	return executor.Request{
		Identity: compose.Identity{ExecutorID: "e", ProfileID: "p", InstanceID: id, TaskID: "t", SessionID: "s", EnvironmentID: "v"},
		Template: w.template(),
		Profile:  compose.Profile{Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "1Gi", StorageClass: cluster.StorageClass}},
		Material: executor.Material{Agent: blob, RuntimeEnv: env, Prepare: upload.NewBlob(prepare)},
	}
}

func (w *world) launch(e *executor.Executor, r executor.Request) *executor.Session {
	w.t.Helper()
	s, err := e.Launch(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = s.Close()
		_ = e.Cleanup(context.Background(), r.Identity.InstanceID) // where the test has not come so far
	})
	return s
}

// inAgent runs a script where the agent runs its commands, and returns what it prints.
func (w *world) inAgent(e *executor.Executor, id, script string) string {
	w.t.Helper()
	return w.feed(e, id, script, nil)
}

// feed is inAgent with something to read.
func (w *world) feed(e *executor.Executor, id, script string, in io.Reader) string {
	w.t.Helper()
	var out strings.Builder
	command := []string{"/bin/sh", "-euc", "export HOME=" + bootstrap.HomePath + "\n" + script + "\n:"}
	if err := e.Exec(w.t.Context(), id, executor.Run{Command: command, Stdin: in, Stdout: &out, Stderr: &out}); err != nil {
		w.t.Fatalf("%s\n%v\n%s", script, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// on runs a script on the node.
func (w *world) on(script string) string {
	w.t.Helper()
	out, err := w.cluster.NodeCommand(w.t.Context(), "sh", "-euc", script).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// in runs a script in a container of a Pod, as root whatever the container may do.
func (w *world) in(pod, container, script string) string {
	w.t.Helper()
	c, err := w.cluster.ContainerCommand(w.t.Context(), namespace, pod, container, "sh", "-euc", script)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *acceptance && len(evidence) > 0 {
		if err := writeEvidence(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	if theNode.c != nil {
		if err := theNode.c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
