package inventorytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// testModel runs random calls on the inventory and on a model of it, a map, and compares what they answer.
func testModel(t *testing.T, inv inventory.Inventory) {
	snapshots := map[compose.WorkspaceMode]compose.Snapshot{}
	for _, mode := range compose.WorkspaceModes() {
		snapshots[mode] = Snapshot(mode)
	}
	var runs atomic.Int64 // each run has a namespace and instances of its own
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			T: rt, t: t, inv: inv, snapshots: snapshots,
			run:  fmt.Sprintf("run-%d", runs.Add(1)),
			rows: map[string]inventory.Row{},
			old:  map[string][]inventory.Row{},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create":    m.create,
			"update":    m.update,
			"take over": m.takeOver,
			"delete":    m.delete,
			"read":      m.read,
			"list":      m.list,
		})
	})
}

type model struct {
	*rapid.T
	t         *testing.T
	inv       inventory.Inventory
	snapshots map[compose.WorkspaceMode]compose.Snapshot
	run       string
	rows      map[string]inventory.Row   // what the inventory holds
	old       map[string][]inventory.Row // what it held before, for those who come late
	seed      int                        // of the next intent
}

var owners = []string{"a", "b", "c"}

// instance draws the ID of an instance that may or may not be there.
func (m *model) instance() string {
	return m.run + "." + rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(m.T, "instance")
}

// seen draws a row of an instance as it is or was.
func (m *model) seen(instance string) inventory.Row {
	id := Identity(instance)
	id.Namespace = m.run
	rows := m.old[instance]
	if now, ok := m.rows[instance]; ok {
		rows = append(slices.Clone(rows), now, now, now, now, now)
	}
	if len(rows) == 0 {
		return must(inventory.NewRow("a", id, m.snapshots[compose.EmptyDir]))(m.t)
	}
	return rapid.SampledFrom(rows).Draw(m.T, "seen").Clone()
}

// agree demands that the inventory answered as the model does, and keeps what it wrote.
func (m *model) agree(instance string, want inventory.Row, wantErr error, got inventory.Row, err error) {
	if wantErr != nil {
		if !sameError(wantErr, err) {
			m.Fatalf("error %v, want %v", err, wantErr)
		}
		return
	}
	if err != nil {
		m.Fatalf("error %v, want none", err)
	}
	want.CreatedAt, want.UpdatedAt = got.CreatedAt, got.UpdatedAt
	if before, ok := m.rows[instance]; ok {
		want.CreatedAt = before.CreatedAt
		m.old[instance] = append(m.old[instance], before)
	}
	m.same(want, got)
	m.rows[instance] = got.Clone()
}

// sameError compares errors that wrap the same one, or are of the same type with the same fields.
func sameError(want, got error) bool {
	if conflict, ok := errors.AsType[*inventory.ConflictError](want); ok {
		other, ok := errors.AsType[*inventory.ConflictError](got)
		return ok && *conflict == *other
	}
	if fenced, ok := errors.AsType[*inventory.FencedError](want); ok {
		other, ok := errors.AsType[*inventory.FencedError](got)
		return ok && *fenced == *other
	}
	if isA[*inventory.InvalidError](want) {
		return isA[*inventory.InvalidError](got)
	}
	return errors.Is(got, want)
}

func (m *model) same(want, got any) {
	if diff := cmp.Diff(want, got); diff != "" {
		m.Fatalf("-model +inventory\n%s", diff)
	}
}

func (m *model) create(*rapid.T) {
	instance := m.instance()
	if _, deleted := m.old[instance]; deleted && m.rows[instance].State == "" {
		m.Skip("an instance ID is used once")
	}
	id := Identity(instance)
	id.Namespace = m.run
	mode := rapid.SampledFrom(compose.WorkspaceModes()).Draw(m.T, "mode")
	owner := rapid.SampledFrom(append(owners, "")).Draw(m.T, "owner")
	want, wantErr := inventory.NewRow(owner, id, m.snapshots[mode])
	if _, exists := m.rows[instance]; exists && wantErr == nil {
		wantErr = inventory.ErrExists
	}
	got, err := m.inv.Create(m.t.Context(), owner, id, m.snapshots[mode])
	m.agree(instance, want, wantErr, got, err)
}

func (m *model) update(*rapid.T) {
	instance := m.instance()
	row := m.seen(instance)
	holder := m.seen(instance).Holder
	m.change(&row)
	before, exists := m.rows[instance]
	want, wantErr := row, inventory.ErrNotFound
	if exists {
		want.Generation, want.Holder = before.Generation+1, before.Holder
		if wantErr = before.Check(holder, row.Generation); wantErr == nil {
			wantErr = want.ValidateUpdate(before)
		}
	}
	got, err := m.inv.Update(m.t.Context(), holder, row)
	m.agree(instance, want, wantErr, got, err)
}

