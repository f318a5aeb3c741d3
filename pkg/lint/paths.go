package lint

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Paths lints files, directories, globs and "-" and hands on each file's results in path order. It
// stops at the first error, be it of a policy, of emit, or of the context; what is wrong with a file or a
// configuration is a finding, not an error.
func (l *Linter) Paths(ctx context.Context, paths []string, emit func(FileResult) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	// The queue keeps the order and bounds how far the workers run ahead of emit.
	queue := make(chan *job, 16*workers)
	work := make(chan *job, 16*workers)
	var running sync.WaitGroup
	defer running.Wait()
	for range workers {
		running.Go(func() {
			for j := range work {
				j.run(ctx, l)
			}
		})
	}
	running.Go(func() {
		defer close(queue)
		defer close(work)
		walk(paths, func(s source) bool {
			j := &job{source: s, done: make(chan struct{})}
			select {
			case <-ctx.Done():
				return false
			case queue <- j:
				work <- j
				return true
			}
		})
	})
	return drain(ctx, cancel, queue, emit)
}

// job is one file on its way through the workers.
type job struct {
	source  source
	results []FileResult
	err     error
	done    chan struct{}
}

func (j *job) run(ctx context.Context, l *Linter) {
	defer close(j.done)
	if j.err = ctx.Err(); j.err == nil {
		j.results, j.err = l.source(ctx, j.source)
	}
}

// drain hands results on in order. After an error it lets the workers finish what they have.
func drain(ctx context.Context, cancel context.CancelFunc, queue <-chan *job, emit func(FileResult) error) error {
	var failed error
	reported := map[string]bool{} // faulty configurations
	for j := range queue {
		<-j.done
		if failed == nil {
			failed = handOn(j, reported, emit)
		}
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil {
			cancel()
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// handOn hands on one file's results. A faulty configuration is reported with the first file below it.
func handOn(j *job, reported map[string]bool, emit func(FileResult) error) error {
	if fault, ok := errors.AsType[*ConfigError](j.err); ok {
		if reported[fault.File] {
			return nil
		}
		reported[fault.File] = true
		return emit(fault.result())
	}
	if j.err != nil {
		return j.err
	}
	for _, r := range j.results {
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}
