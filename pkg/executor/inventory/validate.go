package inventory

import (
	"encoding/hex"
	"math"
	"regexp"
	"slices"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// NewRow returns the row with which Create begins. Its times are the inventory's to set. The error is an *InvalidError.
func NewRow(owner string, id compose.Identity, snapshot compose.Snapshot) (Row, error) {
	if owner == "" {
		at := field.NewPath("holder", "owner")
		return Row{}, invalid(id.InstanceID, field.ErrorList{field.Required(at, "only an owner creates a row")})
	}
	id.Name = id.PodName()
	r := Row{
		Identity:       id,
		State:          Configured,
		Generation:     1,
		Holder:         Holder{Owner: owner, Epoch: 1},
		MainContainer:  snapshot.Profile().MainContainer,
		WorkspaceMode:  snapshot.Profile().Workspace.Mode,
		SnapshotSHA256: snapshot.SHA256(),
	}
	return r, r.Validate()
}

// Validate checks that every field has its form and that the fields go together. The error is an *InvalidError.
func (r Row) Validate() error {
	return invalid(r.Identity.InstanceID, slices.Concat(
		r.validateIdentity(),
		r.validateCounters(),
		r.validateLaunch(),
		r.validateIntents(),
		r.validateObjects(),
		r.validateState(),
		r.validateFailure(),
	))
}

func (r Row) validateIdentity() field.ErrorList {
	errs := r.Identity.Validate()
	if r.Identity.Name == "" {
		errs = append(errs, field.Required(field.NewPath("name"), "the Pod's name is recorded"))
	}
	if r.Identity.Namespace == "" {
		errs = append(errs, field.Required(field.NewPath("namespace"), "every object is in one"))
	}
	return errs
}

func (r Row) validateCounters() field.ErrorList {
	var errs field.ErrorList
	if r.Holder.Owner != "" {
		errs = formatted(field.NewPath("holder", "owner"), r.Holder.Owner, validation.IsDNS1123Subdomain)
	}
	if r.Holder.Epoch < 1 {
		errs = append(errs, field.Invalid(field.NewPath("holder", "epoch"), r.Holder.Epoch, "counts from 1"))
	}
	if r.Generation < r.Holder.Epoch {
		errs = append(errs, field.Invalid(field.NewPath("generation"), r.Generation, "is at least the epoch: a change of hands is a write"))
	}
	return errs
}

func (r Row) validateLaunch() field.ErrorList {
	errs := formatted(field.NewPath("mainContainer"), r.MainContainer, validation.IsDNS1123Label)
	if !slices.Contains(compose.WorkspaceModes(), r.WorkspaceMode) {
		errs = append(errs, field.NotSupported(field.NewPath("workspaceMode"), r.WorkspaceMode, compose.WorkspaceModes()))
	}
	errs = append(errs, digest(field.NewPath("snapshotSHA256"), r.SnapshotSHA256)...)
	if r.ControlPort < 0 || r.ControlPort > math.MaxUint16 {
		errs = append(errs, field.Invalid(field.NewPath("controlPort"), r.ControlPort, "must be a port"))
	}
	return errs
}

func (r Row) validateIntents() field.ErrorList {
	var errs field.ErrorList
	open := map[Kind]bool{}
	nonces := map[string]bool{}
	for n, i := range r.Intents {
		at := field.NewPath("intents").Index(n)
		errs = append(errs, r.validateIntent(at, i)...)
		if nonces[i.Nonce] {
			errs = append(errs, field.Duplicate(at.Child("nonce"), i.Nonce))
		}
		nonces[i.Nonce] = true
		if i.Outcome.Open() && open[i.Kind] {
			errs = append(errs, field.Forbidden(at, "another request for this kind is still open: two could be carried out"))
		}
		open[i.Kind] = open[i.Kind] || i.Outcome.Open()
	}
	return errs
}

func (r Row) validateIntent(at *field.Path, i Intent) field.ErrorList {
	var errs field.ErrorList
	switch {
	case i.Kind == Pod && i.Name != r.Identity.PodName(), i.Kind == PersistentVolumeClaim && i.Name != r.Identity.ClaimName():
		errs = append(errs, field.Invalid(at.Child("name"), i.Name, "is not the name that the identity gives this kind"))
	case i.Kind == PersistentVolumeClaim && r.WorkspaceMode != compose.ManagedPVC:
		errs = append(errs, field.Forbidden(at.Child("kind"), "only mode managed_pvc creates a claim"))
	}
	errs = append(errs, kind(at.Child("kind"), i.Kind)...)
	if !compose.IsNonce(i.Nonce) {
		errs = append(errs, field.Invalid(at.Child("nonce"), i.Nonce, "must be 64 lowercase hex digits"))
	}
	errs = append(errs, digest(at.Child("sha256"), i.SHA256)...)
	switch i.Outcome {
	case Committed:
		errs = append(errs, uid(at.Child("uid"), i.UID)...)
	case Pending, Ambiguous, Refused:
		if i.UID != "" {
			errs = append(errs, field.Forbidden(at.Child("uid"), "only a committed request has one"))
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("outcome"), i.Outcome, []Outcome{Pending, Ambiguous, Committed, Refused}))
	}
	return errs
}

