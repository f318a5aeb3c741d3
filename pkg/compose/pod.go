package compose

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metadata refuses everything in the Pod's metadata but free labels and annotations.
func (v *validator) metadata(t *corev1.PodTemplateSpec) {
	at := templateRoot.Child("metadata")
	for _, name := range ownedMetadata(&t.ObjectMeta) {
		v.add(RuleOwnedMetadata, at.Child(name), "",
			fmt.Sprintf("metadata.%s of the Pod is Kandev's or the API server's to set", name),
			fmt.Sprintf("remove %s; Kandev names and labels each session's Pod", name))
	}
	v.reservedKeys(at.Child("labels"), "label", t.Labels)
	v.reservedKeys(at.Child("annotations"), "annotation", t.Annotations)
}

// ownedMetadata lists the metadata fields that a template sets though it may not.
func ownedMetadata(m *metav1.ObjectMeta) []string {
	var out []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", m.Name != ""},
		{"generateName", m.GenerateName != ""},
		{"namespace", m.Namespace != ""},
		{"selfLink", m.SelfLink != ""}, //nolint:staticcheck // deprecated, yet still decoded
		{"uid", m.UID != ""},
		{"resourceVersion", m.ResourceVersion != ""},
		{"generation", m.Generation != 0},
		{"creationTimestamp", !m.CreationTimestamp.IsZero()},
		{"deletionTimestamp", m.DeletionTimestamp != nil},
		{"deletionGracePeriodSeconds", m.DeletionGracePeriodSeconds != nil},
		{"ownerReferences", len(m.OwnerReferences) > 0},
		{"finalizers", len(m.Finalizers) > 0},
		{"managedFields", len(m.ManagedFields) > 0},
	} {
		if f.set {
			out = append(out, f.name)
		}
	}
	return out
}

func (v *validator) reservedKeys(at *field.Path, what string, m map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if IsReservedKey(key) {
			v.add(RuleReservedMetadata, at.Key(key), "",
				fmt.Sprintf("%s %q is Kandev's own: it identifies the session", what, key),
				"remove it, or choose a key outside kandev.ai/ and app.kubernetes.io/")
		}
	}
}

// pod refuses the owned fields of the Pod itself.
func (v *validator) pod(s *corev1.PodSpec) {
	at := templateRoot.Child("spec")
	if s.RestartPolicy != "" {
		v.add(RuleOwnedRestartPolicy, at.Child("restartPolicy"), "",
			fmt.Sprintf("restartPolicy %s is set; Kandev sets Always, so that a session survives a restart of its container", s.RestartPolicy),
			"remove restartPolicy")
	}
	if s.NodeName != "" {
		v.add(RuleOwnedNodeName, at.Child("nodeName"), "",
			fmt.Sprintf("nodeName %q would bypass the scheduler and the platform's constraints", s.NodeName),
			"remove nodeName; steer with nodeSelector or node affinity on other labels")
	}
	if s.OS != nil {
		v.add(RuleOwnedOS, at.Child("os"), "", "os is set; Kandev sets it from the profile's platform",
			"remove os; the profile's platform decides")
	}
	for _, key := range []string{NodeOSLabel, NodeArchLabel} {
		if _, ok := s.NodeSelector[key]; ok {
			v.add(RuleOwnedNodeSelector, at.Child("nodeSelector").Key(key), "",
				fmt.Sprintf("nodeSelector %s is Kandev's: the profile's platform decides it", key),
				fmt.Sprintf("remove %s; set the profile's platform", key))
		}
	}
	v.nodeAffinity(s.Affinity, at.Child("affinity", "nodeAffinity"))
	v.volumes(s.Volumes, at.Child("volumes"))
	if len(s.EphemeralContainers) > 0 {
		v.add(RuleEphemeralContainers, at.Child("ephemeralContainers"), "",
			"ephemeralContainers cannot be part of a template: the API server refuses them when a Pod is created",
			"remove ephemeralContainers; make the container an ordinary one, or use kubectl debug on a running Pod")
	}
}

