package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPaths lints a directory of 1,000 templates, or the one that KANDEV_PODLINT_TREE names.
func BenchmarkPaths(b *testing.B) {
	dir := os.Getenv("KANDEV_PODLINT_TREE")
	if dir == "" {
		dir = manyTemplates(b, 1000)
	}
	l := New(Options{})
	files := 0
	run := func() {
		files = 0
		err := l.Paths(b.Context(), []string{dir}, func(FileResult) error { files++; return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	run() // compile the policies
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(files*b.N)/b.Elapsed().Seconds(), "files/s")
}

// manyTemplates writes copies of the example templates into a new directory.
func manyTemplates(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	examples, err := filepath.Glob("../../testdata/*/*.yaml")
	if err != nil || len(examples) == 0 {
		tb.Fatal("no examples", err)
	}
	for i := range n {
		data, err := os.ReadFile(examples[i%len(examples)])
		if err != nil {
			tb.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("t%05d.yaml", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
