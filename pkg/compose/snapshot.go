package compose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

// SnapshotVersion is the version of the bytes that Snapshot.Encode writes.
const SnapshotVersion = 1

// MaxSnapshotBytes is the largest encoded snapshot accepted, in bytes (2 MiB): room for a template of the
// largest size with every character escaped.
const MaxSnapshotBytes = 8 * MaxTemplateBytes

var (
	// ErrSnapshotVersion is wrapped by DecodeSnapshot's error for a snapshot of another version.
	ErrSnapshotVersion = errors.New("unknown snapshot version")
	// ErrSnapshotMalformed is wrapped by DecodeSnapshot's error for bytes that Encode never writes.
	ErrSnapshotMalformed = errors.New("malformed snapshot")
)

// Snapshot is the launch snapshot of one session: what a lost Pod's replacement is composed from, whatever
// has become of the profile. It holds the Pod template, the platform, the main container and the storage
// configuration; credentials, resolved environment values, injected files and scripts have no place in it.
type Snapshot struct {
	template *corev1.PodTemplateSpec
	profile  Profile
	encoded  []byte
}

// snapshotFields is everything that a snapshot consists of.
type snapshotFields struct {
	Version  int `json:"version"`
	Profile  `json:",inline"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// NewSnapshot records a template and the profile that it is used with. Neither is changed. The profile's
// defaults are filled in, so that a later version's defaults cannot change the session. The error is
// an *Invalid when the template or the profile breaks a rule, or an image is a placeholder.
func NewSnapshot(t *corev1.PodTemplateSpec, p Profile) (Snapshot, error) {
	p = p.WithDefaults()
	if err := invalid(checkTemplate(t, p)); err != nil {
		return Snapshot{}, err
	}
	// Decoding what was encoded leaves only what the bytes hold: quantities in their canonical form, say.
	f := snapshotFields{Version: SnapshotVersion, Profile: p, Template: *t.DeepCopy()}
	if err := f.decode(f.encode()); err != nil {
		return Snapshot{}, err
	}
	return f.snapshot(f.encode())
}

// DecodeSnapshot reads what Encode wrote. It refuses every other form of the same content, unknown and
// duplicate fields, and a template that breaks a rule. The error wraps ErrSnapshotVersion or
// ErrSnapshotMalformed, or is an *Invalid.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	if len(data) > MaxSnapshotBytes {
		return Snapshot{}, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrSnapshotMalformed, len(data), MaxSnapshotBytes)
	}
	if err := checkVersion(data); err != nil {
		return Snapshot{}, err
	}
	var f snapshotFields
	if err := f.decode(data); err != nil {
		return Snapshot{}, err
	}
	f.Profile = f.WithDefaults() // they must have been recorded: a later version's may differ
	if !bytes.Equal(f.encode(), data) {
		return Snapshot{}, fmt.Errorf("%w: the bytes are not in canonical form", ErrSnapshotMalformed)
	}
	if err := invalid(checkTemplate(&f.Template, f.Profile)); err != nil {
		return Snapshot{}, err
	}
	return f.snapshot(data)
}

// checkVersion looks at the version alone: another version may have other fields.
func checkVersion(data []byte) error {
	var head struct {
		Version *int `json:"version"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &head); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshotMalformed, err)
	}
	if head.Version == nil {
		return fmt.Errorf("%w: it has no version", ErrSnapshotMalformed)
	}
	if *head.Version != SnapshotVersion {
		return fmt.Errorf("%w: %d, want %d", ErrSnapshotVersion, *head.Version, SnapshotVersion)
	}
	return nil
}

func (f *snapshotFields) decode(data []byte) error {
	*f = snapshotFields{}
	strict, err := kjson.UnmarshalStrict(data, f)
	if err = errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshotMalformed, err)
	}
	return nil
}

// encode writes the fields in their order, maps sorted by key, without blanks.
func (f *snapshotFields) encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil { // unreachable: every field has a JSON form
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

func (f *snapshotFields) snapshot(encoded []byte) (Snapshot, error) {
	if len(encoded) > MaxSnapshotBytes {
		return Snapshot{}, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrSnapshotMalformed, len(encoded), MaxSnapshotBytes)
	}
	return Snapshot{template: &f.Template, profile: f.Profile, encoded: bytes.Clone(encoded)}, nil
}

// Encode returns the snapshot's canonical bytes: equal snapshots have equal bytes.
func (s Snapshot) Encode() []byte { return bytes.Clone(s.encoded) }

// SHA256 returns the SHA-256 of the canonical bytes as 64 lowercase hex digits.
func (s Snapshot) SHA256() string {
	sum := sha256.Sum256(s.encoded)
	return hex.EncodeToString(sum[:])
}

// Template returns a copy of the recorded Pod template.
func (s Snapshot) Template() *corev1.PodTemplateSpec { return s.template.DeepCopy() }

// Profile returns the recorded platform, main container and storage configuration.
func (s Snapshot) Profile() Profile {
	p := s.profile
	p.Workspace.AccessModes = slices.Clone(p.Workspace.AccessModes)
	return p
}

// Compose is Compose of the recorded template and profile.
func (s Snapshot) Compose(id Identity) (Objects, error) {
	if s.template == nil {
		return Objects{}, fmt.Errorf("%w: it is empty", ErrSnapshotMalformed)
	}
	return Compose(s.template, s.profile, id)
}
