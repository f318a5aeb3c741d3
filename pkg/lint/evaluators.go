package lint

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/kandev-podlint/policy"
)

// evaluators compiles the policies of each set of directories once.
type evaluators struct {
	mu    sync.Mutex
	byKey map[string]*compilation
}

// compilation is one set of policies, compiled or on the way.
type compilation struct {
	done      chan struct{}
	evaluator *policy.Evaluator
	err       error
}

// start returns the compilation of a set of directories, which goes on meanwhile: the template that needs it
// is still to be read and checked.
func (e *evaluators) start(ctx context.Context, dirs []string) *compilation {
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	key := strings.Join(dirs, "\x00")
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.byKey[key]; ok {
		return c
	}
	c := &compilation{done: make(chan struct{})}
	if e.byKey == nil {
		e.byKey = map[string]*compilation{}
	}
	e.byKey[key] = c
	go func() {
		defer close(c.done)
		if len(dirs) == 0 {
			c.evaluator, c.err = policy.Default(ctx)
			return
		}
		c.evaluator, c.err = policy.New(context.WithoutCancel(ctx), policy.Options{Policies: dirs})
	}()
	return c
}

// wait returns the compiled policies.
func (c *compilation) wait() (*policy.Evaluator, error) {
	<-c.done
	return c.evaluator, c.err
}
