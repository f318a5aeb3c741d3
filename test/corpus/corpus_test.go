// Package corpus holds the linter against real Pod specs and a real API server's verdicts on them.
//
// The specs are not part of this repository. The tests look for them beside it, or where
// KANDEV_PODLINT_CORPUS says, and have nothing to measure where they are missing.
package corpus

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/lint"
)

// corpusDir is the folder of the specs; it ends the test where there is none.
func corpusDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KANDEV_PODLINT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no corpus of Pod specs at %s", dir)
	}
	return dir
}

// specs lists the YAML files of one part of the corpus.
func specs(t testing.TB, part string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusDir(t), part, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no specs in %s: %v", part, err)
	}
	return files
}

// lintFile lints one file alone.
func lintFile(t testing.TB, l *lint.Linter, name string, data []byte) lint.FileResult {
	t.Helper()
	results, err := l.Bytes(context.Background(), name, data, true)
	if err != nil || len(results) != 1 {
		t.Fatalf("%s: %d results, error %v", name, len(results), err)
	}
	return results[0]
}
