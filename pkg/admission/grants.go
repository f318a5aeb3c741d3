package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// GrantInvalid is the mode of an admitted grant that is none: a mount of the workspace of another shape or by a
// container that may hold no grant.
const GrantInvalid compose.GrantMode = "invalid"

// Grant is a container's access to the workspace, as requested and as admitted. The main container's is not listed.
type Grant struct {
	Container string            `json:"container"`
	Requested compose.GrantMode `json:"requested"`
	Admitted  compose.GrantMode `json:"admitted"`
	Verdict   Verdict           `json:"verdict"`
}

// Verdict says what became of a grant.
type Verdict string

// The verdicts. All but the first are violations.
const (
	GrantSame       Verdict = "same"
	GrantAdded      Verdict = "added"
	GrantRemoved    Verdict = "removed"
	GrantChanged    Verdict = "changed"    // another mode or shape
	GrantMoved      Verdict = "moved"      // to an init or ephemeral container
	GrantDuplicated Verdict = "duplicated" // more than one mount
)

// modeName is a mode in a sentence.
func modeName(m compose.GrantMode) string {
	if m == compose.GrantReadOnly {
		return "read-only"
	}
	return "read-write"
}

// removedGrants reports grants whose container is no longer an ordinary one. A grant that is missing from its
// container is found with the container's mounts.
func (c *podComparison) removedGrants() {
	for _, r := range containersOf(&c.requested.Spec, c.options.MainContainer) {
		if !holdsGrant(r) || c.companion(r.Name).Name != "" {
			continue
		}
		m := &r.VolumeMounts[mountsOf(r.Container, compose.WorkspaceVolume)[0]]
		c.add(RuleGrantRemoved, r.at,
			fmt.Sprintf("%s, which was granted the workspace, is no longer among the ordinary containers", r.what()), modeName(compose.Mode(m)), nil)
	}
}

// grantTable lists every container that was to have the workspace, or has it.
func (c *podComparison) grantTable() []Grant {
	holders := map[string][]*container{}
	var names []string
	requested := map[string]compose.GrantMode{}
	for _, r := range containersOf(&c.requested.Spec, c.options.MainContainer) {
		if holdsGrant(r) && requested[r.Name] == "" {
			requested[r.Name] = compose.Mode(&r.VolumeMounts[mountsOf(r.Container, compose.WorkspaceVolume)[0]])
			names = append(names, r.Name)
		}
	}
	for _, a := range containersOf(&c.admitted.Spec, c.options.MainContainer) {
		if a.role != mainRole && len(mountsOf(a.Container, compose.WorkspaceVolume)) > 0 {
			holders[a.Name] = append(holders[a.Name], a)
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	var table []Grant
	for _, name := range slices.Compact(names) {
		table = append(table, c.grant(name, requested[name], holders[name]))
	}
	return table
}

// grant judges one row of the table.
func (c *podComparison) grant(name string, requested compose.GrantMode, holders []*container) Grant {
	g := Grant{Container: name, Requested: requested, Admitted: GrantInvalid, Verdict: GrantChanged}
	if requested == "" {
		g.Requested, g.Verdict = compose.GrantNone, GrantAdded
	}
	switch {
	case len(holders) == 0:
		g.Admitted, g.Verdict = compose.GrantNone, GrantRemoved
	case requested != "" && slices.ContainsFunc(holders, func(h *container) bool { return h.role != companionRole }):
		g.Verdict = GrantMoved
	case requested != "" && (len(holders) > 1 || len(mountsOf(holders[0].Container, compose.WorkspaceVolume)) > 1):
		g.Verdict = GrantDuplicated
	case len(holders) == 1 && c.isGrant(holders[0]):
		g.Admitted = compose.Mode(&holders[0].VolumeMounts[mountsOf(holders[0].Container, compose.WorkspaceVolume)[0]])
		if g.Admitted == requested {
			g.Verdict = GrantSame
		}
	}
	return g
}

// isGrant reports whether a container holds the workspace in the one way that is allowed.
func (c *podComparison) isGrant(a *container) bool {
	mounts := mountsOf(a.Container, compose.WorkspaceVolume)
	if a.role != companionRole || len(mounts) != 1 {
		return false
	}
	m := &a.VolumeMounts[mounts[0]]
	whole := corev1.VolumeMount{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath, ReadOnly: m.ReadOnly}
	if !equal(&whole, m) {
		return false
	}
	return !slices.ContainsFunc(c.violations, func(v Violation) bool {
		return v.Rule == compose.RuleGrantOverlap && within(v.Path, a.at.String())
	})
}
