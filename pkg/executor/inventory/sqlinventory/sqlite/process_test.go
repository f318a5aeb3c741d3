package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

// childEnv says which of children this process of the test binary is to be.
const childEnv = "KANDEV_INVENTORY_TEST_CHILD"

// children are the programs that tests run as processes of their own, on the file that is named by an argument.
var children = map[string]func(path string) error{
	"racer":  racer,
	"writer": writer,
}

func TestMain(m *testing.M) {
	if run, ok := children[os.Getenv(childEnv)]; ok {
		if err := run(os.Args[1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a process that a test speaks with, a line at a time.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, name, path string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), self, path)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+name)
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a line.
func (c *child) ask(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		t.Fatal(err)
	}
}

// answer reads a line.
func (c *child) answer(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the process ended: %v", c.lines.Err())
	}
	return c.lines.Text()
}

// racer opens the inventory and then does what each line of its input says: "update GENERATION" as owner "owner" in
// epoch 1, or "take over EPOCH OWNER" from whoever holds the row, and answers "won" or "lost".
func racer(path string) error {
	ctx := context.Background()
	inv, err := Open(ctx, path)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		row, err := inv.Get(ctx, "i-1")
		if err != nil {
			return err
		}
		switch words[0] {
		case "update":
			row.Generation, err = strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				return err
			}
			_, err = inv.Update(ctx, row.Holder, row)
		case "take-over":
			_, err = inv.TakeOver(ctx, "i-1", inventory.Holder{Owner: words[1], Epoch: row.Holder.Epoch}, words[2])
		}
		switch {
		case err == nil:
			fmt.Println("won")
		case isA[*inventory.ConflictError](err), isA[*inventory.FencedError](err):
			fmt.Println("lost")
		default:
			return err
		}
	}
	return inv.Close()
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// TestProcessesRace lets several processes open a file that is not there yet, all at once, and then race for one row:
// of those that write the same generation, and of those that take over from the same holder, one wins.
func TestProcessesRace(t *testing.T) {
	const processes, rounds = 6, 25
	path := newFile(t)
	racers := make([]*child, processes)
	for n := range racers {
		racers[n] = startChild(t, "racer", path)
	}
	for n, r := range racers {
		if got := r.answer(t); got != "ready" {
			t.Fatalf("racer %d says %s", n, got)
		}
	}
	row := create(t, openFile(t, path), "i-1")
	owner := row.Holder.Owner
	for round := range rounds {
		winners := raceOf(t, racers, func(int) string { return fmt.Sprintf("update %d", 1+2*round) })
		if len(winners) != 1 {
			t.Fatalf("round %d: %d processes wrote generation %d", round, len(winners), 2+2*round)
		}
		winners = raceOf(t, racers, func(n int) string { return fmt.Sprintf("take-over %s racer-%d-%d", owner, round, n) })
		if len(winners) != 1 {
			t.Fatalf("round %d: %d processes took over", round, len(winners))
		}
		owner = fmt.Sprintf("racer-%d-%d", round, winners[0])
	}
	got, err := openFile(t, path).Get(t.Context(), "i-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := (inventory.Holder{Owner: owner, Epoch: 1 + rounds}); got.Holder != want || got.Generation != 1+2*rounds {
		t.Errorf("in the end: generation %d, held by %v; want %d, %v", got.Generation, got.Holder, 1+2*rounds, want)
	}
	for n, r := range racers {
		if err := r.in.Close(); err != nil {
			t.Error(err)
		}
		if err := r.cmd.Wait(); err != nil {
			t.Errorf("racer %d: %v", n, err)
		}
	}
}

// raceOf sends each racer its line and returns those that won.
func raceOf(t *testing.T, racers []*child, line func(n int) string) (winners []int) {
	t.Helper()
	for n, r := range racers {
		r.ask(t, line(n))
	}
	for n, r := range racers {
		switch got := r.answer(t); got {
		case "won":
			winners = append(winners, n)
		case "lost":
		default:
			t.Fatalf("racer %d says %s", n, got)
		}
	}
	return winners
}

// writer takes instances through their lifecycles, several at once, for ever, and says a line for each write that was
// acknowledged: the instance's ID and the generation, 0 when the row was deleted.
func writer(path string) error {
	inv, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for n := range 4 {
		go func() {
			for round := 0; ; round++ {
				if err := live(inv, fmt.Sprintf("%d.%d.%d", os.Getpid(), n, round)); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// live takes one instance through its lifecycle.
func live(inv inventory.Inventory, instanceID string) error {
	ctx := context.Background()
	mode := modeOf(instanceID)
	row, err := inv.Create(ctx, "writer", inventorytest.Identity(instanceID), inventorytest.Snapshot(mode))
	if err != nil {
		return err
	}
	fmt.Println(instanceID, row.Generation)
	for _, step := range inventorytest.Lifecycle(mode) {
		step.Change(&row)
		if row, err = inv.Update(ctx, row.Holder, row); err != nil {
			return err
		}
		fmt.Println(instanceID, row.Generation)
	}
	if err := inv.Delete(ctx, row.Holder, instanceID, row.Generation); err != nil {
		return err
	}
	fmt.Println(instanceID, 0)
	return nil
}