func (r Row) validateObjects() field.ErrorList {
	pod, claim := field.NewPath("pod"), field.NewPath("claim")
	errs := append(object(pod, r.Pod), object(claim, r.Claim)...)
	if r.Pod != nil && !r.created(Pod, r.Pod.UID) {
		errs = append(errs, field.Forbidden(pod.Child("uid"), "no committed request created this Pod"))
	}
	switch {
	case r.Claim == nil:
	case r.WorkspaceMode == compose.EmptyDir:
		errs = append(errs, field.Forbidden(claim, "mode empty_dir has none"))
	case r.WorkspaceMode == compose.ManagedPVC && !r.CreatedClaim():
		errs = append(errs, field.Forbidden(claim.Child("uid"), "no committed request created this claim"))
	}
	return errs
}

// validateState demands of a state what it says.
func (r Row) validateState() field.ErrorList {
	at := field.NewPath("state")
	needsPod := r.State == Bootstrapping || r.State == Running
	needsClaim := needsPod || r.State == Scheduling || r.State == Preserved
	switch {
	case !slices.Contains(States(), r.State):
		return field.ErrorList{field.NotSupported(at, r.State, States())}
	case r.State == Cleaned && (r.Pod != nil || r.CreatedClaim() || slices.ContainsFunc(r.Intents, func(i Intent) bool { return i.Outcome.Open() })):
		return field.ErrorList{field.Forbidden(at, "there is a Pod, a created claim or an open request")}
	case needsPod && r.Pod == nil:
		return field.ErrorList{field.Forbidden(at, "there is no Pod")}
	case needsClaim && r.WorkspaceMode != compose.EmptyDir && r.Claim == nil:
		return field.ErrorList{field.Forbidden(at, "there is no claim for the workspace")}
	}
	return nil
}

// failureCode has no digits, no capitals and no room for a credential.
var failureCode = regexp.MustCompile(`^[a-z]{1,20}(-[a-z]{1,20}){0,3}$`)

func (r Row) validateFailure() field.ErrorList {
	f, at := r.LastFailure, field.NewPath("lastFailure")
	if f == nil {
		return nil
	}
	var errs field.ErrorList
	if !failureCode.MatchString(f.Code) {
		errs = append(errs, field.Invalid(at.Child("code"), f.Code, "must be up to four lowercase words joined by hyphens"))
	}
	if f.Kind == "" && f.Name == "" {
		return errs
	}
	return slices.Concat(errs, kind(at.Child("kind"), f.Kind), formatted(at.Child("name"), f.Name, validation.IsDNS1123Subdomain))
}

// formatted makes errors of what a check of apimachinery says about a value.
func formatted(at *field.Path, value string, check func(string) []string) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range check(value) {
		errs = append(errs, field.Invalid(at, value, msg))
	}
	return errs
}

func kind(at *field.Path, k Kind) field.ErrorList {
	if known := []Kind{Pod, PersistentVolumeClaim}; !slices.Contains(known, k) {
		return field.ErrorList{field.NotSupported(at, k, known)}
	}
	return nil
}

func object(at *field.Path, o *Object) field.ErrorList {
	if o == nil {
		return nil
	}
	return append(formatted(at.Child("name"), o.Name, validation.IsDNS1123Subdomain), uid(at.Child("uid"), o.UID)...)
}

// uid demands the form of https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#uids.
func uid(at *field.Path, u types.UID) field.ErrorList {
	if parsed, err := uuid.Parse(string(u)); err != nil || parsed.String() != string(u) {
		return field.ErrorList{field.Invalid(at, u, "must be a UUID in lowercase")}
	}
	return nil
}

func digest(at *field.Path, s string) field.ErrorList {
	if b, err := hex.DecodeString(s); err != nil || len(b) != 32 || hex.EncodeToString(b) != s {
		return field.ErrorList{field.Invalid(at, s, "must be 64 lowercase hex digits")}
	}
	return nil
}