// change makes one random change, which may be a step forward or nonsense.
func (m *model) change(r *inventory.Row) {
	m.seed++
	changes := map[string]func(){
		"state": func() { r.State = rapid.SampledFrom(inventory.States()).Draw(m.T, "state") },
		"step": func() {
			for _, step := range Lifecycle(r.WorkspaceMode) {
				next := r.Clone()
				if len(next.Intents) == 0 {
					next.Intents = []inventory.Intent{Intent(next, inventory.Pod, 0)} // some steps speak of the last one
				}
				step.Change(&next)
				if next.ValidateUpdate(*r) == nil && !cmp.Equal(next, *r) {
					*r = next
					return
				}
			}
		},
		"intent": func() {
			kind := rapid.SampledFrom([]inventory.Kind{inventory.Pod, inventory.PersistentVolumeClaim}).Draw(m.T, "kind")
			r.Intents = append(r.Intents, Intent(*r, kind, 1000+m.seed))
		},
		"outcome": func() {
			if len(r.Intents) == 0 {
				return
			}
			i := &r.Intents[len(r.Intents)-1]
			i.Outcome = rapid.SampledFrom([]inventory.Outcome{inventory.Pending, inventory.Ambiguous, inventory.Refused, inventory.Committed}).Draw(m.T, "outcome")
			i.UID = ""
			if i.Outcome == inventory.Committed {
				i.UID = UID(1000 + m.seed)
				object := &inventory.Object{Name: i.Name, UID: i.UID}
				if i.Kind == inventory.Pod {
					r.Pod = object
				} else {
					r.Claim = object
				}
			}
		},
		"no Pod":   func() { r.Pod = nil },
		"no claim": func() { r.Claim = nil },
		"claim":    func() { r.Claim = &inventory.Object{Name: "shared", UID: UID(7)} },
		"port":     func() { r.ControlPort = rapid.Int32Range(-1, 70000).Draw(m.T, "port") },
		"failure": func() {
			r.LastFailure = rapid.SampledFrom([]*inventory.Failure{nil, {Code: "image-pull"}, {Code: "claim-pending", Kind: inventory.PersistentVolumeClaim, Name: "shared"}, {Code: "Oh no!"}}).Draw(m.T, "failure")
		},
		"identity": func() { r.Identity.TaskID = "task-2" },
	}
	changes[rapid.SampledFrom(slices.Sorted(maps.Keys(changes))).Draw(m.T, "change")]()
}

func (m *model) takeOver(*rapid.T) {
	instance := m.instance()
	from := m.seen(instance).Holder
	owner := rapid.SampledFrom(append(owners, "", "not a label value")).Draw(m.T, "owner")
	before, exists := m.rows[instance]
	want, wantErr := before.Clone(), inventory.ErrNotFound
	if exists {
		wantErr = nil
		want.Generation++
		want.Holder = inventory.Holder{Owner: owner, Epoch: from.Epoch + 1}
		if before.Holder != from {
			wantErr = &inventory.FencedError{InstanceID: instance, Have: before.Holder, Want: from}
		} else if err := want.Validate(); err != nil {
			wantErr = err
		}
	}
	got, err := m.inv.TakeOver(m.t.Context(), instance, from, owner)
	m.agree(instance, want, wantErr, got, err)
}

func (m *model) delete(*rapid.T) {
	instance := m.instance()
	row, holder := m.seen(instance), m.seen(instance).Holder
	before, exists := m.rows[instance]
	wantErr := inventory.ErrNotFound
	if exists {
		if wantErr = before.Check(holder, row.Generation); wantErr == nil {
			wantErr = before.ValidateDelete()
		}
	}
	err := m.inv.Delete(m.t.Context(), holder, instance, row.Generation)
	switch {
	case wantErr != nil && !sameError(wantErr, err), wantErr == nil && err != nil:
		m.Fatalf("error %v, want %v", err, wantErr)
	case wantErr == nil:
		m.old[instance] = append(m.old[instance], before)
		delete(m.rows, instance)
	}
}

func (m *model) read(*rapid.T) {
	instance := m.instance()
	want, exists := m.rows[instance]
	got, err := m.inv.Get(m.t.Context(), instance)
	snapshot, snapshotErr := m.inv.Snapshot(m.t.Context(), instance)
	if !exists {
		if !errors.Is(err, inventory.ErrNotFound) || !errors.Is(snapshotErr, inventory.ErrNotFound) {
			m.Fatalf("errors %v and %v, want %v", err, snapshotErr, inventory.ErrNotFound)
		}
		return
	}
	if err := errors.Join(err, snapshotErr); err != nil {
		m.Fatal(err)
	}
	m.same(want, got)
	m.same(want.SnapshotSHA256, snapshot.SHA256())
}

func (m *model) list(*rapid.T) {
	f := inventory.Filter{
		Owner:     rapid.SampledFrom(append(owners, "", "")).Draw(m.T, "owner"),
		Namespace: m.run,
		States:    rapid.SliceOfN(rapid.SampledFrom(inventory.States()), 0, 3).Draw(m.T, "states"),
		After:     rapid.SampledFrom([]string{"", m.run + ".1", m.run + ".2"}).Draw(m.T, "after"),
		Limit:     rapid.IntRange(0, 3).Draw(m.T, "limit"),
	}
	all := slices.SortedFunc(maps.Values(m.rows), func(a, b inventory.Row) int { return strings.Compare(a.Identity.InstanceID, b.Identity.InstanceID) })
	got, err := m.inv.List(m.t.Context(), f)
	if err != nil {
		m.Fatal(err)
	}
	m.same(filtered(all, f), got)
}
