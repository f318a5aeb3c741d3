// Package inventorytest holds an implementation of inventory.Inventory against what the interface promises.
//
// A backend with an implementation of its own calls Run in a test:
//
//	func TestInventory(t *testing.T) {
//		inventorytest.Run(t, func(t *testing.T) inventory.Inventory { return openEmpty(t) })
//	}
package inventorytest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Run runs every test as a subtest. open returns an inventory without rows, which the test closes.
func Run(t *testing.T, open func(t *testing.T) inventory.Inventory) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, inventory.Inventory)
	}{
		{"Create", testCreate},
		{"NotFound", testNotFound},
		{"Lifecycle", testLifecycle},
		{"Snapshot", testSnapshot},
		{"Returned rows are the caller's", testCopies},
		{"Refused changes", testRefusedChanges},
		{"Fencing", testFencing},
		{"Delete", testDelete},
		{"List", testList},
		{"Ended context", testEndedContext},
		{"Race to create", testRaceToCreate},
		{"Race to update", testRaceToUpdate},
		{"Race to take over", testRaceToTakeOver},
		{"No update is lost", testNoLostUpdate},
		{"Model", testModel},
		{"Close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			inv := open(t)
			t.Cleanup(func() { inv.Close() }) //nolint:errcheck,gosec // the test of Close closes it before
			test.run(t, inv)
		})
	}
}

func testCreate(t *testing.T, inv inventory.Inventory) {
	id, snapshot := Identity("i-1"), Snapshot(compose.ManagedPVC)
	got := must(inv.Create(t.Context(), "a", id, snapshot))(t)
	want := inventory.Row{
		Identity:       id,
		State:          inventory.Configured,
		Generation:     1,
		Holder:         inventory.Holder{Owner: "a", Epoch: 1},
		MainContainer:  compose.DefaultMainContainer,
		WorkspaceMode:  compose.ManagedPVC,
		SnapshotSHA256: snapshot.SHA256(),
		CreatedAt:      got.CreatedAt,
		UpdatedAt:      got.CreatedAt,
	}
	want.Identity.Name = compose.PodName("i-1")
	same(t, "the created row", want, got)
	same(t, "the stored row", want, must(inv.Get(t.Context(), "i-1"))(t))
	if got.CreatedAt.IsZero() || got.CreatedAt.Nanosecond()%1000 != 0 || got.CreatedAt.Location().String() != "UTC" {
		t.Errorf("it was created at %v: want a time in UTC, to the microsecond", got.CreatedAt)
	}

	_, err := inv.Create(t.Context(), "b", id, snapshot)
	wantError(t, "a second create", err, inventory.ErrExists)
	same(t, "the row after a second create", want, must(inv.Get(t.Context(), "i-1"))(t))

	for name, change := range map[string]func(owner *string, id *compose.Identity){
		"no owner":         func(owner *string, _ *compose.Identity) { *owner = "" },
		"an owner of text": func(owner *string, _ *compose.Identity) { *owner = "backend of Monday" },
		"no instance":      func(_ *string, id *compose.Identity) { id.InstanceID = "" },
		"no namespace":     func(_ *string, id *compose.Identity) { id.Namespace = "" },
		"a task of text":   func(_ *string, id *compose.Identity) { id.TaskID = "mend the roof" },
	} {
		owner, id := "a", Identity("i-2")
		change(&owner, &id)
		_, err := inv.Create(t.Context(), owner, id, snapshot)
		wantA[*inventory.InvalidError](t, "create with "+name, err)
	}
	if rows := must(inv.List(t.Context(), inventory.Filter{}))(t); len(rows) != 1 {
		t.Errorf("after refused creates there are %d rows, want 1", len(rows))
	}
}

func testNotFound(t *testing.T, inv inventory.Inventory) {
	ctx, holder := t.Context(), inventory.Holder{Owner: "a", Epoch: 1}
	row := must(inventory.NewRow("a", Identity("i-1"), Snapshot(compose.EmptyDir)))(t)
	_, err := inv.Get(ctx, "i-1")
	wantError(t, "Get", err, inventory.ErrNotFound)
	_, err = inv.Snapshot(ctx, "i-1")
	wantError(t, "Snapshot", err, inventory.ErrNotFound)
	_, err = inv.Update(ctx, holder, row)
	wantError(t, "Update", err, inventory.ErrNotFound)
	_, err = inv.TakeOver(ctx, "i-1", holder, "b")
	wantError(t, "TakeOver", err, inventory.ErrNotFound)
	wantError(t, "Delete", inv.Delete(ctx, holder, "i-1", 1), inventory.ErrNotFound)
}

