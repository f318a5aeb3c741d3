package lint

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Two runs, with one worker and with many, give the same results in the same order.
func TestDeterministic(t *testing.T) {
	dir := manyTemplates(t, 200)
	var first []FileResult
	for _, procs := range []int{1, 8, 8} {
		before := runtime.GOMAXPROCS(procs)
		rs := paths(t, Options{}, dir)
		runtime.GOMAXPROCS(before)
		if first == nil {
			first = rs
		}
		if diff := cmp.Diff(first, rs, cmpopts.IgnoreFields(FileResult{}, "Template")); diff != "" {
			t.Fatalf("%d workers: %s", procs, diff)
		}
	}
	sorted := sort.SliceIsSorted(first, func(i, j int) bool { return first[i].File < first[j].File })
	if !sorted || len(first) != 200 {
		t.Errorf("%d results, sorted %v", len(first), sorted)
	}
}

func TestPathsStops(t *testing.T) {
	dir := manyTemplates(t, 300)
	stop := errors.New("stop")
	n := 0
	err := New(Options{}).Paths(t.Context(), []string{dir}, func(FileResult) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("%v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	err = New(Options{}).Paths(ctx, []string{dir}, func(FileResult) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestEmptyDirectory(t *testing.T) {
	if rs := paths(t, Options{}, t.TempDir(), filepath.Join(t.TempDir(), ".")); len(rs) != 0 {
		t.Error(rs)
	}
}

func TestSummary(t *testing.T) {
	var s Summary
	for _, r := range []FileResult{
		{Skipped: true},
		lintText(t, Options{}, "t.yaml", template("hostPID: true", "restartPolicy: Never"))[0],
		lintText(t, Options{}, "u.yaml", twoContainers)[0],
		{Suppressed: 2},
	} {
		s.Add(r)
	}
	s.Infos = 0
	if diff := cmp.Diff(Summary{Files: 3, Templates: 2, Skipped: 1, Errors: 2, Warnings: s.Warnings, Suppressed: 2}, s); diff != "" || s.Warnings < 2 {
		t.Errorf("-want +got\n%s", diff)
	}
}
