package compose

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// grant checks one mount of the workspace by a container other than the main one: the single
// exception to the rule that owned volumes are Kandev's alone.
func (v *validator) grant(c *containerAt, m *corev1.VolumeMount, at *field.Path, another bool) {
	if c.role != companionRole {
		v.add(RuleGrantRecipient, at.Child("name"), c.Name,
			fmt.Sprintf("%s takes the workspace; a grant goes to an ordinary container only", c.what()),
			"remove this mount, or move the container to containers")
		return
	}
	if another {
		v.add(RuleGrantDuplicate, at, c.Name,
			fmt.Sprintf("%s takes the workspace a second time; a grant is one mount", c.what()), "remove this mount")
		return
	}
	if m.MountPath != WorkspacePath {
		v.add(RuleGrantShape, at.Child("mountPath"), c.Name,
			fmt.Sprintf("%s takes the workspace at %q; a grant is mounted at exactly %s", c.what(), m.MountPath, WorkspacePath),
			"write mountPath: "+WorkspacePath)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"subPath", m.SubPath != ""},
		{"subPathExpr", m.SubPathExpr != ""},
		{"mountPropagation", m.MountPropagation != nil},
		{"recursiveReadOnly", m.RecursiveReadOnly != nil},
		{"bindMountOptions", len(m.BindMountOptions) > 0},
	} {
		if f.set {
			v.add(RuleGrantShape, at.Child(f.name), c.Name,
				fmt.Sprintf("%s takes the workspace with %s; a grant is all of %s, read-write or readOnly", c.what(), f.name, WorkspacePath),
				fmt.Sprintf("remove %s; for a private directory mount a volume of your own at another path", f.name))
		}
	}
}

// GrantMode is how a container may use the workspace.
type GrantMode string

// The modes of a grant.
const (
	GrantNone      GrantMode = "none"
	GrantReadOnly  GrantMode = "ro"
	GrantReadWrite GrantMode = "rw"
)

// Mode returns what a grant's mount allows.
func Mode(m *corev1.VolumeMount) GrantMode {
	if m.ReadOnly {
		return GrantReadOnly
	}
	return GrantReadWrite
}
