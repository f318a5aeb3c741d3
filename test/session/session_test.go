package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
	"github.com/kandev/kandev-podlint/test/cluster"
)

const template = `apiVersion: v1
kind: PodTemplate
metadata: {name: agent}
template:
  spec:
    securityContext: {fsGroup: 1000}
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

func agent(t *testing.T) *upload.Blob {
	t.Helper()
	at := filepath.Join(t.TempDir(), "agentctl")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", at, "./mockagent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	return upload.NewBlob(data)
}

func TestLifecycle(t *testing.T) {
	blob := agent(t)
	c := cluster.Start(t, cluster.Options{Node: true})
	client, err := executor.NewClient(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	e, err := executor.New(executor.Options{
		Client: client, Inventory: newMemory(), Owner: "test", Namespace: "default",
		Observe: func(e executor.Event) { t.Log(time.Now().Format("05.000"), e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	parsed, violations := compose.ParseTemplate([]byte(strings.ReplaceAll(template, "IMAGE", cluster.BusyboxImage)))
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	request := executor.Request{
		Identity: compose.Identity{ExecutorID: "e", ProfileID: "p", InstanceID: "i1", TaskID: "t", SessionID: "s", EnvironmentID: "v"},
		Template: parsed.Spec,
		Profile:  compose.Profile{Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "1Gi", StorageClass: cluster.StorageClass}},
		Material: executor.Material{
			Agent: blob, AuthEnv: []bootstrap.EnvVar{{Name: "API_KEY", Value: "canary"}},
			Prepare: upload.NewBlob([]byte("echo prepared > /workspace/prepared\n")),
		},
	}
	for range 2 {
		start := time.Now()
		s, err := e.Launch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("launched in", time.Since(start), s.Addr(), s.Row.State)
		s.Close()
		s, err = e.Reconnect(t.Context(), "i1")
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := e.Cleanup(t.Context(), "i1"); err != nil {
			t.Fatal(err)
		}
	}
}
