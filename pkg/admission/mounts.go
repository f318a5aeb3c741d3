package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// mounts compares a container's mounts of owned volumes and refuses other volumes in owned paths.
func (c *podComparison) mounts(r, a *container) {
	for _, volume := range compose.OwnedVolumes() {
		c.ownedMounts(volume, r, a)
	}
	for i, name := range namesOf(a.VolumeMounts) {
		if m := &a.VolumeMounts[i]; !compose.IsOwnedVolume(m.Name) && !has(r.VolumeMounts, m) {
			c.foreignMount(a, m, name)
		}
	}
}

// mountsOf returns the positions at which a container mounts a volume.
func mountsOf(c *corev1.Container, volume string) []int {
	var out []int
	for i := range c.VolumeMounts {
		if c.VolumeMounts[i].Name == volume {
			out = append(out, i)
		}
	}
	return out
}

// ownedMounts compares a container's mounts of one owned volume: at most the one that was requested.
func (c *podComparison) ownedMounts(volume string, r, a *container) {
	was, is := mountsOf(r.Container, volume), mountsOf(a.Container, volume)
	names := namesOf(a.VolumeMounts)
	if len(was) == 0 || r.role == initRole || r.role == ephemeralRole {
		for _, i := range is {
			c.addedMount(a, i, names[i], false)
		}
		return
	}
	requested := &r.VolumeMounts[was[0]]
	if len(is) == 0 {
		c.removedMount(a, requested)
		return
	}
	kept := max(0, slices.IndexFunc(is, func(i int) bool { return equal(requested, &a.VolumeMounts[i]) }))
	for n, i := range is {
		if n == kept {
			c.changedMount(a, requested, &a.VolumeMounts[i], names[i])
		} else {
			c.addedMount(a, i, names[i], true)
		}
	}
}

// addedMount reports a mount of an owned volume that was not requested; again tells a second one.
func (c *podComparison) addedMount(a *container, i int, name string, again bool) {
	m := &a.VolumeMounts[i]
	rule, message := compose.RuleOwnedVolumeMount, fmt.Sprintf("%s was given %s at %s", a.what(), m.Name, m.MountPath)
	if m.Name == compose.WorkspaceVolume && a.role != mainRole {
		switch {
		case a.role != companionRole:
			rule = compose.RuleGrantRecipient
		case again:
			rule = compose.RuleGrantDuplicate
			message += ", a second time"
		default:
			rule = RuleGrantAdded
			message = fmt.Sprintf("%s was given the workspace, %s, at %s", a.what(), modeName(compose.Mode(m)), m.MountPath)
		}
	}
	c.add(rule, a.at.Child("volumeMounts").Key(name), message, nil, m)
}

// removedMount reports a requested mount that is gone.
func (c *podComparison) removedMount(a *container, m *corev1.VolumeMount) {
	rule := compose.RuleOwnedVolumeMount
	if a.role == companionRole {
		rule = RuleGrantRemoved
	}
	c.add(rule, a.at.Child("volumeMounts").Key(m.MountPath), fmt.Sprintf("the mount of %s was taken from %s", m.Name, a.what()), m, nil)
}

// changedMount compares a mount of an owned volume field by field.
func (c *podComparison) changedMount(a *container, r, m *corev1.VolumeMount, name string) {
	at := a.at.Child("volumeMounts").Key(name)
	for _, d := range differences(at, r, m) {
		rule := compose.RuleOwnedVolumeMount
		if a.role == companionRole {
			rule = compose.RuleGrantShape
		}
		if d.at.String() == at.Child("readOnly").String() {
			d.requested, d.admitted = r.ReadOnly, m.ReadOnly // false is a mode, not an absence
			if a.role == companionRole {
				rule = RuleGrantMode
			}
		}
		c.add(rule, d.at, fmt.Sprintf("the mount of %s in %s was changed", m.Name, a.what()),
			d.requested, d.admitted, at, a.at.Child("volumeMounts").Key(r.MountPath))
	}
}

// foreignMount refuses a mount of another volume that hides an owned path or, where the container has
// something to lose there, can replace it.
func (c *podComparison) foreignMount(a *container, m *corev1.VolumeMount, name string) {
	at := a.at.Child("volumeMounts").Key(name)
	if owned := compose.OwnedPathAround(m.MountPath); owned != "" {
		rule := compose.RuleOwnedPath
		if owned == compose.WorkspacePath && holdsGrant(a) {
			rule = compose.RuleGrantOverlap
		}
		c.add(rule, at, fmt.Sprintf("%s has volume %q at %s, inside Kandev's %s", a.what(), m.Name, m.MountPath, owned), nil, m)
		return
	}
	below := compose.OwnedPathsBelow(m.MountPath)
	if len(below) == 0 || a.role != mainRole && !holdsGrant(a) {
		return
	}
	rule := compose.RuleOwnedPathAncestor
	if a.role == companionRole && slices.Contains(below, compose.WorkspacePath) {
		rule = compose.RuleGrantOverlap
	}
	c.add(rule, at, fmt.Sprintf("%s has volume %q at %s, above Kandev's %s: whoever writes to it can put something else there", a.what(), m.Name, m.MountPath, below[0]), nil, m)
}

// holdsGrant reports whether a container is a companion with the workspace.
func holdsGrant(a *container) bool {
	return a.role == companionRole && len(mountsOf(a.Container, compose.WorkspaceVolume)) > 0
}
