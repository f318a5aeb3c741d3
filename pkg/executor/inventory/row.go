package inventory

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Row is what the inventory knows of one lifecycle instance, its launch snapshot aside.
type Row struct {
	// Identity is whose session it is, with the Pod's name and the namespace filled in.
	Identity compose.Identity
	State    State
	// Generation is 1 at first and increases by one at every write.
	Generation int64
	// Holder is who may write the row.
	Holder Holder

	// MainContainer, WorkspaceMode and SnapshotSHA256 (64 lowercase hex digits) are those of the launch snapshot.
	MainContainer  string
	WorkspaceMode  compose.WorkspaceMode
	SnapshotSHA256 string

	// Intents are the create requests, oldest first.
	Intents []Intent
	// Pod is the session's Pod as admitted, nil while none is known to exist.
	Pod *Object
	// Claim is the claim that holds the workspace, nil while none is known to exist and in mode empty_dir.
	Claim *Object
	// ControlPort is the port on which the agent's control program listens in the Pod, 0 until it is known.
	ControlPort int32
	// LastFailure is why the instance is not further, nil where nothing is wrong.
	LastFailure *Failure

	// CreatedAt and UpdatedAt are by the clock of whoever wrote, in UTC, to the microsecond. Nothing is decided by them.
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Holder is a period in which one owner holds a row.
type Holder struct {
	// Owner is a backend process, in the form of a DNS name such as that of its host and a random part, and never used
	// for another process; "" is nobody, which holds a row that was given up.
	Owner string
	// Epoch is 1 for the owner that created the row and increases by one whenever the row changes hands.
	Epoch int64
}

// Kind is a kind of Kubernetes object that an instance creates.
type Kind string

// The kinds that an instance creates.
const (
	Pod                   Kind = "Pod"
	PersistentVolumeClaim Kind = "PersistentVolumeClaim"
)

// Object is one Kubernetes object in the instance's namespace.
type Object struct {
	Name string
	UID  types.UID
}

// Intent is one create request. Its JSON form is what the SQL inventories keep.
type Intent struct {
	Kind Kind `json:"kind"`
	// Name is the requested name; the object's own is in Row, should admission have changed it.
	Name string `json:"name"`
	// Nonce is the value of the annotation kandev.ai/create-nonce, of this request alone.
	Nonce string `json:"nonce"`
	// SHA256 is that of the request's canonical bytes, as 64 lowercase hex digits.
	SHA256  string  `json:"sha256"`
	Outcome Outcome `json:"outcome"`
	// UID is the created object's, where Outcome is Committed.
	UID types.UID `json:"uid,omitempty"`
}

// Outcome is what is known of a create request.
type Outcome string

// The outcomes of a create request. Pending and Ambiguous are open: the request may have created an object, or may
// yet. Committed and Refused are final.
const (
	Pending   Outcome = "pending"   // about to be sent, or sent
	Ambiguous Outcome = "ambiguous" // sent, and the answer was lost or says nothing
	Committed Outcome = "committed" // it created the object UID
	Refused   Outcome = "refused"   // it created nothing: the server said so, or nothing was found once nothing could follow
)

// Open reports whether the request may have created an object that is not known, or may yet.
func (o Outcome) Open() bool { return o == Pending || o == Ambiguous }

// Failure is why an instance is not further, in words that can hold no secret.
type Failure struct {
	// Code is the executor's stable name for the kind of failure: lowercase words joined by hyphens, such as image-pull.
	Code string
	// Kind and Name say which object it concerns; both are empty where it concerns none.
	Kind Kind
	Name string
}

// CreatedClaim reports whether a recorded request of this instance created the claim. Only then may it be deleted.
func (r Row) CreatedClaim() bool {
	return r.Claim != nil && r.created(PersistentVolumeClaim, r.Claim.UID)
}

// created reports whether a recorded request created the object.
func (r Row) created(kind Kind, uid types.UID) bool {
	return slices.ContainsFunc(r.Intents, func(i Intent) bool {
		return i.Kind == kind && i.Outcome == Committed && i.UID == uid
	})
}

// Clone returns a copy that shares nothing with the row.
func (r Row) Clone() Row {
	r.Intents = slices.Clone(r.Intents)
	r.Pod = clone(r.Pod)
	r.Claim = clone(r.Claim)
	r.LastFailure = clone(r.LastFailure)
	return r
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
