package inventory_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

func TestLifecycleIsValid(t *testing.T) {
	for _, mode := range compose.WorkspaceModes() {
		old := rowAfter(t, mode, "")
		for _, step := range inventorytest.Lifecycle(mode) {
			row := old.Clone()
			step.Change(&row)
			if err := row.ValidateUpdate(old); err != nil {
				t.Errorf("%s: %s: %v", mode, step.Name, err)
			}
			old = row
		}
	}
}

func TestValidateUpdate(t *testing.T) {
	const managed = compose.ManagedPVC
	for _, test := range []struct {
		name   string
		mode   compose.WorkspaceMode
		step   string // the last step before
		change func(*inventory.Row)
		want   []string
	}{
		{"nothing", managed, "run", func(*inventory.Row) {}, nil},
		{"another session", managed, "run", func(r *inventory.Row) { r.Identity.SessionID = "other" }, []string{"identity: Forbidden: never changes"}},
		{"another container", managed, "run", func(r *inventory.Row) { r.MainContainer = "other" }, []string{"mainContainer: Forbidden: never changes"}},
		{"another mode", compose.EmptyDir, "", func(r *inventory.Row) { r.WorkspaceMode = managed }, []string{"workspaceMode: Forbidden: never changes"}},
		{"another snapshot", managed, "run", func(r *inventory.Row) { r.SnapshotSHA256 = r.Intents[0].SHA256 }, []string{"snapshotSHA256: Forbidden: never changes"}},

		{"back from cleaning", managed, "clean up", func(r *inventory.Row) { r.State = inventory.Preserved }, []string{"state: Forbidden: cleaning does not become preserved"}},
		{"past scheduling", compose.EmptyDir, "", func(r *inventory.Row) { r.State = inventory.Preserved }, []string{"state: Forbidden: configured does not become preserved"}},

		{"forget a request", managed, "announce the Pod", func(r *inventory.Row) { r.Intents = r.Intents[:1] }, []string{"intents: Forbidden: a request that is still open is missing"}},
		{"forget a request whose answer was lost", managed, "lose the answer", func(r *inventory.Row) { r.Intents = nil }, []string{"intents: Forbidden: a request that is still open is missing"}},
		{"forget a refused request", managed, "be refused", func(r *inventory.Row) { r.Intents = r.Intents[:1] }, nil},
		{"forget the request that made the Pod", managed, "run", func(r *inventory.Row) { r.Intents = r.Intents[:2] }, []string{"pod.uid: Forbidden: no committed request created this Pod"}},

		{"another digest", managed, "announce the Pod", func(r *inventory.Row) { r.Intents[1].SHA256 = r.Intents[0].SHA256 }, []string{"intents[1]: Forbidden: what was requested never changes"}},
		{"another nonce", managed, "announce the Pod", func(r *inventory.Row) { r.Intents[1].Nonce = r.Intents[1].SHA256 }, []string{"intents: Forbidden: a request that is still open is missing"}},
		{"send again", managed, "lose the answer", func(r *inventory.Row) { r.Intents[0].Outcome = inventory.Pending }, []string{"intents[0].outcome: Forbidden: does not follow the recorded one"}},
		{"find nothing", managed, "lose the answer", func(r *inventory.Row) { r.Intents[0].Outcome = inventory.Refused }, nil},
		{"refuse what was committed", managed, "find the claim", func(r *inventory.Row) {
			r.Intents[0].Outcome, r.Intents[0].UID, r.Claim = inventory.Refused, "", nil
		}, []string{"intents[0].outcome: Forbidden: does not follow the recorded one", "claim: Forbidden: only cleaning forgets the claim"}},
		{"find what was refused", managed, "be refused", func(r *inventory.Row) {
			r.Intents[1].Outcome, r.Intents[1].UID = inventory.Committed, inventorytest.UID(9)
		}, []string{"intents[1].outcome: Forbidden: does not follow the recorded one"}},
		{"commit without the object", managed, "announce the Pod", func(r *inventory.Row) {
			r.Intents[1].Outcome, r.Intents[1].UID = inventory.Committed, inventorytest.UID(9)
		}, []string{"intents[1].uid: Forbidden: the object that was created is not recorded with it"}},
		{"commit another UID", managed, "run", func(r *inventory.Row) { r.Intents[2].UID, r.Pod.UID = inventorytest.UID(9), inventorytest.UID(9) }, []string{
			"intents[2].outcome: Forbidden: does not follow the recorded one",
			"pod: Forbidden: another Pod is recorded only after this one was recorded as gone",
		}},

		{"another Pod's name", managed, "run", func(r *inventory.Row) { r.Pod.Name = "other" }, []string{"pod: Forbidden: another Pod is recorded only after this one was recorded as gone"}},
		{"another claim's name", managed, "run", func(r *inventory.Row) { r.Claim.Name = "other" }, []string{"claim: Forbidden: never becomes another claim"}},
		{"another existing claim", compose.ExistingClaim, "run", func(r *inventory.Row) { r.Claim.UID = inventorytest.UID(9) }, []string{"claim: Forbidden: never becomes another claim"}},

		{"a request that was already sent", managed, "be refused", func(r *inventory.Row) {
			i := inventorytest.Intent(*r, inventory.Pod, 9)
			i.Outcome = inventory.Ambiguous
			r.Intents = append(r.Intents, i)
		}, []string{"intents[2].outcome: Forbidden: a request is recorded before it is sent"}},
		{"a second Pod", managed, "record the Pod", func(r *inventory.Row) {
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.Pod, 9))
		}, []string{"intents[3].kind: Forbidden: the instance has one"}},
		{"a second claim", managed, "find the claim", func(r *inventory.Row) {
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.PersistentVolumeClaim, 9))
		}, []string{"intents[1].kind: Forbidden: the instance has one"}},
		{"a Pod before the claim", managed, "", func(r *inventory.Row) {
			r.State = inventory.ProvisioningStorage
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.Pod, 9))
		}, []string{"intents[0].kind: Forbidden: is created only in state scheduling"}},
		{"a Pod while cleaning", managed, "see the Pod gone", func(r *inventory.Row) {
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.Pod, 9))
		}, []string{"intents[3].kind: Forbidden: is created only in state scheduling"}},
		{"a claim for a replacement", managed, "lose the Pod", func(r *inventory.Row) {
			r.State = inventory.Scheduling
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.PersistentVolumeClaim, 9))
		}, []string{
			"intents[3].kind: Forbidden: is created only in state provisioning-storage",
			"intents[3].kind: Forbidden: the instance has one",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := rowAfter(t, test.mode, test.step)
			row := old.Clone()
			test.change(&row)
			wantInvalid(t, row.ValidateUpdate(old), test.want)
		})
	}
}

