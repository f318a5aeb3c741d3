package policy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// composedPod is a session as Kandev composes it, with a Docker engine and a log shipper as companions.
const composedPod = `
apiVersion: v1
kind: Pod
metadata:
  name: kandev-0123456789abcdef
  namespace: agents
  labels:
    app.kubernetes.io/name: kandev-agent
    app.kubernetes.io/component: agent-session
    app.kubernetes.io/managed-by: kandev
  annotations:
    kandev.ai/create-nonce: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
spec:
  restartPolicy: Always
  os: {name: linux}
  nodeSelector: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}
  automountServiceAccountToken: false
  securityContext:
    fsGroup: 1000
    seccompProfile: {type: RuntimeDefault}
  initContainers:
  - name: cache
    image: registry.example/cache:3
    command: [sh, -c, "mkdir -p /cache/npm"]
    securityContext: {runAsUser: 1000, runAsNonRoot: true, allowPrivilegeEscalation: false}
    volumeMounts:
    - {name: cache, mountPath: /cache}
  containers:
  - name: kandev-agent
    image: registry.example/agent:1.4@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70
    command: [/bin/sh, -c]
    args: [exec /opt/kandev/agentctl]
    workingDir: /workspace
    env:
    - {name: DOCKER_HOST, value: "unix:///run/docker/docker.sock"}
    - {name: GOFLAGS, value: -mod=mod}
    ports:
    - {name: kandev-agentctl, containerPort: 8765, protocol: TCP}
    resources:
      requests: {cpu: 500m, memory: 1Gi}
      limits: {memory: 4Gi}
    securityContext:
      runAsUser: 1000
      runAsGroup: 1000
      runAsNonRoot: true
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL]}
    volumeMounts:
    - {name: kandev-runtime, mountPath: /opt/kandev}
    - {name: kandev-auth, mountPath: /run/kandev}
    - {name: kandev-workspace, mountPath: /workspace}
    - {name: docker-socket, mountPath: /run/docker}
    - {name: cache, mountPath: /cache}
  - name: docker-engine
    image: registry.example/dind:27.5@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
    args: [dockerd, --host=unix:///run/docker/docker.sock, --group=1000, --mtu=1400]
    resources:
      limits: {memory: 8Gi}
    securityContext: {privileged: true, runAsUser: 0}
    volumeMounts:
    - {name: docker-socket, mountPath: /run/docker}
    - {name: docker-data, mountPath: /var/lib/docker}
    - {name: kandev-workspace, mountPath: /workspace}
  - name: log-shipper
    image: registry.example/fluent:2
    ports:
    - {containerPort: 2020}
    securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}}
    volumeMounts:
    - {name: kandev-workspace, mountPath: /workspace, readOnly: true}
  volumes:
  - {name: kandev-runtime, emptyDir: {}}
  - {name: kandev-auth, emptyDir: {medium: Memory}}
  - {name: kandev-workspace, persistentVolumeClaim: {claimName: kandev-0123456789abcdef-workspace}}
  - {name: docker-socket, emptyDir: {}}
  - {name: docker-data, emptyDir: {sizeLimit: 20Gi}}
  - {name: cache, emptyDir: {}}
`

// BenchmarkEval is one evaluation of the whole pack over a composed Pod: of the two templates of testdata, and of a session
// with two companions and eleven findings. The goal is a median of 200 µs for each.
func BenchmarkEval(b *testing.B) {
	pods := map[string]map[string]any{
		"minimal":    composed(b, filepath.Join("..", "testdata", "templates", "minimal.yaml")),
		"docker":     composed(b, filepath.Join("..", "testdata", "templates", "docker.yaml")),
		"companions": {},
	}
	companions := pods["companions"]
	if err := yaml.Unmarshal([]byte(composedPod), &companions); err != nil {
		b.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			evaluate := evaluating(b)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				evaluate(pods[name])
				took = append(took, time.Since(start))
			}
			reportParts(b, took, map[float64]string{0.5: "µs/median"})
		})
	}
}

// BenchmarkEvalCorpus evaluates the pack over each real Pod spec that composes, in turn, and reports the median: at most
// 200 µs.
func BenchmarkEvalCorpus(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(corpusDir(), "adapted", "*.yaml"))
	if err != nil || len(files) == 0 {
		b.Skip("no corpus: set KANDEV_PODLINT_CORPUS")
	}
	var pods []map[string]any
	for _, file := range files {
		if pod := composed(b, file); pod != nil {
			pods = append(pods, pod)
		}
	}
	evaluate := evaluating(b)
	var took []time.Duration
	for b.Loop() {
		for _, pod := range pods {
			start := time.Now()
			evaluate(pod)
			took = append(took, time.Since(start))
		}
	}
	reportParts(b, took, map[float64]string{0.5: "µs/median", 0.9: "µs/p90", 0.99: "µs/p99"})
	b.ReportMetric(float64(len(pods)), "pods")
}

// reportParts reports how long the parts of some evaluations took at most.
func reportParts(b *testing.B, took []time.Duration, parts map[float64]string) {
	b.Helper()
	slices.Sort(took)
	for part, unit := range parts {
		b.ReportMetric(float64(took[int(part*float64(len(took)))].Nanoseconds())/1000, unit)
	}
}

// composed is the Pod that a template's file composes to, with a managed claim; nil where it breaks a rule.
func composed(b *testing.B, file string) map[string]any {
	b.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	template, violations := compose.ParseTemplate(source)
	if len(violations) > 0 {
		return nil
	}
	id := compose.Identity{ExecutorID: "e", ProfileID: "p", InstanceID: "i", TaskID: "t", SessionID: "s", EnvironmentID: "v", Namespace: "agents"}
	profile := compose.Profile{Workspace: compose.Workspace{Mode: compose.ManagedPVC}}
	objects, err := compose.Compose(template.Spec, profile, id)
	if err != nil {
		return nil
	}
	pod, err := runtime.DefaultUnstructuredConverter.ToUnstructured(objects.Pod)
	if err != nil {
		b.Fatal(err)
	}
	delete(pod, "status")
	return pod
}

// evaluating evaluates the pack over a Pod.
func evaluating(b *testing.B) func(pod map[string]any) {
	b.Helper()
	e, err := Default(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return func(pod map[string]any) {
		in := Input{Object: pod, KubeVersion: "1.36", Platform: "linux/amd64", WorkspaceMode: "managed_pvc"}
		if _, err := e.Eval(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile is what the first evaluation of a process costs beside: parsing and compiling the pack, at most 15 ms.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(b.Context(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse is the parsing within BenchmarkCompile.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := packModules(isEvaluated); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInput is the conversion within BenchmarkEval.
func BenchmarkInput(b *testing.B) {
	var in Input
	if err := yaml.Unmarshal([]byte(composedPod), &in.Object); err != nil {
		b.Fatal(err)
	}
	candidates := newCandidates(nil)
	b.ReportAllocs()
	for b.Loop() {
		value, err := in.value(candidates)
		if err != nil || ast.ValueName(value.Value) != "object" {
			b.Fatal(err)
		}
	}
}
