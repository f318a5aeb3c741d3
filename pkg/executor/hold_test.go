package executor_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// TestRelease: what one process gives up another one takes; what it does not hold stays where it is.
func TestRelease(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	id := inventorytest.Identity("i-1")
	if _, err := store.Create(t.Context(), "first", id, inventorytest.Snapshot("empty_dir")); err != nil {
		t.Fatal(err)
	}
	of := func(owner string) *executor.Executor {
		client, err := executor.NewClient(&rest.Config{Host: "https://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		e, err := executor.New(executor.Options{Client: client, Inventory: store, Owner: owner, Namespace: id.Namespace})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := of("first"), of("second")
	if err := second.Release(t.Context(), "i-1"); err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*executor.Error](second.Stop(t.Context(), "i-1")); !ok || e.Reason != executor.InventoryConflict {
		t.Errorf("of an instance that another holds: %v", e)
	}
	for range 2 {
		if err := first.Release(t.Context(), "i-1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Stop(t.Context(), "i-1"); err != nil {
		t.Error(err)
	}
	row, err := store.Get(t.Context(), "i-1")
	if want := (inventory.Holder{Owner: "second", Epoch: 3}); err != nil || row.Holder != want {
		t.Errorf("held by %v, want %v: %v", row.Holder, want, err)
	}
	if err := first.Release(t.Context(), "nowhere"); err != nil {
		t.Error(err)
	}
}

func TestMaterialValidate(t *testing.T) {
	const secret = "canary-1f3870be"
	blob := upload.NewBlob([]byte(secret))
	file := func(path string, mode fs.FileMode) []upload.File {
		return []upload.File{{Path: path, Mode: mode, Content: blob}}
	}
	for name, c := range map[string]struct {
		material executor.Material
		want     string // "" for material that is good
	}{
		"all of it":             {executor.Material{Agent: blob, Prepare: blob, AuthEnv: []bootstrap.EnvVar{{Name: "KEY", Value: secret}}, Files: file("/run/kandev/home/.a", 0o600)}, ""},
		"no agent":              {executor.Material{}, "no agent"},
		"a name twice":          {executor.Material{Agent: blob, RuntimeEnv: []bootstrap.EnvVar{{Name: "A", Value: secret}, {Name: "A"}}}, "A is given twice"},
		"a name of its own":     {executor.Material{Agent: blob, AuthEnv: []bootstrap.EnvVar{{Name: "AGENTCTL_BOOTSTRAP_NONCE", Value: secret}}}, "AGENTCTL_BOOTSTRAP_NONCE is given twice"},
		"a file elsewhere":      {executor.Material{Agent: blob, Files: file("/etc/passwd", 0o600)}, "not below /run/kandev/home"},
		"a file that climbs":    {executor.Material{Agent: blob, Files: file("/run/kandev/home/../auth.env", 0o600)}, "not below /run/kandev/home"},
		"a file of two lines":   {executor.Material{Agent: blob, Files: file("/run/kandev/home/a\nb", 0o600)}, "not a plain path"},
		"a file of too much":    {executor.Material{Agent: blob, Files: file("/run/kandev/home/a", 0o4755)}, "more than permission bits"},
		"a name of no variable": {executor.Material{Agent: blob, AuthEnv: []bootstrap.EnvVar{{Name: "A-B", Value: secret}}}, "not letters, digits and _"},
	} {
		err := c.material.Validate()
		switch {
		case (c.want == "") != (err == nil), err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), secret):
			t.Errorf("%s: the error shows content: %v", name, err)
		}
	}
}
