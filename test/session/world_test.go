package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// template is an agent that starts fast and ends fast. It is root because a hostPath volume knows no fsGroup.
const template = `apiVersion: v1
kind: PodTemplate
metadata: {name: agent}
template:
  spec:
    terminationGracePeriodSeconds: 1
    containers:
    - name: kandev-agent
      image: IMAGE
      imagePullPolicy: IfNotPresent
      securityContext:
        runAsUser: 0
        allowPrivilegeEscalation: false
        capabilities: {drop: [ALL]}
`

// namespace is that of every session in these tests.
const namespace = "default"

// world is a node, an inventory file, and what sessions are made of.
type world struct {
	t       *testing.T
	cluster *cluster.Cluster
	kube    kubernetes.Interface
	file    string // of the inventory
	agent   *upload.Blob
}

// agentFile builds the mock agent once.
var agentFile = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mockagent")
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "agentctl")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", at, "./mockagent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return at, nil
})

func loadAgent() (*upload.Blob, error) {
	at, err := agentFile()
	if err != nil {
		return nil, err
	}
	return readAgent(at)
}

func readAgent(at string) (*upload.Blob, error) {
	data, err := os.ReadFile(at)
	return upload.NewBlob(data), err
}

// theNode is started once for all tests of this package.
var theNode struct {
	once sync.Once
	c    *cluster.Cluster
	err  error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a node needs root")
	}
	theNode.once.Do(func() {
		theNode.c, theNode.err = cluster.New(context.Background(), cluster.Options{Node: true, Audit: true})
	})
	if theNode.err != nil {
		t.Fatal(theNode.err)
	}
	w := &world{t: t, cluster: theNode.c, file: filepath.Join(t.TempDir(), "inventory", "sessions.db")}
	var err error
	if w.kube, err = kubernetes.NewForConfig(unlimited(w.cluster.Config())); err != nil {
		t.Fatal(err)
	}
	if w.agent, err = loadAgent(); err != nil {
		t.Fatal(err)
	}
	return w
}

func unlimited(c *rest.Config) *rest.Config {
	c.QPS = -1
	return c
}

// request is a session of an ID.
func request(id string, agent *upload.Blob, mode compose.WorkspaceMode) (executor.Request, error) {
	parsed, violations := compose.ParseTemplate([]byte(strings.ReplaceAll(template, "IMAGE", cluster.BusyboxImage)))
	if len(violations) > 0 {
		return executor.Request{}, fmt.Errorf("%v", violations)
	}
	workspace := compose.Workspace{Mode: mode}
	if mode == compose.ManagedPVC {
		workspace.Size, workspace.StorageClass = "1Gi", cluster.StorageClass
	}
	return executor.Request{
		Identity: compose.Identity{ExecutorID: "e", ProfileID: "p", InstanceID: id, TaskID: "t", SessionID: "s", EnvironmentID: "v"},
		Template: parsed.Spec,
		Profile:  compose.Profile{Workspace: workspace},
		Material: material(agent),
	}, nil
}

// canary is a credential that must not be found anywhere outside the Pod's memory.
const canary = "canary-9e107d9d372bb682"

func material(agent *upload.Blob) executor.Material {
	return executor.Material{
		Agent:   agent,
		AuthEnv: []bootstrap.EnvVar{{Name: "API_KEY", Value: canary}},
		Files:   []upload.File{{Path: bootstrap.HomePath + "/.netrc", Mode: 0o600, Content: upload.NewBlob([]byte("password " + canary + "\n"))}},
		Prepare: upload.NewBlob([]byte("[ -e /workspace/work ] || echo original > /workspace/work\n")),
	}
}

// newExecutor is a backend process of its own: an owner name that was never used, and its own handle on the inventory.
func newExecutor(ctx context.Context, config *rest.Config, file, owner string, wrap func(inventory.Inventory) inventory.Inventory) (*executor.Executor, func() error, error) {
	client, err := executor.NewClient(config)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	var rows inventory.Inventory = store
	if wrap != nil {
		rows = wrap(rows)
	}
	e, err := executor.New(executor.Options{Client: client, Inventory: rows, Owner: owner, Namespace: namespace})
	return e, store.Close, err
}

func (w *world) executor(owner string) *executor.Executor {
	w.t.Helper()
	e, closeStore, err := newExecutor(w.t.Context(), w.cluster.Config(), w.file, owner, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = closeStore() })
	return e
}

func (w *world) launch(e *executor.Executor, id string, mode compose.WorkspaceMode) *executor.Session {
	w.t.Helper()
	r, err := request(id, w.agent, mode)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := e.Launch(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// call asks the agent something, and returns its answer.
func call(s *executor.Session, method, path, body string) (string, error) {
	r, err := http.NewRequest(method, "http://"+s.Addr()+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token.Reveal())
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, content)
	}
	return string(content), err
}

func (w *world) call(s *executor.Session, method, path, body string) string {
	w.t.Helper()
	answer, err := call(s, method, path, body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// objects returns what bears the labels of an instance; "" is any.
func (w *world) objects(id string) (pods []corev1.Pod, claims []corev1.PersistentVolumeClaim) {
	w.t.Helper()
	selector := compose.LabelManagedBy + "=" + compose.LabelManagedByValue
	if id != "" {
		selector += "," + compose.LabelInstanceID + "=" + id
	}
	o := metav1.ListOptions{LabelSelector: selector}
	p, err := w.kube.CoreV1().Pods(namespace).List(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).List(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return p.Items, c.Items
}

// nothing demands that nothing of an instance is left, on the cluster or in the inventory.
func (w *world) nothing(e *executor.Executor, id string) {
	w.t.Helper()
	pods, claims := w.objects(id)
	if len(pods)+len(claims) > 0 {
		w.t.Errorf("%s: %d Pods and %d claims are left", id, len(pods), len(claims))
	}
	rows, err := e.List(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Identity.InstanceID == id {
			w.t.Errorf("%s: a row is left in state %s", id, r.State)
		}
	}
}

func TestMain(m *testing.M) {
	if op := os.Getenv(crashOperation); op != "" {
		crashChild(op)
		return
	}
	code := m.Run()
	if theNode.c != nil {
		if err := theNode.c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	if at, err := agentFile(); err == nil {
		_ = os.RemoveAll(filepath.Dir(at))
	}
	os.Exit(code)
}
