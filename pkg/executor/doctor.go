package executor

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// Stray is an object on the cluster and a row of the inventory that do not go together.
type Stray struct {
	InstanceID string         `json:"instanceId"` // as the object's label or the row says
	Kind       inventory.Kind `json:"kind"`
	Name       string         `json:"name"`
	UID        types.UID      `json:"uid"`
	// Problem says which of the two is missing.
	Problem StrayProblem `json:"problem"`
}

// StrayProblem is what is wrong with a stray. Its values are stable.
type StrayProblem string

// What can be wrong.
const (
	NoRow     StrayProblem = "no-row"    // the object bears Kandev's labels, and no row has it
	NoObject  StrayProblem = "no-object" // the row has the object, and it is gone
	OtherUID  StrayProblem = "other-uid" // another object has the recorded one's name
	OpenStray StrayProblem = "open"      // a create request of which nobody knows what came of it
)

// Doctor compares the objects in the namespace that bear Kandev's labels with the inventory. It changes nothing and deletes
// nothing.
func (e *Executor) Doctor(ctx context.Context) ([]Stray, error) {
	rows, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	live := map[inventory.Kind]map[string]object{}
	for kind, resource := range map[inventory.Kind]string{inventory.Pod: podResource, inventory.PersistentVolumeClaim: claimResource} {
		if live[kind], err = e.owned(ctx, resource); err != nil {
			return nil, err
		}
	}
	var strays []Stray
	known := map[types.UID]bool{}
	for _, row := range rows {
		strays = append(strays, recordedStrays(&row, live)...)
		for _, o := range []*inventory.Object{row.Pod, row.Claim} {
			if o != nil {
				known[o.UID] = true
			}
		}
	}
	for _, kind := range []inventory.Kind{inventory.Pod, inventory.PersistentVolumeClaim} {
		for _, o := range live[kind] {
			if !known[o.GetUID()] {
				strays = append(strays, Stray{o.GetLabels()[compose.LabelInstanceID], kind, o.GetName(), o.GetUID(), NoRow})
			}
		}
	}
	sortStrays(strays)
	return strays, nil
}

// owned returns the objects of a resource that bear Kandev's labels, by name.
func (e *Executor) owned(ctx context.Context, resource string) (map[string]object, error) {
	selector := labels.Set{compose.LabelManagedBy: compose.LabelManagedByValue, compose.LabelName: compose.LabelNameValue}
	list, err := e.Client.list(ctx, resource, e.Namespace, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	found := map[string]object{}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		one := o.(object)
		found[one.GetName()] = one
		return nil
	})
	return found, err
}

// recordedStrays lists what a row has that the cluster has not.
func recordedStrays(row *inventory.Row, live map[inventory.Kind]map[string]object) []Stray {
	var strays []Stray
	id := row.Identity.InstanceID
	for kind, o := range map[inventory.Kind]*inventory.Object{inventory.Pod: row.Pod, inventory.PersistentVolumeClaim: row.Claim} {
		if o == nil || kind == inventory.PersistentVolumeClaim && !row.CreatedClaim() {
			continue
		}
		switch there := live[kind][o.Name]; {
		case there == nil:
			strays = append(strays, Stray{id, kind, o.Name, o.UID, NoObject})
		case there.GetUID() != o.UID:
			strays = append(strays, Stray{id, kind, o.Name, o.UID, OtherUID})
		}
	}
	for _, n := range row.Intents {
		if n.Outcome.Open() {
			strays = append(strays, Stray{InstanceID: id, Kind: n.Kind, Name: n.Name, Problem: OpenStray})
		}
	}
	return strays
}

func sortStrays(strays []Stray) {
	slices.SortFunc(strays, func(a, b Stray) int {
		return cmp.Or(cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Problem, b.Problem))
	})
}
