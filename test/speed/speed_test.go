//go:build linux

// Package speed measures the release build as its users run it: a whole process.
//
//	go test ./test/speed -run '^$' -bench . -benchtime 1x
package speed

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// folder is where the command is built; it is removed at the end.
var folder = filepath.Join(os.TempDir(), fmt.Sprintf("kandev-podlint-speed-%d", os.Getpid()))

// binary builds the command once, as a release does.
var binary = sync.OnceValues(func() (string, error) { return build("kandev-podlint", "../../cmd/kandev-podlint") })

// build builds a program as a release does.
func build(name, source string) (string, error) {
	path := filepath.Join(folder, name)
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// floor builds a program that does nothing but import packages: what a process costs before any of its own work.
func floor(b *testing.B, name string, imports ...string) string {
	b.Helper()
	var text strings.Builder
	text.WriteString("package main\n\n")
	for _, i := range imports {
		fmt.Fprintf(&text, "import _ %q\n", i)
	}
	text.WriteString("\nfunc main() {}\n")
	source := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	path, err := build(name, source)
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(folder) //nolint:errcheck // a temporary folder, if it was made at all
	os.Exit(code)
}

// run is one process: how long it took and the most memory it held, in bytes.
type run struct {
	wall   time.Duration
	memory int64
}

func start(b *testing.B, path string, args ...string) run {
	b.Helper()
	c := exec.Command(path, args...)
	c.Stderr = os.Stderr
	begin := time.Now()
	if err := c.Run(); err != nil {
		b.Fatalf("%v: %v", args, err)
	}
	r := run{wall: time.Since(begin)}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss * 1024 // Linux counts kibibytes
	}
	return r
}

// processRuns is how many runs a median is taken of.
const processRuns = 41

// BenchmarkProcess reports the median of whole processes: one template with the whole pack, what must not
// compile it, and programs that only import what the command needs, for comparison.
func BenchmarkProcess(b *testing.B) {
	command, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	template := filepath.Join("..", "..", "testdata", "templates", "docker.yaml")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"empty-program", []string{floor(b, "empty")}},
		{"imports-only", []string{floor(b, "imports", "github.com/open-policy-agent/opa/v1/topdown", "k8s.io/api/core/v1")}},
		{"lint", []string{command, "lint", template}},
		{"render", []string{command, "render", template}},
		{"rules", []string{command, "rules"}},
		{"version", []string{command, "version"}},
		{"help", []string{command, "--help"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var walls []time.Duration
				for range processRuns {
					walls = append(walls, start(b, c.args[0], c.args[1:]...).wall)
				}
				slices.Sort(walls)
				b.ReportMetric(float64(walls[len(walls)/2].Microseconds())/1000, "ms/median")
				b.ReportMetric(float64(walls[0].Microseconds())/1000, "ms/min")
			}
		})
	}
}

// filesRuns is how many files are linted for a median, at least.
const filesRuns = 50_000

// BenchmarkFiles reports the median of whole processes over trees of growing size: the rate should stay, and the memory too.
func BenchmarkFiles(b *testing.B) {
	command, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1000, 2000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			writeTree(b, dir, n)
			for b.Loop() {
				var runs []run
				for range max(1, filesRuns/n) {
					runs = append(runs, start(b, command, "lint", "--fail-on", "never", dir))
				}
				slices.SortFunc(runs, func(x, y run) int { return cmp.Compare(x.wall, y.wall) })
				r := runs[len(runs)/2]
				b.ReportMetric(float64(n)/r.wall.Seconds(), "templates/s")
				b.ReportMetric(float64(r.wall.Microseconds())/float64(n), "µs/template")
				b.ReportMetric(float64(r.memory)/(1<<20), "MiB/peak")
			}
			b.ReportMetric(float64(runtime.NumCPU()), "cores")
		})
	}
}

// filesPerFolder keeps folders at a size that people have.
const filesPerFolder = 500

// writeTree writes n templates, the two of testdata in turn.
func writeTree(b *testing.B, dir string, n int) {
	b.Helper()
	var templates [][]byte
	for _, name := range []string{"docker.yaml", "minimal.yaml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "templates", name))
		if err != nil {
			b.Fatal(err)
		}
		templates = append(templates, data)
	}
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("%04d", i/filesPerFolder))
		if i%filesPerFolder == 0 {
			if err := os.Mkdir(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		name := filepath.Join(folder, fmt.Sprintf("%04d.yaml", i%filesPerFolder))
		if err := os.WriteFile(name, templates[i%len(templates)], 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
