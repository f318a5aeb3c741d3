package policy

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A policy that does not end, or that fills the memory, is stopped with an error at the place where it was.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		bound  bound
		want   string // the error after the file
	}{
		"time": {
			"package main\n\ndeny contains \"x\" if slow\n\nslow if {\n\tn := numbers.range(1, 1000); n[_] + n[_] + n[_] == -1\n}\n",
			bound{time: time.Second},
			":6:31: the evaluation of one document was stopped here after 1s: a policy must end",
		},
		"time in one call": {
			"package main\n\ndeny contains \"x\" if {\n\tcount(numbers.range(1, 1000000000)) == 3\n}\n",
			bound{time: time.Second},
			":4:8: the evaluation of one document was stopped here after 1s: a policy must end",
		},
		"memory": {
			"package main\n\ndeny contains \"x\" if {\n\tcount(numbers.range(1, 1000000000)) == 3\n}\n",
			bound{time: time.Minute, heap: 32 << 20},
			":4:8: the evaluation of one document was stopped here: it holds more than 32 MiB of memory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, "policy/a.rego", c.policy)
			e, err := New(t.Context(), Options{Policies: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			if e.bound.time == 0 || e.bound.heap == 0 {
				t.Errorf("a user's policies are bounded by %+v", e.bound)
			}
			e.bound = c.bound
			_, err = e.Eval(t.Context(), Input{Object: map[string]any{}})
			if want := filepath.Join(dir, "policy", "a.rego") + c.want; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

// What is garbage does not count as held.
func TestGarbageIsNotHeld(t *testing.T) {
	dir := write(t, "a.rego", "package main\n\ndeny contains \"x\" if {\n\tsome i in numbers.range(1, 1500)\n\tcount(numbers.range(1, i)) == 0\n}\n")
	e, err := New(t.Context(), Options{Policies: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	e.bound = bound{time: time.Minute, heap: 48 << 20}
	if _, err := e.Eval(t.Context(), Input{Object: map[string]any{}}); err != nil {
		t.Error(err)
	}
}

// An evaluation ends with its context, whatever its policy does.
func TestEvaluationEndsWithItsContext(t *testing.T) {
	dir := write(t, "a.rego", "package main\n\ndeny contains \"x\" if {\n\tcount(numbers.range(1, 1000000000)) == 3\n}\n")
	e, err := New(t.Context(), Options{Policies: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Eval(ctx, Input{Object: map[string]any{}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// One call that its arguments keep busy for ever is out of the bound's reach, so it is off.
func TestUnboundedBuiltinsAreOff(t *testing.T) {
	for _, call := range []string{"bits.lsh(1, 10000000000)", `graph.reachable_paths({"a": ["a"]}, ["a"])`} {
		_, err := New(t.Context(), Options{Policies: []string{write(t, "a.rego", "package main\n\ndeny contains "+call)}})
		if err == nil || !strings.Contains(err.Error(), "unsafe built-in function calls in expression: "+call[:strings.IndexByte(call, '(')]) {
			t.Errorf("%s: %v", call, err)
		}
	}
}
