package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// TestKilled kills a process that writes, at random points, and demands of the file each time that it opens, that every write
// that was acknowledged is there, and that each row is exactly what some write made of it: the last that was
// acknowledged, or the one that was under way.
//
// INVENTORY_KILLS and INVENTORY_SEED set the number of kills and where they fall.
func TestKilled(t *testing.T) {
	kills, seed := number(t, "INVENTORY_KILLS", 20), number(t, "INVENTORY_SEED", 1)
	t.Logf("%d kills from seed %d", kills, seed)
	rnd := rand.New(rand.NewPCG(seed, seed))
	path := newFile(t)
	known := map[string]int64{} // instances that are left from earlier kills, with their generation
	writes, underWay := 0, 0
	for range kills {
		acknowledged := runAndKill(t, path, 1+rnd.IntN(150), rnd.IntN(200_000))
		writes += len(acknowledged)
		for _, a := range acknowledged {
			known[a.instanceID] = a.generation
		}
		underWay += checkFile(t, path, known)
	}
	t.Logf("%d writes were acknowledged, %d were made and not acknowledged, %d rows are left", writes, underWay, len(known))
}

// acknowledgement is a line of the writer.
type acknowledgement struct {
	instanceID string
	generation int64 // 0: deleted
}

// runAndKill lets a writer run until it has acknowledged some writes, and a little longer, kills it, and returns all that it
// acknowledged.
func runAndKill(t *testing.T, path string, writes, spin int) []acknowledgement {
	t.Helper()
	c := startChild(t, "writer", path)
	var got []acknowledgement
	read := func() bool {
		if !c.lines.Scan() {
			return false
		}
		var a acknowledgement
		if _, err := fmt.Sscan(c.lines.Text(), &a.instanceID, &a.generation); err != nil {
			t.Fatalf("the writer says %s", c.lines.Text())
		}
		got = append(got, a)
		return true
	}
	for range writes {
		if !read() {
			t.Fatal("the writer ended by itself")
		}
	}
	for range spin { // to another point between two writes
		rand.Uint64()
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for read() { // what it said before it was killed
	}
	c.cmd.Wait() //nolint:errcheck // it was killed
	return got
}

// checkFile holds the file against what is known of it, brings that up to date, and returns how many rows are
// one write further.
func checkFile(t *testing.T, path string, known map[string]int64) (further int) {
	t.Helper()
	inv, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer inv.Close() //nolint:errcheck // a test's
	rows, err := inv.List(t.Context(), inventory.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, row := range rows {
		id := row.Identity.InstanceID
		acknowledged, ok := known[id]
		if row.Generation != acknowledged && row.Generation != acknowledged+1 || ok && acknowledged == 0 {
			t.Errorf("instance %s has generation %d; generation %d was acknowledged (0: none, or deleted)", id, row.Generation, acknowledged)
			continue
		}
		further += int(row.Generation - acknowledged)
		found[id] = row.Generation
		want := rowOf(t, id, row.Generation)
		if diff := cmp.Diff(want, row, cmpopts.IgnoreFields(inventory.Row{}, "CreatedAt", "UpdatedAt")); diff != "" {
			t.Errorf("instance %s, generation %d: -want +got\n%s", id, row.Generation, diff)
		}
		snapshot, err := inv.Snapshot(t.Context(), id)
		if err != nil || snapshot.SHA256() != row.SnapshotSHA256 {
			t.Errorf("instance %s: launch snapshot: %v", id, err)
		}
	}
	for id, generation := range known {
		last := int64(1 + len(inventorytest.Lifecycle(modeOf(id))))
		if _, ok := found[id]; !ok && generation != 0 {
			if generation != last {
				t.Errorf("instance %s is missing; its generation %d was acknowledged, and the delete comes after %d", id, generation, last)
			}
			further++
		}
	}
	clear(known)
	for id, generation := range found {
		known[id] = generation
	}
	return further
}

// modeOf returns the mode that the writer gives an instance.
func modeOf(instanceID string) compose.WorkspaceMode {
	modes := compose.WorkspaceModes()
	return modes[int(instanceID[len(instanceID)-1]-'0')%len(modes)]
}

// rowOf returns an instance's row in a generation, as the writer writes it.
func rowOf(t *testing.T, instanceID string, generation int64) inventory.Row {
	t.Helper()
	mode := modeOf(instanceID)
	row, err := inventory.NewRow("writer", inventorytest.Identity(instanceID), inventorytest.Snapshot(mode))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range inventorytest.Lifecycle(mode)[:generation-1] {
		step.Change(&row)
		row.Generation++
	}
	return row
}

// number reads an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
