package cli

import (
	"context"
	"io"
)

// interruptible is a reader whose Read ends with the context, even while it waits for input. What it waited
// for is then lost: the process is about to end.
type interruptible struct {
	ctx context.Context //nolint:containedctx // io.Reader takes none
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buf := make([]byte, len(p))
	go func() {
		n, err := i.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	}
}
