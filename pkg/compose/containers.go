package compose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// role says what a container is to Kandev.
type role int

const (
	mainRole      role = iota // the main container
	companionRole             // another ordinary container: the only role that may hold a grant
	initRole                  // an init container, native sidecars with it
	ephemeralRole
)

func (r role) String() string {
	return [...]string{"main container", "companion", "init container", "ephemeral container"}[r]
}

// containerAt is one container of a template and its place.
type containerAt struct {
	*corev1.Container
	role role
	at   *field.Path
}

// what names the container in a sentence.
func (c *containerAt) what() string { return fmt.Sprintf("%s %q", c.role, c.Name) }

// eachContainer visits every container of a Pod.
func (v *validator) eachContainer(s *corev1.PodSpec, visit func(*containerAt)) {
	at := templateRoot.Child("spec")
	for i := range s.InitContainers {
		visit(&containerAt{&s.InitContainers[i], initRole, at.Child("initContainers").Index(i)})
	}
	for i := range s.Containers {
		r := companionRole
		if s.Containers[i].Name == v.profile.MainContainer {
			r = mainRole
		}
		visit(&containerAt{&s.Containers[i], r, at.Child("containers").Index(i)})
	}
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		visit(&containerAt{&c, ephemeralRole, at.Child("ephemeralContainers").Index(i)})
	}
}

// mainContainer checks that the main container is there once and leaves Kandev's fields alone.
func (v *validator) mainContainer(s *corev1.PodSpec) {
	at := templateRoot.Child("spec", "containers")
	name := v.profile.MainContainer
	found := 0
	for i := range s.Containers {
		c := &s.Containers[i]
		if c.Name != name {
			continue
		}
		found++
		if found > 1 {
			v.add(RuleMainContainerDuplicate, at.Index(i).Child("name"), name,
				fmt.Sprintf("a second container is named %q like the main container", name),
				"rename this container, or remove it")
			continue
		}
		v.mainFields(c, at.Index(i))
	}
	if found == 0 {
		v.add(RuleMainContainerMissing, at, "",
			fmt.Sprintf("no container is named %q, the profile's main container%s", name, v.misplaced(s)),
			fmt.Sprintf("name the agent's container %q, or set main_container in the profile (--main-container)", name))
	}
}

// misplaced says where the main container's name stands instead.
func (v *validator) misplaced(s *corev1.PodSpec) string {
	for i := range s.InitContainers {
		if s.InitContainers[i].Name == v.profile.MainContainer {
			return "; an init container has that name"
		}
	}
	return ""
}

func (v *validator) mainFields(c *corev1.Container, at *field.Path) {
	if c.Image == "" {
		v.add(RuleMainContainerImage, at.Child("image"), c.Name,
			fmt.Sprintf("main container %q has no image", c.Name), "set image to the agent's workload image")
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"command", len(c.Command) > 0},
		{"args", len(c.Args) > 0},
		{"workingDir", c.WorkingDir != ""},
	} {
		if f.set {
			v.add(RuleOwnedEntrypoint, at.Child(f.name), c.Name,
				fmt.Sprintf("%s of main container %q is Kandev's: it starts the agent in %s", f.name, c.Name, WorkspacePath),
				fmt.Sprintf("remove %s; put preparation into the profile's prepare script or an init container", f.name))
		}
	}
}

// containers checks what no container may do, and the workspace grant.
func (v *validator) containers(s *corev1.PodSpec) {
	v.eachContainer(s, func(c *containerAt) {
		v.env(c)
		v.ports(c)
		v.mounts(c)
		v.devices(c)
		v.terminationLog(c)
	})
}

func (v *validator) env(c *containerAt) {
	for i := range c.Env {
		if name := c.Env[i].Name; IsReservedEnv(name) {
			v.add(RuleReservedEnv, c.at.Child("env").Index(i).Child("name"), c.Name,
				fmt.Sprintf("%s sets %s, a name that only Kandev sets", c.what(), name),
				"remove it, or choose a name other than HOME that starts with neither AGENTCTL_ nor KANDEV_")
		}
	}
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from != nil && from.FileKeyRef != nil && IsOwnedVolume(from.FileKeyRef.VolumeName) {
			v.add(RuleOwnedVolumeMount, c.at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), c.Name,
				fmt.Sprintf("%s reads %s from a file in %s, which only Kandev uses", c.what(), c.Env[i].Name, from.FileKeyRef.VolumeName),
				"read the value from a volume of your own")
		}
	}
	for i := range c.EnvFrom {
		prefix := c.EnvFrom[i].Prefix
		if !EnvFromMayReserve(prefix) {
			continue
		}
		at, detail := c.at.Child("envFrom").Index(i), fmt.Sprintf("%s takes envFrom without a prefix, so its source could set HOME, AGENTCTL_* or KANDEV_*", c.what())
		if prefix != "" {
			at = at.Child("prefix")
			detail = fmt.Sprintf("%s takes envFrom with prefix %q, under which its source could set a name that only Kandev sets", c.what(), prefix)
		}
		v.add(RuleReservedEnvFrom, at, c.Name, detail,
			"set a prefix that begins none of HOME, AGENTCTL_ and KANDEV_, or take single keys with env and valueFrom")
	}
}