// testLifecycle writes and reads every field in every state.
func testLifecycle(t *testing.T, inv inventory.Inventory) {
	for _, mode := range compose.WorkspaceModes() {
		row := must(inv.Create(t.Context(), "a", Identity(string(mode)), Snapshot(mode)))(t)
		for _, step := range Lifecycle(mode) {
			want := row.Clone()
			step.Change(&want)
			got, err := inv.Update(t.Context(), row.Holder, want)
			if err != nil {
				t.Fatalf("%s: %s: %v", mode, step.Name, err)
			}
			want.Generation++
			want.UpdatedAt = got.UpdatedAt
			same(t, string(mode)+": "+step.Name, want, got)
			same(t, string(mode)+": "+step.Name+", stored", want, must(inv.Get(t.Context(), string(mode)))(t))
			row = got
		}
		if row.State != inventory.Cleaned {
			t.Fatalf("%s: the lifecycle ends in state %s", mode, row.State)
		}
		if err := inv.Delete(t.Context(), row.Holder, string(mode), row.Generation); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func testSnapshot(t *testing.T, inv inventory.Inventory) {
	for _, mode := range compose.WorkspaceModes() {
		want := Snapshot(mode)
		row := must(inv.Create(t.Context(), "a", Identity(string(mode)), want))(t)
		got := must(inv.Snapshot(t.Context(), string(mode)))(t)
		same(t, string(mode), string(want.Encode()), string(got.Encode()))
		same(t, string(mode), row.SnapshotSHA256, got.SHA256())
	}
}

// testCopies demands that no row shares memory with another or with the inventory.
func testCopies(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	want := row.Clone()
	spoil := func(r inventory.Row) {
		r.Intents[0].Nonce = "spoilt"
		r.Pod.Name = "spoilt"
		r.Claim.Name = "spoilt"
	}
	spoil(row)
	spoil(must(inv.Get(t.Context(), "i-1"))(t))
	spoil(must(inv.List(t.Context(), inventory.Filter{}))(t)[0])
	same(t, "the row", want, must(inv.Get(t.Context(), "i-1"))(t))

	given := want.Clone()
	got := must(inv.Update(t.Context(), want.Holder, given))(t)
	spoil(got)
	same(t, "the row that was given", want, given)
}

func testRefusedChanges(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	for name, change := range map[string]func(*inventory.Row){
		"another identity":       func(r *inventory.Row) { r.Identity.SessionID = "other" },
		"another main container": func(r *inventory.Row) { r.MainContainer = "other" },
		"an impossible state":    func(r *inventory.Row) { r.State = inventory.Configured },
		"an unknown state":       func(r *inventory.Row) { r.State = "resting" },
		"another Pod":            func(r *inventory.Row) { r.Pod.UID = UID(99) },
		"no claim":               func(r *inventory.Row) { r.Claim = nil },
		"a failure of text":      func(r *inventory.Row) { r.LastFailure = &inventory.Failure{Code: "the password was wrong"} },
	} {
		changed := row.Clone()
		change(&changed)
		_, err := inv.Update(t.Context(), row.Holder, changed)
		wantA[*inventory.InvalidError](t, name, err)
		same(t, "the row after "+name, row, must(inv.Get(t.Context(), "i-1"))(t))
	}
	_, err := inv.TakeOver(t.Context(), "i-1", row.Holder, "backend of Monday")
	wantA[*inventory.InvalidError](t, "an owner of text", err)

	// The holder and the time of creation are the inventory's, whatever the caller has written there.
	changed := row.Clone()
	changed.Holder = inventory.Holder{Owner: "thief", Epoch: 7}
	changed.CreatedAt = changed.CreatedAt.AddDate(-1, 0, 0)
	got := must(inv.Update(t.Context(), row.Holder, changed))(t)
	same(t, "the holder", row.Holder, got.Holder)
	same(t, "the time of creation", row.CreatedAt, got.CreatedAt)
	same(t, "the stored row", got, must(inv.Get(t.Context(), "i-1"))(t))
}

func testFencing(t *testing.T, inv inventory.Inventory) {
	ctx := t.Context()
	first := running(t, inv, "i-1")

	taken := must(inv.TakeOver(ctx, "i-1", first.Holder, "b"))(t)
	want := first.Clone()
	want.Generation++
	want.Holder = inventory.Holder{Owner: "b", Epoch: 2}
	want.UpdatedAt = taken.UpdatedAt
	same(t, "the row that was taken over", want, taken)
	same(t, "as stored", want, must(inv.Get(ctx, "i-1"))(t))

	// The old owner is refused even with the newest row, and so is whoever takes over from it.
	_, err := inv.Update(ctx, first.Holder, taken)
	wantError(t, "the old owner's update", err, &inventory.FencedError{InstanceID: "i-1", Have: taken.Holder, Want: first.Holder})
	wantA[*inventory.FencedError](t, "the old owner's delete", inv.Delete(ctx, first.Holder, "i-1", taken.Generation))
	_, err = inv.TakeOver(ctx, "i-1", first.Holder, "c")
	wantA[*inventory.FencedError](t, "a late take-over", err)

	// Being fenced comes before having an old row: the one can be mended, the other not.
	_, err = inv.Update(ctx, first.Holder, first)
	wantA[*inventory.FencedError](t, "the old owner's update of its own row", err)
	_, err = inv.Update(ctx, taken.Holder, first)
	wantError(t, "an update of an old row", err, &inventory.ConflictError{InstanceID: "i-1", Have: taken.Generation, Want: first.Generation})

	// An owner that comes back holds the row in a new epoch.
	back := must(inv.TakeOver(ctx, "i-1", taken.Holder, "a"))(t)
	_, err = inv.Update(ctx, first.Holder, back)
	wantA[*inventory.FencedError](t, "the owner's update of its first epoch", err)
	back = must(inv.Update(ctx, back.Holder, back))(t)

	// Nobody writes, and a row that was given up can be taken.
	nobody := must(inv.TakeOver(ctx, "i-1", back.Holder, ""))(t)
	same(t, "the holder of a row that was given up", inventory.Holder{Epoch: 4}, nobody.Holder)
	_, err = inv.Update(ctx, nobody.Holder, nobody)
	wantA[*inventory.FencedError](t, "nobody's update", err)
	again := must(inv.TakeOver(ctx, "i-1", nobody.Holder, "c"))(t)
	same(t, "the holder after that", inventory.Holder{Owner: "c", Epoch: 5}, again.Holder)
}

func testDelete(t *testing.T, inv inventory.Inventory) {
	ctx := t.Context()
	row := running(t, inv, "i-1")
	other := running(t, inv, "i-2")
	wantA[*inventory.InvalidError](t, "delete of a running instance", inv.Delete(ctx, row.Holder, "i-1", row.Generation))
	for _, step := range Lifecycle(compose.ManagedPVC) {
		if row.State.CanBecome(inventory.Cleaning) || row.State == inventory.Cleaning {
			changed := row.Clone()
			step.Change(&changed)
			if changed.State == inventory.Cleaning || changed.State == inventory.Cleaned {
				row = must(inv.Update(ctx, row.Holder, changed))(t)
			}
		}
	}
	same(t, "the state", inventory.Cleaned, row.State)
	wantA[*inventory.ConflictError](t, "delete of an old generation", inv.Delete(ctx, row.Holder, "i-1", row.Generation-1))
	wantA[*inventory.FencedError](t, "delete by another", inv.Delete(ctx, inventory.Holder{Owner: "b", Epoch: 1}, "i-1", row.Generation))
	if err := inv.Delete(ctx, row.Holder, "i-1", row.Generation); err != nil {
		t.Fatal(err)
	}
	_, err := inv.Get(ctx, "i-1")
	wantError(t, "Get", err, inventory.ErrNotFound)
	_, err = inv.Snapshot(ctx, "i-1")
	wantError(t, "Snapshot", err, inventory.ErrNotFound)
	wantError(t, "a second delete", inv.Delete(ctx, row.Holder, "i-1", row.Generation), inventory.ErrNotFound)
	same(t, "the other row", []inventory.Row{other}, must(inv.List(ctx, inventory.Filter{}))(t))
}

func testEndedContext(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inv.Create(ctx, "a", Identity("i-2"), Snapshot(compose.EmptyDir))
	wantError(t, "Create", err, context.Canceled)
	_, err = inv.Get(ctx, "i-1")
	wantError(t, "Get", err, context.Canceled)
	_, err = inv.Snapshot(ctx, "i-1")
	wantError(t, "Snapshot", err, context.Canceled)
	_, err = inv.List(ctx, inventory.Filter{})
	wantError(t, "List", err, context.Canceled)
	_, err = inv.Update(ctx, row.Holder, row)
	wantError(t, "Update", err, context.Canceled)
	_, err = inv.TakeOver(ctx, "i-1", row.Holder, "b")
	wantError(t, "TakeOver", err, context.Canceled)
	wantError(t, "Delete", inv.Delete(ctx, row.Holder, "i-1", row.Generation), context.Canceled)
	same(t, "the rows", []inventory.Row{row}, must(inv.List(t.Context(), inventory.Filter{}))(t))
}

func testClose(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	if err := inv.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := inv.Get(t.Context(), "i-1"); err == nil || errors.Is(err, inventory.ErrNotFound) {
		t.Errorf("Get from a closed inventory: %v", err)
	}
	if _, err := inv.Update(t.Context(), row.Holder, row); err == nil {
		t.Error("a closed inventory was written")
	}
}

// must returns what a call returned, and ends the test where it failed.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

// wantError demands an error as sameError compares them.
func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !sameError(want, err) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// wantA demands an error of a type.
func wantA[E error](t *testing.T, what string, err error) {
	t.Helper()
	if !isA[E](err) {
		t.Errorf("%s: error %v, want a %T", what, err, *new(E))
	}
}
