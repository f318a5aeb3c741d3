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
	byKey map[string]*compiled
}

type compiled struct {
	once      sync.Once
	evaluator *policy.Evaluator
	err       error
}

func (e *evaluators) get(ctx context.Context, dirs []string) (*policy.Evaluator, error) {
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	key := strings.Join(dirs, "\x00")
	e.mu.Lock()
	if e.byKey == nil {
		e.byKey = map[string]*compiled{}
	}
	c, ok := e.byKey[key]
	if !ok {
		c = &compiled{}
		e.byKey[key] = c
	}
	e.mu.Unlock()
	c.once.Do(func() {
		if len(dirs) == 0 {
			c.evaluator, c.err = policy.Default(ctx)
			return
		}
		c.evaluator, c.err = policy.New(ctx, policy.Options{Policies: dirs})
	})
	return c.evaluator, c.err
}
