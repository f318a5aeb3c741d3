package inventory_test

import (
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
)

const (
	labelForm = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	nameForm  = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	hexForm   = "must be 64 lowercase hex digits"
)

// TestValidate breaks one row that holds everything, a field at a time.
func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		mode   compose.WorkspaceMode
		step   string
		change func(*inventory.Row)
		want   []string
	}{
		{name: "nothing", change: func(*inventory.Row) {}},
		{name: "identity", change: func(r *inventory.Row) { r.Identity.TaskID = "a b" }, want: []string{"task-id: Invalid value: " + labelForm}},
		{name: "no name", change: func(r *inventory.Row) { r.Identity.Name = "" }, want: []string{"name: Required value: the Pod's name is recorded"}},
		{name: "no namespace", change: func(r *inventory.Row) { r.Identity.Namespace = "" }, want: []string{"namespace: Required value: every object is in one"}},
		{name: "owner", change: func(r *inventory.Row) { r.Holder.Owner = "a b" }, want: []string{"holder.owner: Invalid value: " + nameForm}},
		{name: "epoch", change: func(r *inventory.Row) { r.Holder.Epoch = 0 }, want: []string{"holder.epoch: Invalid value: counts from 1"}},
		{name: "generation", change: func(r *inventory.Row) { r.Holder.Epoch = r.Generation + 1 }, want: []string{"generation: Invalid value: is at least the epoch: a change of hands is a write"}},
		{name: "main container", change: func(r *inventory.Row) { r.MainContainer = "" }, want: []string{"mainContainer: Invalid value: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"}},
		{name: "workspace mode", change: func(r *inventory.Row) { r.WorkspaceMode = "tape" }, want: []string{
			`workspaceMode: Unsupported value: supported values: "managed_pvc", "empty_dir", "existing_claim"`,
			"intents[0].kind: Forbidden: only mode managed_pvc creates a claim",
		}},
		{name: "snapshot", change: func(r *inventory.Row) { r.SnapshotSHA256 = strings.ToUpper(r.SnapshotSHA256) }, want: []string{"snapshotSHA256: Invalid value: " + hexForm}},
		{name: "port", change: func(r *inventory.Row) { r.ControlPort = 65536 }, want: []string{"controlPort: Invalid value: must be a port"}},

		{name: "kind", change: func(r *inventory.Row) { r.Intents[0].Kind = "Secret" }, want: []string{
			`intents[0].kind: Unsupported value: supported values: "Pod", "PersistentVolumeClaim"`,
			"claim.uid: Forbidden: no committed request created this claim",
		}},
		{name: "name", change: func(r *inventory.Row) { r.Intents[1].Name = "other" }, want: []string{"intents[1].name: Invalid value: is not the name that the identity gives this kind"}},
		{name: "nonce", change: func(r *inventory.Row) { r.Intents[1].Nonce = "x" }, want: []string{"intents[1].nonce: Invalid value: " + hexForm}},
		{name: "nonce used twice", change: func(r *inventory.Row) { r.Intents[1].Nonce = r.Intents[0].Nonce }, want: []string{"intents[1].nonce: Duplicate value"}},
		{name: "digest", change: func(r *inventory.Row) { r.Intents[1].SHA256 = r.Intents[1].SHA256[:62] }, want: []string{"intents[1].sha256: Invalid value: " + hexForm}},
		{name: "outcome", change: func(r *inventory.Row) { r.Intents[1].Outcome = "lost" }, want: []string{`intents[1].outcome: Unsupported value: supported values: "pending", "ambiguous", "committed", "refused"`}},
		{name: "committed without UID", change: func(r *inventory.Row) { r.Intents[2].UID = "" }, want: []string{
			"intents[2].uid: Invalid value: must be a UUID in lowercase",
			"pod.uid: Forbidden: no committed request created this Pod",
		}},
		{name: "refused with UID", change: func(r *inventory.Row) { r.Intents[1].UID = inventorytest.UID(9) }, want: []string{"intents[1].uid: Forbidden: only a committed request has one"}},
		{name: "two open requests", change: func(r *inventory.Row) {
			r.Intents[0].Outcome, r.Intents[0].UID, r.Claim = inventory.Pending, "", nil
			r.Intents[1].Outcome = inventory.Ambiguous
			r.Intents[2].Outcome, r.Intents[2].UID, r.Pod = inventory.Pending, "", nil
			r.State = inventory.Configured
		}, want: []string{"intents[2]: Forbidden: another request for this kind is still open: two could be carried out"}},
		{name: "a created claim for an existing one", mode: compose.ExistingClaim, step: "run", change: func(r *inventory.Row) {
			r.Intents = append(r.Intents, inventorytest.Intent(*r, inventory.PersistentVolumeClaim, 9))
		}, want: []string{"intents[2].kind: Forbidden: only mode managed_pvc creates a claim"}},

		{name: "Pod's name", change: func(r *inventory.Row) { r.Pod.Name = "A" }, want: []string{"pod.name: Invalid value: " + nameForm}},
		{name: "Pod's UID", change: func(r *inventory.Row) { r.Pod.UID = "{" + r.Pod.UID + "}" }, want: []string{
			"pod.uid: Invalid value: must be a UUID in lowercase",
			"pod.uid: Forbidden: no committed request created this Pod",
		}},
		{name: "a Pod that was not created", change: func(r *inventory.Row) { r.Pod.UID = inventorytest.UID(9) }, want: []string{"pod.uid: Forbidden: no committed request created this Pod"}},
		{name: "a Pod with the claim's UID", change: func(r *inventory.Row) { r.Pod.UID = r.Claim.UID }, want: []string{"pod.uid: Forbidden: no committed request created this Pod"}},
		{name: "a managed claim that was not created", change: func(r *inventory.Row) { r.Claim.UID = inventorytest.UID(9) }, want: []string{"claim.uid: Forbidden: no committed request created this claim"}},
		{name: "an existing claim", mode: compose.ExistingClaim, step: "run", change: func(r *inventory.Row) { r.Claim.UID = inventorytest.UID(9) }},
		{name: "a claim for a directory", mode: compose.EmptyDir, step: "run", change: func(r *inventory.Row) { r.Claim = &inventory.Object{Name: "a", UID: inventorytest.UID(9)} }, want: []string{"claim: Forbidden: mode empty_dir has none"}},

		{name: "state", change: func(r *inventory.Row) { r.State = "" }, want: []string{`state: Unsupported value: supported values: "configured", "provisioning-storage", "scheduling", "bootstrapping", "running", "preserved", "cleaning", "cleaned"`}},
		{name: "running without Pod", change: func(r *inventory.Row) { r.Pod = nil }, want: []string{"state: Forbidden: there is no Pod"}},
		{name: "running without claim", change: func(r *inventory.Row) { r.Claim = nil }, want: []string{"state: Forbidden: there is no claim for the workspace"}},
		{name: "running in a directory", mode: compose.EmptyDir, step: "run", change: func(*inventory.Row) {}},
		{name: "cleaned with Pod", change: func(r *inventory.Row) { r.State, r.Claim = inventory.Cleaned, nil }, want: []string{"state: Forbidden: there is a Pod, a created claim or an open request"}},
		{name: "cleaned with claim", change: func(r *inventory.Row) { r.State, r.Pod = inventory.Cleaned, nil }, want: []string{"state: Forbidden: there is a Pod, a created claim or an open request"}},
		{name: "cleaned with request", change: func(r *inventory.Row) {
			r.State, r.Pod, r.Claim, r.Intents[1].Outcome = inventory.Cleaned, nil, nil, inventory.Ambiguous
		}, want: []string{"state: Forbidden: there is a Pod, a created claim or an open request"}},
		{name: "cleaned beside an existing claim", mode: compose.ExistingClaim, step: "run", change: func(r *inventory.Row) { r.State, r.Pod = inventory.Cleaned, nil }},

		{name: "failure", change: func(r *inventory.Row) {
			r.LastFailure = &inventory.Failure{Code: "image-pull", Kind: inventory.Pod, Name: "a"}
		}},
		{name: "failure of nothing", change: func(r *inventory.Row) { r.LastFailure = &inventory.Failure{Code: "unreachable"} }},
		{name: "failure in words", change: func(r *inventory.Row) { r.LastFailure = &inventory.Failure{Code: "no route to host"} }, want: []string{"lastFailure.code: Invalid value: must be up to four lowercase words joined by hyphens"}},
		{name: "failure of a kind", change: func(r *inventory.Row) { r.LastFailure = &inventory.Failure{Code: "quota", Kind: "Node", Name: "A"} }, want: []string{
			`lastFailure.kind: Unsupported value: supported values: "Pod", "PersistentVolumeClaim"`,
			"lastFailure.name: Invalid value: " + nameForm,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.mode == "" {
				test.mode, test.step = compose.ManagedPVC, "run"
			}
			row := rowAfter(t, test.mode, test.step)
			test.change(&row)
			wantInvalid(t, row.Validate(), test.want)
		})
	}
}

func TestNewRowWithoutOwner(t *testing.T) {
	_, err := inventory.NewRow("", inventorytest.Identity("i-1"), inventorytest.Snapshot(compose.EmptyDir))
	wantInvalid(t, err, []string{"holder.owner: Required value: only an owner creates a row"})
}

func TestCreatedClaim(t *testing.T) {
	for mode, want := range map[compose.WorkspaceMode]bool{compose.ManagedPVC: true, compose.ExistingClaim: false, compose.EmptyDir: false} {
		if got := rowAfter(t, mode, "run").CreatedClaim(); got != want {
			t.Errorf("mode %s: created %t, want %t", mode, got, want)
		}
	}
}