func TestValidateDelete(t *testing.T) {
	wantInvalid(t, rowAfter(t, compose.ManagedPVC, "be done").ValidateDelete(), nil)
	wantInvalid(t, rowAfter(t, compose.ManagedPVC, "see the claim gone").ValidateDelete(), []string{"state: Forbidden: only the row of a cleaned instance is deleted"})
}

func TestCheck(t *testing.T) {
	row := inventory.Row{Identity: inventorytest.Identity("i-1"), Generation: 5, Holder: inventory.Holder{Owner: "a", Epoch: 2}}
	free := row
	free.Holder = inventory.Holder{Epoch: 3}
	for _, test := range []struct {
		row        inventory.Row
		holder     inventory.Holder
		generation int64
		want       error
		text       string
	}{
		{row, row.Holder, 5, nil, ""},
		{row, row.Holder, 4, &inventory.ConflictError{InstanceID: "i-1", Have: 5, Want: 4}, `instance "i-1" was written meanwhile: its generation is 5, not 4`},
		{row, inventory.Holder{Owner: "a", Epoch: 1}, 5, &inventory.FencedError{InstanceID: "i-1", Have: row.Holder, Want: inventory.Holder{Owner: "a", Epoch: 1}}, `instance "i-1" is held by "a" since epoch 2, not by "a" since epoch 1`},
		{row, inventory.Holder{Owner: "b", Epoch: 2}, 4, &inventory.FencedError{InstanceID: "i-1", Have: row.Holder, Want: inventory.Holder{Owner: "b", Epoch: 2}}, `instance "i-1" is held by "a" since epoch 2, not by "b" since epoch 2`},
		{free, free.Holder, 5, &inventory.FencedError{InstanceID: "i-1", Have: free.Holder, Want: free.Holder}, `instance "i-1" is held by nobody since epoch 3, not by nobody since epoch 3`},
	} {
		err := test.row.Check(test.holder, test.generation)
		if diff := cmp.Diff(test.want, err); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if err != nil && err.Error() != test.text {
			t.Errorf("it says %s\nwant    %s", err, test.text)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	row := rowAfter(t, compose.ManagedPVC, "run")
	row.ControlPort, row.MainContainer = -1, ""
	var invalid *inventory.InvalidError
	if !errors.As(row.Validate(), &invalid) || len(invalid.Errors) != 2 {
		t.Fatalf("%v: want two errors", invalid)
	}
	if got, want := (&inventory.InvalidError{InstanceID: "i-1", Errors: invalid.Errors[1:]}).Error(), `instance "i-1": controlPort: Invalid value: must be a port`; got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
	if got, want := (&inventory.SchemaError{Have: 3, Known: 2}).Error(), "the inventory has schema version 3 and this program knows up to 2: use a newer program"; got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
}
