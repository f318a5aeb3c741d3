package policy

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// bound is how much one evaluation may take. The pack needs a thousandth of either; what reaches them is a policy that
// does not end.
type bound struct {
	time time.Duration
	heap uint64 // bytes that the process holds more than at the start, garbage not counted; 0 is no bound
}

// defaultBound is the bound of every evaluation. Only a user's policies can build large values, so only with those is
// memory watched: a process that evaluates the pack alone may do much else meanwhile.
var (
	defaultBound = bound{time: 10 * time.Second}
	userHeap     = uint64(512 << 20)
)

// start begins an evaluation.
func (b bound) start(ctx context.Context) *evaluation {
	return &evaluation{ctx: ctx, bound: b, deadline: time.Now().Add(b.time), heap: b.heapNow()}
}

// evaluation is one that runs. OPA asks it at every step whether to go on, always from one goroutine.
type evaluation struct {
	ctx      context.Context //nolint:containedctx // it lives as long as the call that it bounds
	bound    bound
	deadline time.Time
	heap     uint64 // at the start
	steps    int
	reason   error // why it is to end
}

var _ topdown.Cancel = (*evaluation)(nil)

// stepsBetweenLooks is how many steps OPA takes, some 100 µs, between two looks at what they cost.
const stepsBetweenLooks = 1024

// Cancel ends the evaluation.
func (e *evaluation) Cancel() { e.reason = context.Canceled }

// Cancelled reports whether the evaluation is to end.
func (e *evaluation) Cancelled() bool {
	if e.steps++; e.reason == nil && e.steps%stepsBetweenLooks == 0 {
		e.reason = e.look()
	}
	return e.reason != nil
}

// look says why the evaluation is to end, nil if it may go on.
func (e *evaluation) look() error {
	switch {
	case e.ctx.Err() != nil:
		return context.Cause(e.ctx)
	case time.Now().After(e.deadline):
		return fmt.Errorf("the evaluation of one document was stopped here after %v: a policy must end", e.bound.time)
	case e.bound.heap > 0 && e.overHeap():
		return fmt.Errorf("the evaluation of one document was stopped here: it holds more than %d MiB of memory", e.bound.heap>>20)
	}
	return nil
}

// overHeap reports whether the heap has grown past its bound; what is only garbage is collected first.
func (e *evaluation) overHeap() bool {
	if e.bound.heapNow() <= e.heap+e.bound.heap {
		return false
	}
	runtime.GC()
	return e.bound.heapNow() > e.heap+e.bound.heap
}

// heapNow is how many bytes the objects of the heap take, where that is bounded.
func (b bound) heapNow() uint64 {
	if b.heap == 0 {
		return 0
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// explain turns the error of an evaluation that was ended into one that says why and where. OPA does not tell the
// place, so the query is asked again, for a tenth of the time, and followed: where it is after that is where it spends
// its time.
func (e *evaluation) explain(err error, again *topdown.Query) error {
	if e.reason == nil || !topdown.IsCancel(err) {
		return err
	}
	short := e.bound
	short.time /= 10
	var last lastPlace
	ended := again.WithQueryTracer(&last).WithCancel(short.start(e.ctx)).Iter(e.ctx, func(topdown.QueryResult) error { return nil })
	if ended == nil {
		last.at = nil
	}
	return &topdown.Error{Code: topdown.CancelErr, Message: e.reason.Error(), Location: last.at}
}

// lastPlace is a tracer that remembers the last expression of a user's policy that was evaluated.
type lastPlace struct{ at *ast.Location }

// Enabled, TraceEvent and Config make it a tracer.
func (*lastPlace) Enabled() bool { return true }

// Config asks for nothing beyond the events.
func (*lastPlace) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent takes one event.
func (l *lastPlace) TraceEvent(event topdown.Event) {
	at := event.Node.Loc()
	if event.Op == topdown.EvalOp && at != nil && at.File != "" && !inPack(at.File) {
		l.at = at
	}
}

// inPack reports whether a file, as messages name it, is one of the pack's.
func inPack(file string) bool {
	name, ok := strings.CutPrefix(file, packRoot)
	if !ok {
		return false
	}
	_, err := fs.Stat(pack, name)
	return err == nil
}
