package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what one run printed and its exit status.
type result struct {
	code     int
	out, err string
}

// run executes a command line in this process.
func run(tb testing.TB, stdin string, args ...string) result {
	tb.Helper()
	var out, errOut bytes.Buffer
	code := Run(tb.Context(), args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut})
	return result{code, out.String(), errOut.String()}
}

// write puts files, named by slash paths, into a new directory.
func write(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// entries lists what a directory holds.
func entries(tb testing.TB, dir string) []string {
	tb.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// good is a template without a finding.
const good = `apiVersion: v1
kind: PodTemplate
template:
  spec:
    securityContext:
      runAsNonRoot: true
      runAsUser: 1000
      fsGroup: 1000
      seccompProfile: {type: RuntimeDefault}
    containers:
    - name: kandev-agent
      image: registry.example/agent@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70
      resources:
        requests: {cpu: 500m, memory: 1Gi}
        limits: {cpu: "2", memory: 4Gi, ephemeral-storage: 10Gi}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities: {drop: [ALL]}
`

// placeholder is a template that can be looked at and not deployed.
var placeholder = regexp.MustCompile(`@sha256:.*`).ReplaceAllString(good, "@"+compose.PlaceholderDigest)
