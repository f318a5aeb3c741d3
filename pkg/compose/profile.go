package compose

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Platform is the operating system and architecture that a session's Pod must run on.
type Platform string

// The platforms for which an agent exists.
const (
	LinuxAMD64 Platform = "linux/amd64"
	LinuxARM64 Platform = "linux/arm64"
)

// Platforms lists the known platforms; the first is the default.
func Platforms() []Platform { return []Platform{LinuxAMD64, LinuxARM64} }

// Arch returns the platform's value of the node label kubernetes.io/arch.
func (p Platform) Arch() string {
	if p == LinuxARM64 {
		return "arm64"
	}
	return "amd64"
}

// WorkspaceMode says where a session's workspace is kept.
type WorkspaceMode string

// The workspace modes.
const (
	ManagedPVC    WorkspaceMode = "managed_pvc"
	EmptyDir      WorkspaceMode = "empty_dir"
	ExistingClaim WorkspaceMode = "existing_claim"
)

// WorkspaceModes lists the known modes; the first is the default.
func WorkspaceModes() []WorkspaceMode {
	return []WorkspaceMode{ManagedPVC, EmptyDir, ExistingClaim}
}

// DefaultWorkspaceSize is the managed claim's size when a profile names none.
const DefaultWorkspaceSize = "10Gi"

// Workspace is the storage part of a profile.
type Workspace struct {
	Mode WorkspaceMode `json:"mode"`
	// Size, StorageClass and AccessModes belong to managed_pvc. Size is a Kubernetes quantity;
	// no StorageClass leaves the choice to the cluster; no AccessModes means ReadWriteOnce.
	Size         string                              `json:"size,omitempty"`
	StorageClass string                              `json:"storage_class,omitempty"`
	AccessModes  []corev1.PersistentVolumeAccessMode `json:"access_modes,omitempty"`
	// ClaimName belongs to existing_claim: a PersistentVolumeClaim in the executor's namespace.
	ClaimName string `json:"claim_name,omitempty"`
}

// Profile is what a profile says about composing a Pod, the template aside.
type Profile struct {
	MainContainer string    `json:"main_container"`
	Platform      Platform  `json:"platform"`
	Workspace     Workspace `json:"workspace"`
}

// WithDefaults returns the profile with every absent value filled in.
func (p Profile) WithDefaults() Profile {
	if p.MainContainer == "" {
		p.MainContainer = DefaultMainContainer
	}
	if p.Platform == "" {
		p.Platform = Platforms()[0]
	}
	if p.Workspace.Mode == "" {
		p.Workspace.Mode = WorkspaceModes()[0]
	}
	if p.Workspace.Mode == ManagedPVC {
		if p.Workspace.Size == "" {
			p.Workspace.Size = DefaultWorkspaceSize
		}
		if len(p.Workspace.AccessModes) == 0 {
			p.Workspace.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		}
	}
	return p
}

// Validate returns everything that is wrong with a profile whose defaults are filled in, at the
// profile's own keys.
func (p Profile) Validate() field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Label(p.MainContainer) {
		errs = append(errs, field.Invalid(field.NewPath("main_container"), p.MainContainer, msg))
	}
	if !slices.Contains(Platforms(), p.Platform) {
		errs = append(errs, field.NotSupported(field.NewPath("platform"), p.Platform, Platforms()))
	}
	return append(errs, p.Workspace.validate(field.NewPath("workspace"))...)
}

func (w Workspace) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !slices.Contains(WorkspaceModes(), w.Mode) {
		return append(errs, field.NotSupported(at.Child("mode"), w.Mode, WorkspaceModes()))
	}
	if w.Mode == ManagedPVC {
		errs = append(errs, w.validateManaged(at)...)
	} else {
		errs = append(errs, w.forbidManaged(at)...)
	}
	switch {
	case w.Mode != ExistingClaim && w.ClaimName != "":
		errs = append(errs, field.Forbidden(at.Child("claim_name"), "belongs to mode existing_claim only"))
	case w.Mode == ExistingClaim && w.ClaimName == "":
		errs = append(errs, field.Required(at.Child("claim_name"), "mode existing_claim needs the name of a claim"))
	case w.Mode == ExistingClaim:
		for _, msg := range validation.IsDNS1123Subdomain(w.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("claim_name"), w.ClaimName, msg))
		}
	}
	return errs
}

func (w Workspace) validateManaged(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q, err := resource.ParseQuantity(w.Size); err != nil {
		errs = append(errs, field.Invalid(at.Child("size"), w.Size, "must be a quantity such as 10Gi"))
	} else if q.Sign() <= 0 {
		errs = append(errs, field.Invalid(at.Child("size"), w.Size, "must be greater than zero"))
	}
	if w.StorageClass != "" {
		for _, msg := range validation.IsDNS1123Subdomain(w.StorageClass) {
			errs = append(errs, field.Invalid(at.Child("storage_class"), w.StorageClass, msg))
		}
	}
	return append(errs, validateAccessModes(w.AccessModes, at.Child("access_modes"))...)
}

func validateAccessModes(modes []corev1.PersistentVolumeAccessMode, at *field.Path) field.ErrorList {
	known := []corev1.PersistentVolumeAccessMode{
		corev1.ReadWriteOnce, corev1.ReadWriteMany, corev1.ReadWriteOncePod, corev1.ReadOnlyMany,
	}
	var errs field.ErrorList
	for i, m := range modes {
		switch {
		case !slices.Contains(known, m):
			errs = append(errs, field.NotSupported(at.Index(i), m, known))
		case slices.Contains(modes[:i], m):
			errs = append(errs, field.Duplicate(at.Index(i), m))
		case m == corev1.ReadWriteOncePod && len(modes) > 1:
			errs = append(errs, field.Forbidden(at.Index(i), "ReadWriteOncePod may not stand beside another mode"))
		}
	}
	return errs
}

func (w Workspace) forbidManaged(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	forbid := func(key string, set bool) {
		if set {
			errs = append(errs, field.Forbidden(at.Child(key), "belongs to mode managed_pvc only"))
		}
	}
	forbid("size", w.Size != "")
	forbid("storage_class", w.StorageClass != "")
	forbid("access_modes", len(w.AccessModes) > 0)
	return errs
}
