package policy

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"sigs.k8s.io/yaml"
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

// BenchmarkEval is one evaluation of the whole pack over a composed Pod: at most 200 µs.
func BenchmarkEval(b *testing.B) {
	e, err := Default(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	in := Input{KubeVersion: "1.36", Platform: "linux/amd64", WorkspaceMode: "managed_pvc"}
	if err := yaml.Unmarshal([]byte(composedPod), &in.Object); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
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
	b.ReportAllocs()
	for b.Loop() {
		value, err := in.value(newCandidates(nil))
		if err != nil || ast.ValueName(value.Value) != "object" {
			b.Fatal(err)
		}
	}
}
