package inventorytest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Benchmark measures each call. open returns an inventory without rows.
func Benchmark(b *testing.B, open func(b *testing.B) inventory.Inventory) {
	b.Run("Create", func(b *testing.B) {
		inv, snapshot := open(b), Snapshot(compose.ManagedPVC)
		n := 0
		for b.Loop() {
			n++
			if _, err := inv.Create(b.Context(), "a", Identity(fmt.Sprintf("i-%d", n)), snapshot); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Update", func(b *testing.B) {
		inv := open(b)
		row := fill(b, inv, 1)[0]
		for b.Loop() {
			var err error
			if row, err = inv.Update(b.Context(), row.Holder, row); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Update/of 16 at once", func(b *testing.B) {
		inv := open(b)
		rows := fill(b, inv, 16)
		var next atomic.Int64
		b.SetParallelism(8) // times two cores
		b.RunParallel(func(pb *testing.PB) {
			row := rows[int(next.Add(1)-1)%len(rows)]
			for pb.Next() {
				var err error
				if row, err = inv.Update(b.Context(), row.Holder, row); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	b.Run("Get", func(b *testing.B) {
		inv := open(b)
		fill(b, inv, 1)
		for b.Loop() {
			if _, err := inv.Get(b.Context(), "i-0"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("List of 5000", func(b *testing.B) {
		inv := open(b)
		fill(b, inv, 5000)
		for b.Loop() {
			if rows, err := inv.List(b.Context(), inventory.Filter{}); err != nil || len(rows) != 5000 {
				b.Fatal(len(rows), err)
			}
		}
	})
}

// fill creates rows and takes each to where it knows a Pod.
func fill(b *testing.B, inv inventory.Inventory, n int) []inventory.Row {
	b.Helper()
	rows := make([]inventory.Row, n)
	for i := range rows {
		row, err := inv.Create(b.Context(), "a", Identity(fmt.Sprintf("i-%d", i)), Snapshot(compose.EmptyDir))
		if err != nil {
			b.Fatal(err)
		}
		row.State, row.Intents = inventory.Scheduling, []inventory.Intent{Intent(row, inventory.Pod, i)}
		if row, err = inv.Update(b.Context(), row.Holder, row); err != nil {
			b.Fatal(err)
		}
		row.Intents[0].Outcome, row.Intents[0].UID = inventory.Committed, UID(i)
		row.Pod = &inventory.Object{Name: row.Identity.PodName(), UID: UID(i)}
		if rows[i], err = inv.Update(b.Context(), row.Holder, row); err != nil {
			b.Fatal(err)
		}
	}
	return rows
}
