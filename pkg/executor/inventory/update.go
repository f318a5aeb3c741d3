package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Check returns the error of a write that holder makes from a generation of the row: a *FencedError or a
// *ConflictError. Nobody, the owner "", writes nothing.
func (r Row) Check(holder Holder, generation int64) error {
	switch {
	case r.Holder != holder || holder.Owner == "":
		return &FencedError{InstanceID: r.Identity.InstanceID, Have: r.Holder, Want: holder}
	case r.Generation != generation:
		return &ConflictError{InstanceID: r.Identity.InstanceID, Have: r.Generation, Want: generation}
	}
	return nil
}

// ValidateUpdate checks a row that is to replace old: that it holds together, and that nothing is lost or made up by
// the change. The error is an *InvalidError. Generation, Holder and the times are the inventory's to compare and set.
func (r Row) ValidateUpdate(old Row) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return invalid(old.Identity.InstanceID, slices.Concat(
		r.validateFixed(old),
		r.validateTransition(old),
		r.validateKnown(old),
		r.validateNewIntents(old),
	))
}

// validateFixed holds what is decided once and for all against what was decided.
func (r Row) validateFixed(old Row) field.ErrorList {
	var errs field.ErrorList
	fixed := func(name string, same bool) {
		if !same {
			errs = append(errs, field.Forbidden(field.NewPath(name), "never changes"))
		}
	}
	fixed("identity", r.Identity == old.Identity)
	fixed("mainContainer", r.MainContainer == old.MainContainer)
	fixed("workspaceMode", r.WorkspaceMode == old.WorkspaceMode)
	fixed("snapshotSHA256", r.SnapshotSHA256 == old.SnapshotSHA256)
	return errs
}

func (r Row) validateTransition(old Row) field.ErrorList {
	if old.State.CanBecome(r.State) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("state"), string(old.State)+" does not become "+string(r.State))}
}

// validateKnown demands that nothing that may exist on the cluster is forgotten, or taken for another.
func (r Row) validateKnown(old Row) field.ErrorList {
	var errs field.ErrorList
	for _, before := range old.Intents {
		if n := r.intent(before.Nonce); n >= 0 {
			errs = append(errs, r.validateProgress(n, before)...)
		} else if before.Outcome.Open() {
			errs = append(errs, field.Forbidden(field.NewPath("intents"), "a request that is still open is missing"))
		}
	}
	if r.Pod != nil && old.Pod != nil && *r.Pod != *old.Pod {
		errs = append(errs, field.Forbidden(field.NewPath("pod"), "another Pod is recorded only after this one was recorded as gone"))
	}
	if old.Claim != nil && r.Claim == nil && r.State != Cleaning && r.State != Cleaned {
		errs = append(errs, field.Forbidden(field.NewPath("claim"), "only cleaning forgets the claim"))
	}
	if r.Claim != nil && old.Claim != nil && *r.Claim != *old.Claim {
		errs = append(errs, field.Forbidden(field.NewPath("claim"), "never becomes another claim"))
	}
	return errs
}

// validateProgress allows only what is not final to change, and only to become better known. What a request turns out
// to have created is recorded with it, so that cleanup sees it.
func (r Row) validateProgress(n int, before Intent) field.ErrorList {
	i, at := r.Intents[n], field.NewPath("intents").Index(n)
	requested := i
	requested.Outcome, requested.UID = before.Outcome, before.UID
	recorded := r.object(i.Kind)
	switch {
	case requested != before:
		return field.ErrorList{field.Forbidden(at, "what was requested never changes")}
	case i == before:
		return nil
	case !before.Outcome.Open() || i.Outcome == Pending:
		return field.ErrorList{field.Forbidden(at.Child("outcome"), "does not follow the recorded one")}
	case i.Outcome == Committed && (recorded == nil || recorded.UID != i.UID):
		return field.ErrorList{field.Forbidden(at.Child("uid"), "the object that was created is not recorded with it")}
	}
	return nil
}

// validateNewIntents demands that a request is recorded before it is sent, in the state that it belongs to, and
// that it cannot make a second object.
func (r Row) validateNewIntents(old Row) field.ErrorList {
	var errs field.ErrorList
	for n, i := range r.Intents {
		if old.intent(i.Nonce) >= 0 {
			continue
		}
		at := field.NewPath("intents").Index(n)
		if i.Outcome != Pending {
			errs = append(errs, field.Forbidden(at.Child("outcome"), "a request is recorded before it is sent"))
		}
		if state := createdIn[i.Kind]; r.State != state {
			errs = append(errs, field.Forbidden(at.Child("kind"), "is created only in state "+string(state)))
		}
		if r.object(i.Kind) != nil {
			errs = append(errs, field.Forbidden(at.Child("kind"), "the instance has one"))
		}
	}
	return errs
}

// createdIn says in which state objects of a kind are created.
var createdIn = map[Kind]State{PersistentVolumeClaim: ProvisioningStorage, Pod: Scheduling}

// object returns the recorded object of a kind, nil where there is none.
func (r Row) object(k Kind) *Object {
	if k == Pod {
		return r.Pod
	}
	return r.Claim
}

// intent returns the index of the request with a nonce, -1 where there is none.
func (r Row) intent(nonce string) int {
	return slices.IndexFunc(r.Intents, func(i Intent) bool { return i.Nonce == nonce })
}

// ValidateDelete checks that the row may go: nothing is left on the cluster that it knows of. The error is an
// *InvalidError.
func (r Row) ValidateDelete() error {
	if r.State == Cleaned {
		return nil
	}
	return invalid(r.Identity.InstanceID, field.ErrorList{
		field.Forbidden(field.NewPath("state"), "only the row of a cleaned instance is deleted"),
	})
}
