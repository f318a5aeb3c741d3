package inventorytest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Identity returns an identity with this instance ID.
func Identity(instanceID string) compose.Identity {
	return compose.Identity{
		ExecutorID:    "executor-1",
		ProfileID:     "profile-1",
		InstanceID:    instanceID,
		TaskID:        "task-1",
		SessionID:     "session-1",
		EnvironmentID: "environment-1",
		Namespace:     "agents",
	}
}

// Snapshot returns a launch snapshot with this workspace mode.
func Snapshot(mode compose.WorkspaceMode) compose.Snapshot {
	workspace := compose.Workspace{Mode: mode}
	if mode == compose.ExistingClaim {
		workspace.ClaimName = "shared"
	}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: compose.DefaultMainContainer, Image: "registry.example/agent:1", Env: []corev1.EnvVar{{Name: "GREETING", Value: "<héllo> & \x00"}},
	}}}}
	s, err := compose.NewSnapshot(&template, compose.Profile{Workspace: workspace})
	if err != nil { // unreachable: the template is a good one
		panic(err)
	}
	return s
}

// UID returns the nth UID of a test.
func UID(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// hexDigits returns the nth 64 hex digits of a test, for nonces and digests.
func hexDigits(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d", n))
	return hex.EncodeToString(sum[:])
}

// Intent returns the nth create request of a test, for an object of the row, as it is before it is sent.
func Intent(r inventory.Row, kind inventory.Kind, n int) inventory.Intent {
	name := r.Identity.PodName()
	if kind == inventory.PersistentVolumeClaim {
		name = r.Identity.ClaimName()
	}
	return inventory.Intent{Kind: kind, Name: name, Nonce: hexDigits(n), SHA256: hexDigits(-n), Outcome: inventory.Pending}
}

// Step is one write of a lifecycle.
type Step struct {
	Name   string
	Change func(*inventory.Row)
}

// Lifecycle returns the writes that take a row from Configured to Cleaned through every state and outcome, with a
// Pod that is lost and replaced on the way.
func Lifecycle(mode compose.WorkspaceMode) []Step {
	var steps []Step
	add := func(name string, change func(*inventory.Row)) {
		steps = append(steps, Step{Name: name, Change: change})
	}
	last := func(r *inventory.Row) *inventory.Intent { return &r.Intents[len(r.Intents)-1] }

	switch mode {
	case compose.ManagedPVC:
		add("announce the claim", func(r *inventory.Row) {
			r.State = inventory.ProvisioningStorage
			r.Intents = append(r.Intents, Intent(*r, inventory.PersistentVolumeClaim, 1))
		})
		add("lose the answer", func(r *inventory.Row) { last(r).Outcome = inventory.Ambiguous })
		add("find the claim", func(r *inventory.Row) {
			last(r).Outcome, last(r).UID = inventory.Committed, UID(1)
			r.Claim = &inventory.Object{Name: last(r).Name, UID: UID(1)}
		})
	case compose.ExistingClaim:
		add("verify the claim", func(r *inventory.Row) {
			r.State, r.Claim = inventory.Scheduling, &inventory.Object{Name: "shared", UID: UID(1)}
		})
	case compose.EmptyDir:
	}
	add("announce the Pod", func(r *inventory.Row) {
		r.State = inventory.Scheduling
		r.Intents = append(r.Intents, Intent(*r, inventory.Pod, 2))
	})
	add("be refused", func(r *inventory.Row) {
		last(r).Outcome = inventory.Refused
		r.LastFailure = &inventory.Failure{Code: "quota", Kind: inventory.Pod, Name: r.Identity.PodName()}
	})
	add("announce the Pod again", func(r *inventory.Row) {
		r.LastFailure = nil
		r.Intents = append(r.Intents, Intent(*r, inventory.Pod, 3))
	})
	add("record the Pod", func(r *inventory.Row) {
		last(r).Outcome, last(r).UID = inventory.Committed, UID(2)
		r.Pod = &inventory.Object{Name: "renamed-by-admission", UID: UID(2)}
	})
	add("bootstrap", func(r *inventory.Row) { r.State, r.ControlPort = inventory.Bootstrapping, compose.ControlPort })
	add("run", func(r *inventory.Row) { r.State = inventory.Running })
	add("stop", func(r *inventory.Row) { r.State = inventory.Preserved })
	add("lose the Pod", func(r *inventory.Row) { r.Pod, r.LastFailure = nil, &inventory.Failure{Code: "vanished"} })
	add("announce another Pod", func(r *inventory.Row) {
		r.State, r.LastFailure = inventory.Scheduling, nil
		r.Intents = append(r.Intents[:len(r.Intents)-1], Intent(*r, inventory.Pod, 4)) // what is final may be forgotten
	})
	add("record the other Pod", func(r *inventory.Row) {
		last(r).Outcome, last(r).UID = inventory.Committed, UID(3)
		r.Pod = &inventory.Object{Name: last(r).Name, UID: UID(3)}
	})
	add("bootstrap again", func(r *inventory.Row) { r.State = inventory.Bootstrapping })
	add("run again", func(r *inventory.Row) { r.State = inventory.Running })
	add("clean up", func(r *inventory.Row) { r.State = inventory.Cleaning })
	add("see the Pod gone", func(r *inventory.Row) { r.Pod = nil })
	if mode == compose.ManagedPVC {
		add("see the claim gone", func(r *inventory.Row) { r.Claim = nil })
	}
	add("be done", func(r *inventory.Row) { r.State = inventory.Cleaned })
	return steps
}

// running creates a row with a managed claim, which owner a holds, and takes it to its first Running.
func running(t *testing.T, inv inventory.Inventory, instanceID string) inventory.Row {
	t.Helper()
	row := must(inv.Create(t.Context(), "a", Identity(instanceID), Snapshot(compose.ManagedPVC)))(t)
	for _, step := range Lifecycle(compose.ManagedPVC) {
		step.Change(&row)
		row = must(inv.Update(t.Context(), row.Holder, row))(t)
		if row.State == inventory.Running {
			return row
		}
	}
	t.Fatal("the lifecycle has no state running")
	return row
}