func (v *validator) ports(c *containerAt) {
	for i, p := range c.Ports {
		at := c.at.Child("ports").Index(i)
		if p.ContainerPort == ControlPort {
			v.add(RuleControlPort, at.Child("containerPort"), c.Name,
				fmt.Sprintf("%s uses port %d, on which the agent's control program listens", c.what(), ControlPort),
				"choose another port")
		}
		if p.Name == ControlPortName {
			v.add(RuleControlPort, at.Child("name"), c.Name,
				fmt.Sprintf("%s names a port %s, the name of the control port", c.what(), ControlPortName),
				"choose another name for the port")
		}
	}
}

// mounts checks every mount of a container against the owned volumes and paths.
func (v *validator) mounts(c *containerAt) {
	granted := false
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], c.at.Child("volumeMounts").Index(i)
		switch {
		case m.Name == WorkspaceVolume && c.role != mainRole:
			v.grant(c, m, at, granted)
			granted = true
		case IsOwnedVolume(m.Name):
			v.add(RuleOwnedVolumeMount, at.Child("name"), c.Name, ownedMountDetail(c, m.Name), ownedMountRemedy(c, m.Name))
		}
	}
	for i := range c.VolumeMounts {
		if m := &c.VolumeMounts[i]; !IsOwnedVolume(m.Name) {
			v.mountPath(c, m.Name, m.MountPath, c.at.Child("volumeMounts").Index(i).Child("mountPath"), granted)
		}
	}
}

func ownedMountDetail(c *containerAt, volume string) string {
	if c.role == mainRole {
		return fmt.Sprintf("%s mounts %s, which Kandev mounts into it by itself", c.what(), volume)
	}
	return fmt.Sprintf("%s mounts %s, which is shared with no container but the main one", c.what(), volume)
}

func ownedMountRemedy(c *containerAt, volume string) string {
	if c.role == mainRole || volume != WorkspaceVolume {
		return "remove this mount"
	}
	return "remove this mount; only an ordinary container may take the workspace"
}

func (v *validator) devices(c *containerAt) {
	for i, d := range c.VolumeDevices {
		at := c.at.Child("volumeDevices").Index(i)
		if IsOwnedVolume(d.Name) {
			v.add(RuleOwnedVolumeMount, at.Child("name"), c.Name,
				fmt.Sprintf("%s takes %s as a block device; it is a file system of Kandev's", c.what(), d.Name),
				"remove this device")
			continue
		}
		if owned := OwnedPathAround(d.DevicePath); owned != "" {
			v.add(RuleOwnedPath, at.Child("devicePath"), c.Name,
				fmt.Sprintf("%s puts device %q at %s, inside Kandev's %s", c.what(), d.Name, shown(d.DevicePath), owned), otherPath())
		}
	}
}

// mountPath checks where a volume that is not owned is mounted.
func (v *validator) mountPath(c *containerAt, volume, mountPath string, at *field.Path, granted bool) {
	if owned := OwnedPathAround(mountPath); owned != "" {
		rule := RuleOwnedPath
		if granted && owned == WorkspacePath {
			rule = RuleGrantOverlap
		}
		v.add(rule, at, c.Name, fmt.Sprintf("%s mounts volume %q at %s, inside Kandev's %s", c.what(), volume, shown(mountPath), owned), otherPath())
		return
	}
	below := OwnedPathsBelow(mountPath)
	if len(below) == 0 {
		return
	}
	detail := fmt.Sprintf("%s mounts volume %q at %s, above Kandev's %s", c.what(), volume, shown(mountPath), below[0])
	remedy := "mount the volume at a path that is no parent of " + below[0]
	if granted {
		v.add(RuleGrantOverlap, at, c.Name, detail+", while it holds the workspace grant", remedy)
		return
	}
	v.add(RuleOwnedPathAncestor, at, c.Name, detail, remedy)
}

// terminationLog refuses a termination message in an owned path: the kubelet mounts a file of its own there
// and publishes what is written to it in the Pod's status.
func (v *validator) terminationLog(c *containerAt) {
	if owned := OwnedPathAround(c.TerminationMessagePath); owned != "" {
		v.add(RuleOwnedPath, c.at.Child("terminationMessagePath"), c.Name,
			fmt.Sprintf("the termination message of %s is read from %s, inside Kandev's %s, and published in the Pod's status",
				c.what(), shown(c.TerminationMessagePath), owned), otherPath())
	}
}

// otherPath is the remedy for a path that is Kandev's.
func otherPath() string { return "choose a path outside " + strings.Join(OwnedPaths(), ", ") }

// shown writes a path as it stands, and cleaned where that differs.
func shown(p string) string {
	cleaned := CleanPath(p)
	if p == cleaned {
		return p
	}
	return fmt.Sprintf("%s (that is %s)", p, cleaned)
}
