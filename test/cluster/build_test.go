package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestBuildOnce has several want the same program at the same time.
func TestBuildOnce(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where the programs go
	var built atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			path, err := ownProgram("pause").build(t.Context(), func(string, ...any) { built.Add(1) })
			if err != nil {
				t.Error(err)
				return
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o111 == 0 {
				t.Errorf("%s: %v, %v; want an executable", path, info, err)
			}
		})
	}
	all.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times", built.Load())
	}
}

// TestKey has what decides a build decide its place.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n")
	write("go.sum", "")
	p := program{name: "p", dir: dir, pkg: "p", sources: []string{"go.mod", "go.sum"}}
	seen := map[string]string{}
	check := func(what string) {
		t.Helper()
		key, err := p.key()
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[key]; ok {
			t.Errorf("%s has the key of %s", what, before)
		}
		seen[key] = what
	}
	check("the program")
	write("go.mod", "module n\n")
	check("another go.mod")
	write("go.sum", "sum")
	check("another go.sum")
	p.ldflags = "-X a=b"
	check("other flags")
	p.pkg = "q"
	check("another package")
}
