package inventory

import "slices"

// State is how far a lifecycle instance has come. Its values are stable: inventories and JSON outputs hold them.
type State string

// The states of a lifecycle instance, in their usual order.
const (
	Configured          State = "configured"           // recorded, and nothing requested yet
	ProvisioningStorage State = "provisioning-storage" // the managed claim is being created
	Scheduling          State = "scheduling"           // the Pod is being created and given to a node
	Bootstrapping       State = "bootstrapping"        // the agent is being uploaded and started
	Running             State = "running"              // the agent has answered
	Preserved           State = "preserved"            // stopped, or without its Pod: what there is on the cluster is kept
	Cleaning            State = "cleaning"             // Pod and managed claim are being deleted; there is no way back
	Cleaned             State = "cleaned"              // both are gone; only the row is left
)

// transitions is the state machine: which states may follow each. Any state may follow itself.
var transitions = []struct {
	from State
	to   []State
}{
	{Configured, []State{ProvisioningStorage, Scheduling, Cleaning}}, // without a managed claim: Scheduling
	{ProvisioningStorage, []State{Scheduling, Cleaning}},
	{Scheduling, []State{Bootstrapping, Preserved, Cleaning}},
	{Bootstrapping, []State{Running, Preserved, Cleaning}},
	{Running, []State{Preserved, Cleaning}},
	{Preserved, []State{Scheduling, Bootstrapping, Running, Cleaning}}, // a new Pod, a restarted agent, the same agent
	{Cleaning, []State{Cleaned}},
	{Cleaned, nil},
}

// States lists the states in their usual order.
func States() []State {
	out := make([]State, 0, len(transitions))
	for _, t := range transitions {
		out = append(out, t.from)
	}
	return out
}

// Next lists the states that may follow s, beside s itself.
func (s State) Next() []State {
	for _, t := range transitions {
		if t.from == s {
			return slices.Clone(t.to)
		}
	}
	return nil
}

// CanBecome reports whether a row in state s may be written with state to.
func (s State) CanBecome(to State) bool {
	return s == to && slices.Contains(States(), s) || slices.Contains(s.Next(), to)
}
