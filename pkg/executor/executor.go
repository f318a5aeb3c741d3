package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// DefaultAgentTimeout bounds the wait for the agent's answer once it has been started.
const DefaultAgentTimeout = time.Minute

// Options say how an Executor works. Client, Inventory, Owner and Namespace are required.
type Options struct {
	Client    *Client
	Inventory inventory.Inventory
	// Owner names this process in the inventory, in the form of a DNS name. No other process may ever have had the name.
	Owner string
	// Namespace is that of every session.
	Namespace string
	// Handshake makes agent and backend known to each other; nil is HTTPHandshake{}.
	Handshake Handshake
	// Observe is told what happens, from the goroutine that makes it happen; nil is nobody. It must not block.
	Observe func(Event)
	// Logger gets the same; nil is none.
	Logger *slog.Logger
	// Telemetry is told of every call; nil is none.
	Telemetry Telemetry
	// StartTimeout bounds the wait for a Pod to run, AgentTimeout that for the agent's answer; zero means the defaults.
	StartTimeout time.Duration
	AgentTimeout time.Duration
}

// Executor runs agent sessions in one namespace. It is safe for concurrent use; calls for one instance follow one another.
type Executor struct {
	Options
	locks locks
}

// New returns an Executor. It asks nothing of the cluster.
func New(o Options) (*Executor, error) {
	switch {
	case o.Client == nil || o.Inventory == nil:
		return nil, errors.New("executor: Client and Inventory are required")
	case len(validation.IsDNS1123Subdomain(o.Owner)) > 0:
		return nil, fmt.Errorf("executor: owner %q is no DNS name", o.Owner)
	case len(validation.IsDNS1123Label(o.Namespace)) > 0:
		return nil, fmt.Errorf("executor: %q is no namespace", o.Namespace)
	}
	if o.Handshake == nil {
		o.Handshake = HTTPHandshake{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.AgentTimeout = cmp.Or(o.AgentTimeout, DefaultAgentTimeout)
	return &Executor{Options: o}, nil
}

// Request is what a new session is made of.
type Request struct {
	// Identity is whose session it is. Its namespace is the executor's.
	Identity compose.Identity
	Template *corev1.PodTemplateSpec
	Profile  compose.Profile
	Material Material
}

// Launch starts a session: claim, Pod, upload, handshake. A launch that fails for a reason that is certain takes back what it
// created, claim and row too. Where something is not certain, or the context or the process ended, everything stays as
// recorded: Resume goes on, Cleanup takes it back.
//
// The error is an *Error, a *compose.Invalid, Material.Validate's, or the inventory's.
func (e *Executor) Launch(ctx context.Context, r Request) (*Session, error) {
	if err := r.Material.Validate(); err != nil {
		return nil, err
	}
	snapshot, err := compose.NewSnapshot(r.Template, r.Profile)
	if err != nil {
		return nil, err
	}
	r.Identity.Namespace = e.Namespace
	var s *Session
	err = e.measured(ctx, "launch", r.Identity.InstanceID, func(ctx context.Context) error {
		s, err = e.launch(ctx, r.Identity, snapshot, &r.Material)
		return err
	})
	return s, err
}

func (e *Executor) launch(ctx context.Context, id compose.Identity, snapshot compose.Snapshot, m *Material) (*Session, error) {
	unlock, err := e.locks.lock(ctx, id.InstanceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	row, err := e.Inventory.Create(ctx, e.Owner, id, snapshot)
	if err != nil {
		return nil, inventoryError(err)
	}
	i, err := e.work(row, snapshot)
	if err != nil {
		return nil, err
	}
	i.material = m
	s, err := i.advance(ctx)
	if err != nil {
		return nil, i.takeBack(ctx, err)
	}
	return s, nil
}

// Resume makes a recorded session run, from wherever it is: it goes on with a launch that was cut off, reconnects to the Pod
// that is there, and replaces one that was lost, from the recorded snapshot and the verified claim. The material is used where
// a Pod has to be given it.
func (e *Executor) Resume(ctx context.Context, instanceID string, m Material) (*Session, error) {
	var s *Session
	err := e.with(ctx, "resume", instanceID, func(ctx context.Context, i *instance) (err error) {
		i.material = &m
		s, err = i.advance(ctx)
		return i.remember(ctx, err)
	})
	return s, err
}

// Reconnect reaches a session whose Pod is there: its recorded name and UID, every ownership label and the main container. It
// creates nothing. Anything else fails and touches nothing.
func (e *Executor) Reconnect(ctx context.Context, instanceID string) (*Session, error) {
	var s *Session
	err := e.with(ctx, "reconnect", instanceID, func(ctx context.Context, i *instance) (err error) {
		s, err = i.reconnect(ctx)
		return i.remember(ctx, err)
	})
	return s, err
}

// Stop records that nobody uses the session for now. Pod and claim are kept. Close the Session too.
func (e *Executor) Stop(ctx context.Context, instanceID string) error {
	return e.with(ctx, "stop", instanceID, func(ctx context.Context, i *instance) error {
		switch i.row.State {
		case inventory.Running, inventory.Bootstrapping, inventory.Scheduling:
			return i.enter(ctx, inventory.Preserved)
		}
		return nil
	})
}

// Cleanup ends a session for ever: its Pod, then the claim that it created, then its row. Each object is deleted only after its
// live UID and ownership labels match the record, with preconditions, and waited for; what is gone already is no error. An
// existing claim is never deleted. Anything that does not match stops everything, and deletes nothing more.
func (e *Executor) Cleanup(ctx context.Context, instanceID string) error {
	err := e.with(ctx, "cleanup", instanceID, func(ctx context.Context, i *instance) error { return i.remember(ctx, i.cleanUp(ctx)) })
	if errors.Is(err, inventory.ErrNotFound) {
		return nil
	}
	return err
}

// List returns the sessions of the executor's namespace, by instance ID.
func (e *Executor) List(ctx context.Context) ([]inventory.Row, error) {
	rows, err := e.Inventory.List(ctx, inventory.Filter{Namespace: e.Namespace})
	return rows, inventoryError(err)
}

// Status is what is recorded of a session, and what the cluster says of its Pod.
type Status struct {
	Row inventory.Row
	// Pod is the recorded Pod as it is, nil where there is none.
	Pod *corev1.Pod
	// Fault is what keeps the main container from running, nil where nothing is known to.
	Fault *Error
}

// Status looks at a session and changes nothing.
func (e *Executor) Status(ctx context.Context, instanceID string) (Status, error) {
	row, err := e.rowOf(ctx, instanceID)
	if err != nil {
		return Status{}, err
	}
	s := Status{Row: row}
	if row.Pod == nil {
		return s, nil
	}
	pod, err := e.livePod(ctx, &row)
	switch reasonOf(err) {
	case "":
		s.Pod = pod
		_, fault := inspect(pod, row.MainContainer)
		if fault != nil && fault.err.Reason == Crashed {
			_, fault = restarting(pod, row.MainContainer, fault)
		}
		if fault != nil {
			s.Fault = fault.err
		}
		return s, err
	case PodLost:
		s.Fault, _ = errors.AsType[*Error](err)
		return s, nil
	}
	return s, err
}

// with works on a recorded instance that this process holds, or takes one that was given up.
func (e *Executor) with(ctx context.Context, operation, instanceID string, f func(context.Context, *instance) error) error {
	return e.measured(ctx, operation, instanceID, func(ctx context.Context) error {
		i, unlock, err := e.take(ctx, instanceID)
		if err != nil {
			return err
		}
		defer unlock()
		return f(ctx, i)
	})
}

// take locks a recorded instance and reads what is recorded of it.
func (e *Executor) take(ctx context.Context, instanceID string) (*instance, func(), error) {
	unlock, err := e.locks.lock(ctx, instanceID)
	if err != nil {
		return nil, nil, err
	}
	i, err := e.read(ctx, instanceID)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return i, unlock, nil
}

// rowOf returns the row of an instance of the executor's namespace.
func (e *Executor) rowOf(ctx context.Context, instanceID string) (inventory.Row, error) {
	row, err := e.Inventory.Get(ctx, instanceID)
	if err == nil && row.Identity.Namespace != e.Namespace {
		return row, &Error{Reason: IdentityMismatch, Subject: instanceID, Message: fmt.Sprintf("the instance is in namespace %s, not in %s", row.Identity.Namespace, e.Namespace)}
	}
	return row, inventoryError(err)
}

// read reads what is recorded of an instance that this process holds, or takes one that was given up.
func (e *Executor) read(ctx context.Context, instanceID string) (*instance, error) {
	row, err := e.rowOf(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	if row.Holder.Owner == "" {
		if row, err = e.Inventory.TakeOver(ctx, instanceID, row.Holder, e.Owner); err != nil {
			return nil, inventoryError(err)
		}
	}
	if row.Holder.Owner != e.Owner {
		return nil, &Error{Reason: InventoryConflict, Subject: instanceID, Message: "the instance is held by " + row.Holder.String()}
	}
	snapshot, err := e.Inventory.Snapshot(ctx, instanceID)
	if err != nil {
		return nil, inventoryError(err)
	}
	return e.work(row, snapshot)
}

// TakeOver makes this process the holder of an instance that another process holds and that is known to be dead. Whoever else
// still works on it is fenced off by the inventory.
func (e *Executor) TakeOver(ctx context.Context, instanceID string) error {
	row, err := e.Inventory.Get(ctx, instanceID)
	if err == nil && row.Holder.Owner != e.Owner {
		_, err = e.Inventory.TakeOver(ctx, instanceID, row.Holder, e.Owner)
	}
	return inventoryError(err)
}

// Release gives an instance up that this process holds, so that the next call of any process takes it. What this process does
// not hold, and an instance without a row, are left alone.
func (e *Executor) Release(ctx context.Context, instanceID string) error {
	unlock, err := e.locks.lock(ctx, instanceID)
	if err != nil {
		return err
	}
	defer unlock()
	row, err := e.Inventory.Get(ctx, instanceID)
	if err == nil && row.Holder.Owner == e.Owner {
		_, err = e.Inventory.TakeOver(ctx, instanceID, row.Holder, "")
	}
	if errors.Is(err, inventory.ErrNotFound) {
		return nil
	}
	return inventoryError(err)
}

// inventoryError classifies what the inventory says of a write or a read.
func inventoryError(err error) error {
	if err == nil {
		return nil
	}
	reason := InventoryFailed
	if _, ok := errors.AsType[*inventory.ConflictError](err); ok {
		reason = InventoryConflict
	}
	if _, ok := errors.AsType[*inventory.FencedError](err); ok {
		reason = InventoryConflict
	}
	return &Error{Reason: reason, Message: err.Error(), cause: err}
}

// locks let one goroutine at a time work on an instance.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the instance is free
}

// lock waits for the instance, or for the end of the context.
func (l *locks) lock(ctx context.Context, instanceID string) (unlock func(), err error) {
	for {
		l.mu.Lock()
		free, busy := l.held[instanceID]
		if !busy {
			free = make(chan struct{})
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}
			l.held[instanceID] = free
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, instanceID)
				close(free)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, endedError(ctx)
		}
	}
}
