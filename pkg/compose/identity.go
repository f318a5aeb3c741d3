package compose

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Identity says whose session a Pod is. Every ID becomes a label value.
type Identity struct {
	ExecutorID    string
	ProfileID     string
	InstanceID    string
	TaskID        string
	SessionID     string
	EnvironmentID string

	// Name is the Pod's name; PodName(InstanceID) when empty.
	Name string
	// Namespace is the executor's namespace; empty leaves it to whoever sends the object.
	Namespace string
}

// PodName returns the name of an instance's Pod: "kandev-" and the first 16 hex digits of the
// instance ID's SHA-256.
func PodName(instanceID string) string {
	sum := sha256.Sum256([]byte(instanceID))
	return "kandev-" + hex.EncodeToString(sum[:8])
}

// claimSuffix ends the name of a managed claim, after its Pod's name.
const claimSuffix = "-workspace"

// PodName returns the name of the identity's Pod.
func (id Identity) PodName() string {
	if id.Name != "" {
		return id.Name
	}
	return PodName(id.InstanceID)
}

// ClaimName returns the name of the identity's managed claim.
func (id Identity) ClaimName() string { return id.PodName() + claimSuffix }

// Labels returns the ownership labels of every object of the identity's session.
func (id Identity) Labels() map[string]string {
	return map[string]string{
		LabelName:          LabelNameValue,
		LabelComponent:     LabelComponentValue,
		LabelManagedBy:     LabelManagedByValue,
		LabelInstance:      id.InstanceID,
		LabelExecutorID:    id.ExecutorID,
		LabelProfileID:     id.ProfileID,
		LabelInstanceID:    id.InstanceID,
		LabelTaskID:        id.TaskID,
		LabelSessionID:     id.SessionID,
		LabelEnvironmentID: id.EnvironmentID,
	}
}

// Validate returns everything that keeps the identity from being written into an object.
func (id Identity) Validate() field.ErrorList {
	var errs field.ErrorList
	for _, v := range []struct{ key, value string }{
		{"executor-id", id.ExecutorID},
		{"profile-id", id.ProfileID},
		{"instance-id", id.InstanceID},
		{"task-id", id.TaskID},
		{"session-id", id.SessionID},
		{"environment-id", id.EnvironmentID},
	} {
		at := field.NewPath(v.key)
		if v.value == "" {
			errs = append(errs, field.Required(at, "every part of an identity is a label of its own"))
		}
		for _, msg := range validation.IsValidLabelValue(v.value) {
			errs = append(errs, field.Invalid(at, v.value, msg))
		}
	}
	for _, msg := range validation.IsDNS1123Subdomain(id.ClaimName()) {
		errs = append(errs, field.Invalid(field.NewPath("name"), id.PodName(), msg))
	}
	if id.Namespace != "" {
		for _, msg := range validation.IsDNS1123Label(id.Namespace) {
			errs = append(errs, field.Invalid(field.NewPath("namespace"), id.Namespace, msg))
		}
	}
	return errs
}

// nonceBytes is the length of a create nonce before it is written as hex.
const nonceBytes = 32

// NewNonce returns a create nonce: 32 bytes from the system's cryptographic source as 64 lowercase
// hex digits. Every create request needs one of its own.
func NewNonce() string {
	var b [nonceBytes]byte
	rand.Read(b[:]) // never fails: without randomness it ends the process
	return hex.EncodeToString(b[:])
}

// IsNonce reports whether s has the form of a create nonce.
func IsNonce(s string) bool {
	if len(s) != 2*nonceBytes {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}
