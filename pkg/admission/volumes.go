package admission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

var volumesRoot = specRoot.Child("volumes")

// volumes compares the owned volumes with their exact sources and refuses other volumes that reach what
// is in them.
func (c *podComparison) volumes() {
	for _, name := range compose.OwnedVolumes() {
		c.ownedVolume(name)
	}
	claim := c.workspaceClaim()
	for i, name := range namesOf(c.admitted.Spec.Volumes) {
		if v := &c.admitted.Spec.Volumes[i]; !compose.IsOwnedVolume(v.Name) {
			c.claimAlias(v, volumesRoot.Key(name), claim)
			c.hostAlias(v, volumesRoot.Key(name))
		}
	}
}

// ownedVolume compares one owned volume: defined once, with the same source.
func (c *podComparison) ownedVolume(name string) {
	was := slices.IndexFunc(c.requested.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	names, found := namesOf(c.admitted.Spec.Volumes), false
	for i := range c.admitted.Spec.Volumes {
		v, at := &c.admitted.Spec.Volumes[i], volumesRoot.Key(names[i])
		switch {
		case v.Name != name:
		case was < 0 || found:
			c.add(compose.RuleOwnedVolume, at, fmt.Sprintf("a volume %q was added", name), nil, v)
		default:
			found = true
			c.ownedSource(&c.requested.Spec.Volumes[was], v, at)
		}
	}
	if was >= 0 && !found {
		c.add(compose.RuleOwnedVolume, volumesRoot.Key(name), fmt.Sprintf("volume %q was removed", name), &c.requested.Spec.Volumes[was], nil)
	}
}

func (c *podComparison) ownedSource(r, a *corev1.Volume, at *field.Path) {
	for _, d := range differences(at, r, a) {
		c.add(compose.RuleOwnedVolume, d.at, fmt.Sprintf("the source of volume %q was changed", r.Name), d.requested, d.admitted)
	}
}

// workspaceClaim returns the name of the claim that holds the workspace, "" when none does.
func (c *podComparison) workspaceClaim() string {
	for _, v := range c.requested.Spec.Volumes {
		if v.Name == compose.WorkspaceVolume && v.PersistentVolumeClaim != nil {
			return v.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// claimAlias refuses a volume that is the workspace's claim under another name, or a copy of it.
func (c *podComparison) claimAlias(v *corev1.Volume, at *field.Path, claim string) {
	if claim == "" {
		return
	}
	if pvc := v.PersistentVolumeClaim; pvc != nil && pvc.ClaimName == claim {
		c.add(compose.RuleOwnedClaim, at.Child("persistentVolumeClaim", "claimName"),
			fmt.Sprintf("volume %q is the workspace's claim under another name", v.Name), nil, claim)
	}
	if v.Ephemeral == nil {
		return
	}
	if c.requested.Name+"-"+v.Name == claim {
		c.add(compose.RuleOwnedClaim, at.Child("ephemeral"), fmt.Sprintf("the claim of ephemeral volume %q is the workspace's", v.Name), nil, claim)
	}
	if t := v.Ephemeral.VolumeClaimTemplate; t != nil && copies(&t.Spec, claim) {
		c.add(compose.RuleOwnedClaim, at.Child("ephemeral", "volumeClaimTemplate", "spec", "dataSource"),
			fmt.Sprintf("volume %q is a copy of the workspace's claim", v.Name), nil, claim,
			at.Child("ephemeral", "volumeClaimTemplate", "spec", "dataSourceRef"))
	}
}

// copies reports whether a claim is filled from another one.
func copies(s *corev1.PersistentVolumeClaimSpec, claim string) bool {
	const kind = "PersistentVolumeClaim"
	return s.DataSource != nil && s.DataSource.Kind == kind && s.DataSource.Name == claim ||
		s.DataSourceRef != nil && s.DataSourceRef.Kind == kind && s.DataSourceRef.Name == claim
}

// kubeletVolumes is where a kubelet keeps the emptyDir volumes of its Pods, and proc where a node shows the
// root directory of every process, the agent's with its credentials among them.
const (
	kubeletVolumes = "/var/lib/kubelet/pods"
	proc           = "/proc"
)

// hostAlias refuses an added or redirected hostPath volume in which the owned volumes can be read. Every other hostPath
// is accepted and left to the policy's warnings.
func (c *podComparison) hostAlias(v *corev1.Volume, at *field.Path) {
	if v.HostPath == nil || has(c.requested.Spec.Volumes, v) {
		return
	}
	p := path.Clean("/" + v.HostPath.Path)
	if p == "/" || lies(kubeletVolumes, p) || lies(p, kubeletVolumes) || lies(p, proc) {
		c.add(RuleHostVolumes, at.Child("hostPath", "path"),
			fmt.Sprintf("volume %q is the node's %s, in which the agent's volumes can be read", v.Name, p), nil, v.HostPath.Path)
	}
}

// lies reports whether a cleaned path is a directory, or lies in it.
func lies(p, dir string) bool { return strings.HasPrefix(p+"/", dir+"/") }
