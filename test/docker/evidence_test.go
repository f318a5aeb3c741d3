package docker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// proven is one thing that the acceptance proves.
type proven struct {
	what    string
	outcome string
}

// failed is the outcome of what could not be proven.
const failed = "**failed**"

// evidence is everything that was to be proven, in order.
var evidence []proven

// item proves one thing, as a test of its own. Prove returns what was seen.
func (w *world) item(name, what string, prove func(*world) string) {
	w.t.Helper()
	w.t.Run(name, func(t *testing.T) {
		outcome := failed
		defer func() {
			if t.Failed() {
				outcome = failed
			}
			evidence = append(evidence, proven{what, outcome})
			t.Log(outcome)
		}()
		sub := *w
		sub.t = t
		outcome = prove(&sub)
	})
}

// page is where the evidence stands.
const page = "../../docs/evidence/docker-workloads.md"

// writeEvidence writes what was proven, and on what.
func writeEvidence() error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Docker workloads

What [k8s/worker-images/full](../../k8s/worker-images/full) claims, on a real node. %s writes this page, as root on
linux/amd64, and leaves nothing else; the packages that it needs are those of .ci/run and buildah. [Docker
workloads](../docker-workloads.md) says what it means.

| | |
|---|---|
`, "`make acceptance`")
	for _, v := range versions() {
		fmt.Fprintf(&b, "| %s | %s |\n", v.what, v.outcome)
	}
	b.WriteString("\nThe Dockerfile is built as it is. Of its inputs, and the template's, these are others:\n\n")
	for _, s := range substitutions {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	fmt.Fprintf(&b, "\nThe template is the recipe's with these images, an engine limited to %d MiB, and no request for ephemeral storage, of which\nthe node keeps no account. Pods have an MTU of %d. The sessions are those of `pkg/executor`, with a stand-in for the agent.\n", engineMemory>>20, podMTU)
	b.WriteString("\n| what | seen |\n|---|---|\n")
	for _, p := range evidence {
		fmt.Fprintf(&b, "| %s | %s |\n", p.what, p.outcome)
	}
	return os.WriteFile(page, []byte(b.String()), 0o644)
}

// versions are those of everything below a session.
func versions() []proven {
	return []proven{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"kernel", said("uname", "-sr")},
		{"cgroups", "version " + cgroupVersion() + ", kubelet's driver cgroupfs"},
		{"node", "Kubernetes " + theNode.c.Version() + ", " + said("containerd", "--version") + ", " + said("runc", "--version") + ", CNI plugin bridge"},
		{"engine", engineVersion},
		{"built with", said("buildah", "--version") + ", " + runtime.Version()},
	}
}

// engineVersion is what the engine says of itself; the first session asks.
var engineVersion string

// said is the first line that a command prints.
func said(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil {
		return filepath.Base(name) + ": " + err.Error()
	}
	return line
}
