package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

type memory struct {
	mu   sync.Mutex
	rows map[string]inventory.Row
	snap map[string]compose.Snapshot
}

func newMemory() *memory {
	return &memory{rows: map[string]inventory.Row{}, snap: map[string]compose.Snapshot{}}
}

func (m *memory) Create(_ context.Context, owner string, id compose.Identity, s compose.Snapshot) (inventory.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := inventory.NewRow(owner, id, s)
	if err != nil {
		return r, err
	}
	if _, ok := m.rows[id.InstanceID]; ok {
		return r, inventory.ErrExists
	}
	m.rows[id.InstanceID], m.snap[id.InstanceID] = r, s
	return r.Clone(), nil
}

func (m *memory) Get(_ context.Context, id string) (inventory.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[id]
	if !ok {
		return r, inventory.ErrNotFound
	}
	return r.Clone(), nil
}

func (m *memory) Snapshot(_ context.Context, id string) (compose.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snap[id], nil
}

func (m *memory) List(context.Context, inventory.Filter) ([]inventory.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []inventory.Row
	for _, r := range m.rows {
		out = append(out, r.Clone())
	}
	slices.SortFunc(out, func(a, b inventory.Row) int { return strings.Compare(a.Identity.InstanceID, b.Identity.InstanceID) })
	return out, nil
}

func (m *memory) Update(_ context.Context, h inventory.Holder, r inventory.Row) (inventory.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.rows[r.Identity.InstanceID]
	if !ok {
		return r, inventory.ErrNotFound
	}
	if err := old.Check(h, r.Generation); err != nil {
		return r, err
	}
	if err := r.ValidateUpdate(old); err != nil {
		return r, err
	}
	r = r.Clone()
	r.Generation++
	r.UpdatedAt = time.Now()
	m.rows[r.Identity.InstanceID] = r
	return r.Clone(), nil
}

func (m *memory) TakeOver(_ context.Context, id string, from inventory.Holder, owner string) (inventory.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[id]
	r.Holder = inventory.Holder{Owner: owner, Epoch: from.Epoch + 1}
	r.Generation++
	m.rows[id] = r
	return r.Clone(), nil
}

func (m *memory) Delete(_ context.Context, h inventory.Holder, id string, generation int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[id]
	if !ok {
		return inventory.ErrNotFound
	}
	if err := r.Check(h, generation); err != nil {
		return err
	}
	delete(m.rows, id)
	return nil
}

func (m *memory) Close() error { return nil }
