package inventorytest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Each race is run this often, by this many goroutines.
const (
	raceRounds = 10
	racers     = 16
)

func testRaceToCreate(t *testing.T, inv inventory.Inventory) {
	snapshot := Snapshot(compose.EmptyDir)
	for round := range raceRounds {
		instance := fmt.Sprintf("i-%d", round)
		winner := race(t, func(n int) error {
			_, err := inv.Create(t.Context(), owner(n), Identity(instance), snapshot)
			return err
		}, func(err error) bool { return errors.Is(err, inventory.ErrExists) })
		same(t, "the owner", owner(winner), must(inv.Get(t.Context(), instance))(t).Holder.Owner)
	}
}

func testRaceToUpdate(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	for range raceRounds {
		winner := race(t, func(n int) error {
			changed := row.Clone()
			changed.ControlPort = int32(n + 1) //nolint:gosec // the number of a racer
			_, err := inv.Update(t.Context(), row.Holder, changed)
			return err
		}, isA[*inventory.ConflictError])
		got := must(inv.Get(t.Context(), "i-1"))(t)
		if got.Generation != row.Generation+1 || got.ControlPort != int32(winner+1) { //nolint:gosec // the number of a racer
			t.Fatalf("after racer %d won: generation %d after %d, the change of racer %d", winner, got.Generation, row.Generation, got.ControlPort-1)
		}
		row = got
	}
}

func testRaceToTakeOver(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	for range raceRounds {
		winner := race(t, func(n int) error {
			_, err := inv.TakeOver(t.Context(), "i-1", row.Holder, owner(n))
			return err
		}, isA[*inventory.FencedError])
		got := must(inv.Get(t.Context(), "i-1"))(t)
		same(t, "the holder", inventory.Holder{Owner: owner(winner), Epoch: row.Holder.Epoch + 1}, got.Holder)
		row = got
	}
}

// testNoLostUpdate lets all racers write at once, each reading again after a conflict.
func testNoLostUpdate(t *testing.T, inv inventory.Inventory) {
	row := running(t, inv, "i-1")
	const writes = 5
	each(func(int) {
		for range writes {
			for {
				now, err := inv.Get(t.Context(), "i-1")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err = inv.Update(t.Context(), now.Holder, now); err == nil {
					break
				}
				if !isA[*inventory.ConflictError](err) {
					t.Error(err)
					return
				}
			}
		}
	})
	if got := must(inv.Get(t.Context(), "i-1"))(t).Generation; got != row.Generation+racers*writes {
		t.Errorf("generation %d after %d writes from %d", got, racers*writes, row.Generation)
	}
}

// race runs all racers at once and returns the only one that succeeded. The others must have lost as they should.
func race(t *testing.T, run func(n int) error, lost func(error) bool) (winner int) {
	t.Helper()
	errs := make([]error, racers)
	each(func(n int) { errs[n] = run(n) })
	winners := 0
	for n, err := range errs {
		switch {
		case err == nil:
			winners++
			winner = n
		case !lost(err):
			t.Errorf("racer %d: %v", n, err)
		}
	}
	if winners != 1 {
		t.Fatalf("%d racers won, not one", winners)
	}
	return winner
}

// each runs f for every racer, all from the same moment, and waits for the last.
func each(f func(n int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for n := range racers {
		done.Go(func() {
			<-start
			f(n)
		})
	}
	close(start)
	done.Wait()
}

func owner(n int) string { return fmt.Sprintf("racer-%d", n) }

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
