package inventory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// rowAfter returns a row as it is after a step of its lifecycle, "" for a new one.
func rowAfter(t *testing.T, mode compose.WorkspaceMode, step string) inventory.Row {
	t.Helper()
	row, err := inventory.NewRow("a", inventorytest.Identity("i-1"), inventorytest.Snapshot(mode))
	if err != nil {
		t.Fatal(err)
	}
	if step == "" {
		return row
	}
	for _, s := range inventorytest.Lifecycle(mode) {
		s.Change(&row)
		row.Generation++
		if s.Name == step {
			return row
		}
	}
	t.Fatalf("the lifecycle of mode %s has no step %q", mode, step)
	return inventory.Row{}
}

// wantInvalid demands an *InvalidError with these errors, or none where there are none.
func wantInvalid(t *testing.T, err error, want []string) {
	t.Helper()
	var got []string
	if err != nil {
		invalid, ok := err.(*inventory.InvalidError) //nolint:errorlint // it is documented as returned bare
		if !ok {
			t.Fatalf("error %v, want an *InvalidError", err)
		}
		for _, e := range invalid.Errors {
			got = append(got, e.Error())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
