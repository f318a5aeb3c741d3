package inventory_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// TestEveryStateIsReached demands that each state can be come to, and that each can be left for the end.
func TestEveryStateIsReached(t *testing.T) {
	if got := reach(inventory.Configured); len(got) != len(inventory.States()) {
		t.Errorf("from %s only %v are reached, not all of %v", inventory.Configured, got, inventory.States())
	}
	for _, s := range inventory.States() {
		if !slices.Contains(reach(s), inventory.Cleaned) {
			t.Errorf("from %s there is no way to %s", s, inventory.Cleaned)
		}
	}
}

// TestNoWayBackFromCleaning demands that what is being deleted is not used again.
func TestNoWayBackFromCleaning(t *testing.T) {
	if got, want := reach(inventory.Cleaning), []inventory.State{inventory.Cleaned, inventory.Cleaning}; !slices.Equal(got, want) {
		t.Errorf("from %s these are reached: %v, want %v", inventory.Cleaning, got, want)
	}
}

// TestCanBecome holds CanBecome against Next.
func TestCanBecome(t *testing.T) {
	for _, from := range inventory.States() {
		for _, to := range inventory.States() {
			if got, want := from.CanBecome(to), from == to || slices.Contains(from.Next(), to); got != want {
				t.Errorf("%s to %s: %t, want %t", from, to, got, want)
			}
		}
	}
	if unknown := inventory.State("unknown"); unknown.CanBecome(unknown) || unknown.Next() != nil {
		t.Error("an unknown state leads somewhere")
	}
}

// reach returns the states that can be come to, sorted.
func reach(from inventory.State) []inventory.State {
	seen := map[inventory.State]bool{from: true}
	for todo := []inventory.State{from}; len(todo) > 0; todo = todo[1:] {
		for _, s := range todo[0].Next() {
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
