package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// Objects is what one session sends to the API server.
type Objects struct {
	Pod *corev1.Pod
	// Claim is the managed claim, nil unless the workspace mode is managed_pvc.
	Claim *corev1.PersistentVolumeClaim
}

// Compose turns a template into the objects of one session. The template is not changed. The objects
// carry no create nonce: SetNonce adds it just before a create request.
//
// The error is a *Invalid when the template, the profile or the identity breaks a rule, or an image is a placeholder.
func Compose(t *corev1.PodTemplateSpec, p Profile, id Identity) (Objects, error) {
	return compose(t, p, id, checkTemplate)
}

// Preview is Compose for whoever only looks at the objects: images may be placeholders.
func Preview(t *corev1.PodTemplateSpec, p Profile, id Identity) (Objects, error) {
	return compose(t, p, id, checkPreview)
}

func compose(t *corev1.PodTemplateSpec, p Profile, id Identity, check func(*corev1.PodTemplateSpec, Profile) []Violation) (Objects, error) {
	p = p.WithDefaults()
	violations := slices.Concat(profileViolations(id.Validate()), check(t, p), checkClaims(t, p, id))
	if err := invalid(violations); err != nil {
		return Objects{}, err
	}
	objects := Objects{Pod: composePod(t, p, id)}
	if p.Workspace.Mode == ManagedPVC {
		objects.Claim = composeClaim(p.Workspace, id)
	}
	return objects, nil
}

// SetNonce writes the create nonce into an object's annotations.
func SetNonce(o metav1.Object, nonce string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[NonceAnnotation] = nonce
	o.SetAnnotations(annotations)
}

func composePod(t *corev1.PodTemplateSpec, p Profile, id Identity) *corev1.Pod {
	spec := t.Spec.DeepCopy()
	spec.RestartPolicy = corev1.RestartPolicyAlways
	spec.OS = &corev1.PodOS{Name: corev1.Linux}
	spec.NodeSelector = merged(spec.NodeSelector, map[string]string{
		NodeOSLabel:   string(corev1.Linux),
		NodeArchLabel: p.Platform.Arch(),
	})
	if spec.AutomountServiceAccountToken == nil {
		spec.AutomountServiceAccountToken = new(false)
	}
	spec.Volumes = append(spec.Volumes, ownedVolumes(p.Workspace, id)...)
	for i := range spec.Containers {
		if spec.Containers[i].Name == p.MainContainer {
			composeMain(&spec.Containers[i])
		}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        id.PodName(),
			Namespace:   id.Namespace,
			Labels:      merged(t.Labels, id.Labels()),
			Annotations: maps.Clone(t.Annotations),
		},
		Spec: *spec,
	}
}

// composeMain writes Kandev's part of the main container.
func composeMain(c *corev1.Container) {
	c.Command = bootstrap.Command(bootstrap.Options{})
	c.Args = nil
	c.WorkingDir = WorkspacePath
	c.Ports = append(c.Ports, corev1.ContainerPort{
		Name: ControlPortName, ContainerPort: ControlPort, Protocol: corev1.ProtocolTCP,
	})
	for i, volume := range OwnedVolumes() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: OwnedPaths()[i]})
	}
}

// ownedVolumes returns the definitions of the owned volumes.
func ownedVolumes(w Workspace, id Identity) []corev1.Volume {
	return []corev1.Volume{
		{Name: RuntimeVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: AuthVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
		}},
		{Name: WorkspaceVolume, VolumeSource: workspaceSource(w, id)},
	}
}

func workspaceSource(w Workspace, id Identity) corev1.VolumeSource {
	claim := w.ClaimName
	switch w.Mode {
	case EmptyDir:
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	case ManagedPVC:
		claim = id.ClaimName()
	case ExistingClaim:
	}
	return corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}
}

// composeClaim returns the managed claim. It has no owner reference: losing the Pod may not delete
// the workspace.
func composeClaim(w Workspace, id Identity) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: id.ClaimName(), Namespace: id.Namespace, Labels: id.Labels()},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: w.AccessModes,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(w.Size)},
			},
		},
	}
	if w.StorageClass != "" {
		claim.Spec.StorageClassName = &w.StorageClass
	}
	return claim
}

// merged returns base with everything in over written over it, in a map of its own.
func merged(base, over map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// Invalid is the error of Compose and NewSnapshot: every rule that is broken.
type Invalid struct {
	Violations []Violation
}

// invalid returns an *Invalid, nil where there are no violations.
func invalid(violations []Violation) error {
	if len(violations) == 0 {
		return nil
	}
	return &Invalid{Violations: violations}
}

// Error names every violation, a line each.
func (e *Invalid) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot compose: %d violation(s)", len(e.Violations))
	for _, v := range e.Violations {
		b.WriteString("\n" + v.String())
	}
	return b.String()
}