func (v *validator) nodeAffinity(a *corev1.Affinity, at *field.Path) {
	if a == nil || a.NodeAffinity == nil {
		return
	}
	if required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms := at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		for i := range required.NodeSelectorTerms {
			v.nodeTerm(&required.NodeSelectorTerms[i], terms.Index(i))
		}
	}
	preferred := at.Child("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		v.nodeTerm(&a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference,
			preferred.Index(i).Child("preference"))
	}
}

func (v *validator) nodeTerm(t *corev1.NodeSelectorTerm, at *field.Path) {
	for _, list := range []struct {
		name string
		reqs []corev1.NodeSelectorRequirement
	}{{"matchExpressions", t.MatchExpressions}, {"matchFields", t.MatchFields}} {
		for i, r := range list.reqs {
			if r.Key != NodeOSLabel && r.Key != NodeArchLabel {
				continue
			}
			v.add(RuleOwnedNodeAffinity, at.Child(list.name).Index(i).Child("key"), "",
				fmt.Sprintf("node affinity on %s can contradict the platform that Kandev schedules for", r.Key),
				"remove this requirement; set the profile's platform")
		}
	}
}

func (v *validator) volumes(volumes []corev1.Volume, at *field.Path) {
	w := v.profile.Workspace
	for i := range volumes {
		vol := &volumes[i]
		if IsOwnedVolume(vol.Name) {
			v.add(RuleOwnedVolume, at.Index(i).Child("name"), "",
				fmt.Sprintf("volume %q is defined by Kandev, not by a template", vol.Name),
				"remove this volume, or rename it and the mounts that are meant for it")
		}
		if w.Mode == ExistingClaim {
			v.violations = append(v.violations, claimAliases(vol, w.ClaimName, at.Index(i))...)
		}
		if vol.Ephemeral != nil && w.Mode == ManagedPVC && "-"+vol.Name == claimSuffix {
			v.add(RuleOwnedClaim, at.Index(i).Child("name"), "",
				fmt.Sprintf("the claim of ephemeral volume %q would have the name of the session's workspace claim", vol.Name),
				"rename this volume")
		}
	}
}

// claimAliases finds what gives a volume the workspace's own claim, or a copy of it.
func claimAliases(vol *corev1.Volume, claim string, at *field.Path) []Violation {
	var out []Violation
	add := func(at *field.Path, how string) {
		out = append(out, violation(RuleOwnedClaim, at, "",
			fmt.Sprintf("volume %q %s the workspace's own claim %q, which would bypass the workspace grant", vol.Name, how, claim),
			"remove this volume; to share the workspace, mount kandev-workspace at /workspace"))
	}
	if vol.PersistentVolumeClaim != nil && vol.PersistentVolumeClaim.ClaimName == claim {
		add(at.Child("persistentVolumeClaim", "claimName"), "names")
	}
	if vol.Ephemeral == nil || vol.Ephemeral.VolumeClaimTemplate == nil {
		return out
	}
	spec, at := &vol.Ephemeral.VolumeClaimTemplate.Spec, at.Child("ephemeral", "volumeClaimTemplate", "spec")
	if s := spec.DataSource; s != nil && s.Kind == claimKind && s.Name == claim {
		add(at.Child("dataSource", "name"), "copies")
	}
	if s := spec.DataSourceRef; s != nil && s.Kind == claimKind && s.Name == claim {
		add(at.Child("dataSourceRef", "name"), "copies")
	}
	return out
}

// claimKind is the kind of a claim as the data source of another.
const claimKind = "PersistentVolumeClaim"

// checkClaims finds volumes that reach the managed claim by its generated name, which is known only
// once the identity is.
func checkClaims(t *corev1.PodTemplateSpec, p Profile, id Identity) []Violation {
	if p.Workspace.Mode != ManagedPVC {
		return nil
	}
	var out []Violation
	for i := range t.Spec.Volumes {
		at := templateRoot.Child("spec", "volumes").Index(i)
		out = append(out, claimAliases(&t.Spec.Volumes[i], id.ClaimName(), at)...)
	}
	return out
}
