package compose

import "strings"

// MaxTemplateBytes is the largest template document accepted, in bytes (256 KiB).
const MaxTemplateBytes = 256 * 1024

// DefaultMainContainer is the main container's name when a profile names none.
const DefaultMainContainer = "kandev-agent"

// The volumes that Kandev defines, and the paths at which it mounts them in the main container.
const (
	RuntimeVolume   = "kandev-runtime"
	AuthVolume      = "kandev-auth"
	WorkspaceVolume = "kandev-workspace"

	RuntimePath   = "/opt/kandev"
	AuthPath      = "/run/kandev"
	WorkspacePath = "/workspace"
)

// The port on which the agent's control program listens, by name and number.
const (
	ControlPortName = "kandev-agentctl"
	ControlPort     = 8765
)

// Labels that Kandev sets on every object of a session, and their fixed values.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelInstance  = "app.kubernetes.io/instance"

	LabelNameValue      = "kandev-agent"
	LabelComponentValue = "agent-session"
	LabelManagedByValue = "kandev"

	LabelExecutorID    = "kandev.ai/executor-id"
	LabelProfileID     = "kandev.ai/profile-id"
	LabelInstanceID    = "kandev.ai/instance-id"
	LabelTaskID        = "kandev.ai/task-id"
	LabelSessionID     = "kandev.ai/session-id"
	LabelEnvironmentID = "kandev.ai/environment-id"
)

// ReservedPrefix starts every label and annotation key that only Kandev may set.
const ReservedPrefix = "kandev.ai/"

// NonceAnnotation carries the create nonce of one create request.
const NonceAnnotation = "kandev.ai/create-nonce"

// Node labels that the profile's platform decides (k8s.io/api/core/v1 LabelOSStable and LabelArchStable).
const (
	NodeOSLabel   = "kubernetes.io/os"
	NodeArchLabel = "kubernetes.io/arch"
)

// OwnedVolumes lists the volumes that only Kandev defines, in the order in which they are composed.
func OwnedVolumes() []string { return []string{RuntimeVolume, AuthVolume, WorkspaceVolume} }

// OwnedPaths lists the mount paths that only Kandev decides, in the order of OwnedVolumes.
func OwnedPaths() []string { return []string{RuntimePath, AuthPath, WorkspacePath} }

// IsOwnedVolume reports whether name is one of OwnedVolumes.
func IsOwnedVolume(name string) bool {
	return name == RuntimeVolume || name == AuthVolume || name == WorkspaceVolume
}

// IsReservedKey reports whether a label or annotation key is Kandev's alone.
func IsReservedKey(key string) bool {
	switch key {
	case LabelName, LabelComponent, LabelManagedBy, LabelInstance:
		return true
	}
	return strings.HasPrefix(key, ReservedPrefix)
}

// homeEnv is the one reserved environment name that has no prefix.
const homeEnv = "HOME"

// reservedEnvPrefixes start the environment names that only Kandev may set, beside HOME.
var reservedEnvPrefixes = [...]string{"AGENTCTL_", "KANDEV_"}

// IsReservedEnv reports whether an environment name is Kandev's alone.
func IsReservedEnv(name string) bool {
	if name == homeEnv {
		return true
	}
	for _, p := range reservedEnvPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// EnvFromMayReserve reports whether an envFrom source with this prefix could yield a reserved name:
// the prefix is empty, begins a reserved name, or already is one's beginning.
func EnvFromMayReserve(prefix string) bool {
	if strings.HasPrefix(homeEnv, prefix) {
		return true
	}
	for _, p := range reservedEnvPrefixes {
		if strings.HasPrefix(p, prefix) || strings.HasPrefix(prefix, p) {
			return true
		}
	}
	return false
}
