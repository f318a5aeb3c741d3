package inventorytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

func testList(t *testing.T, inv inventory.Inventory) {
	if rows := must(inv.List(t.Context(), inventory.Filter{}))(t); len(rows) != 0 {
		t.Fatalf("an empty inventory has %d rows", len(rows))
	}
	snapshot := Snapshot(compose.EmptyDir)
	var all []inventory.Row
	// Made in another order than listed; the order of bytes has capitals first, and - before . before digits before _.
	for n, instance := range []string{"b", "a_1", "a1", "a.1", "a-1", "B", "a", "A", "0", "aa"} {
		id := Identity(instance)
		id.Namespace = []string{"east", "west"}[n%2]
		row := must(inv.Create(t.Context(), []string{"x", "y", "z"}[n%3], id, snapshot))(t)
		if n%4 == 0 {
			row.State = inventory.Scheduling
			row = must(inv.Update(t.Context(), row.Holder, row))(t)
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b inventory.Row) int { return strings.Compare(a.Identity.InstanceID, b.Identity.InstanceID) })

	for _, f := range []inventory.Filter{
		{},
		{Owner: "x"},
		{Owner: "nobody"},
		{Namespace: "west"},
		{Owner: "x", Namespace: "west"},
		{States: []inventory.State{inventory.Scheduling}},
		{States: []inventory.State{inventory.Running}},
		{States: []inventory.State{inventory.Configured, inventory.Scheduling}},
		{After: "a"},
		{After: "a.1", Limit: 2},
		{Limit: 3},
		{After: "b"},
		{Owner: "y", Namespace: "east", States: []inventory.State{inventory.Configured}, After: "A", Limit: 1},
	} {
		same(t, fmt.Sprintf("%+v", f), filtered(all, f), must(inv.List(t.Context(), f))(t))
	}

	var paged []inventory.Row
	for f := (inventory.Filter{Limit: 3}); ; f.After = paged[len(paged)-1].Identity.InstanceID {
		page := must(inv.List(t.Context(), f))(t)
		paged = append(paged, page...)
		if len(page) < f.Limit {
			break
		}
	}
	same(t, "all pages", all, paged)
}

// filtered is what List returns of rows that are sorted.
func filtered(all []inventory.Row, f inventory.Filter) []inventory.Row {
	var out []inventory.Row
	for _, r := range all {
		if (f.Owner == "" || r.Holder.Owner == f.Owner) && (f.Namespace == "" || r.Identity.Namespace == f.Namespace) &&
			(len(f.States) == 0 || slices.Contains(f.States, r.State)) && r.Identity.InstanceID > f.After &&
			(f.Limit <= 0 || len(out) < f.Limit) {
			out = append(out, r)
		}
	}
	return out
}
