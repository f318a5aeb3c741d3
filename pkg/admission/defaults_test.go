package admission_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kandev/kandev-podlint/pkg/admission"
)

// volumeCases pairs a volume's source as it is sent with what kube-apiserver persists
// (k8s.io/kubernetes pkg/apis/core/v1/zz_generated.defaults.go).
var volumeCases = map[string]struct{ sent, persisted corev1.VolumeSource }{
	"no source": {corev1.VolumeSource{}, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	"iscsi":     {corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}, corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{ISCSIInterface: "default"}}},
	"rbd": {corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}}, corev1.VolumeSource{
		RBD: &corev1.RBDVolumeSource{RBDPool: "rbd", RadosUser: "admin", Keyring: "/etc/ceph/keyring"},
	}},
	"scaleIO": {corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{}}, corev1.VolumeSource{
		ScaleIO: &corev1.ScaleIOVolumeSource{StorageMode: "ThinProvisioned", FSType: "xfs"},
	}},
	"azureDisk": {corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{}}, corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{
		CachingMode: new(corev1.AzureDataDiskCachingReadWrite), FSType: new("ext4"), ReadOnly: new(false), Kind: new(corev1.AzureSharedBlobDisk),
	}}},
	"image": {corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "data"}}, corev1.VolumeSource{
		Image: &corev1.ImageVolumeSource{Reference: "data", PullPolicy: corev1.PullAlways},
	}},
	"image by digest": {corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "data@sha256:00"}}, corev1.VolumeSource{
		Image: &corev1.ImageVolumeSource{Reference: "data@sha256:00", PullPolicy: corev1.PullIfNotPresent},
	}},
	"projected downward API": {projected("", nil), projected("v1", new(int32(420)))},
}

func projected(apiVersion string, mode *int32) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: mode, Sources: []corev1.VolumeProjection{{
		DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "name", FieldRef: &corev1.ObjectFieldSelector{APIVersion: apiVersion, FieldPath: "metadata.name"}},
		}},
	}}}}
}

func TestVolumeDefaults(t *testing.T) {
	for name, c := range volumeCases {
		t.Run(name, func(t *testing.T) {
			requested, admitted := objects(t).Pod, objects(t).Pod
			requested.Spec.Volumes = append(requested.Spec.Volumes, corev1.Volume{Name: "x", VolumeSource: c.sent})
			admitted.Spec.Volumes = append(admitted.Spec.Volumes, corev1.Volume{Name: "x", VolumeSource: c.persisted})
			if r := comparePod(t, requested, admitted, admission.AtCreate); !r.Compatible || len(r.Accepted) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestPullPolicies: the default follows from the image's tag, which a name that does not parse has not
// (github.com/distribution/reference). test/admission asks real API servers.
func TestPullPolicies(t *testing.T) {
	const digest = "@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70"
	for image, want := range map[string]corev1.PullPolicy{
		"agent": corev1.PullAlways, "registry.example:5000/agent": corev1.PullAlways, "UPPER/agent": corev1.PullAlways,
		"agent:latest": corev1.PullAlways, "agent:latest" + digest: corev1.PullAlways,
		"agent:1": corev1.PullIfNotPresent, "agent" + digest: corev1.PullIfNotPresent, "registry.example:5000/agent:1": corev1.PullIfNotPresent,
		"Agent:latest": corev1.PullIfNotPresent, "Not An Image": corev1.PullIfNotPresent, "agent:": corev1.PullIfNotPresent,
		"agent:latest@sha256:00": corev1.PullIfNotPresent,
	} {
		requested, admitted := objects(t).Pod, objects(t).Pod
		containerNamed(requested, "plain").Image, containerNamed(admitted, "plain").Image = image, image
		containerNamed(admitted, "plain").ImagePullPolicy = want
		if r := comparePod(t, requested, admitted, admission.AtCreate); !r.Compatible || len(r.Accepted) > 0 {
			t.Errorf("%s: %+v", image, r.Accepted)
		}
	}
}

func TestOtherDefaults(t *testing.T) {
	requested, admitted := objects(t).Pod, objects(t).Pod
	plain := containerNamed(requested, "plain")
	plain.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}}
	plain.Env = []corev1.EnvVar{{Name: "F", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "x", Path: "p", Key: "F"}}}}
	requested.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.0001")}
	requested.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1024Mi")}}
	requested.Spec.DeprecatedServiceAccount = "worker"

	kept := containerNamed(admitted, "plain")
	kept.LivenessProbe = &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1, Service: new("")}},
		TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	kept.Env = []corev1.EnvVar{{Name: "F", ValueFrom: &corev1.EnvVarSource{
		FileKeyRef: &corev1.FileKeySelector{VolumeName: "x", Path: "p", Key: "F", Optional: new(false)},
	}}}
	admitted.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")}
	admitted.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	admitted.Spec.ServiceAccountName = "worker"
	if r := comparePod(t, requested, admitted, admission.AtCreate); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestOrderOfInitContainers: they run one after the other, so another order is listed.
func TestOrderOfInitContainers(t *testing.T) {
	requested := objects(t).Pod
	requested.Spec.InitContainers = append(requested.Spec.InitContainers, corev1.Container{Name: "second", Image: "x:1"})
	admitted := requested.DeepCopy()
	slices.Reverse(admitted.Spec.InitContainers)
	r := comparePod(t, requested, admitted, admission.AtCreate)
	if diff := cmp.Diff(append(slices.Clone(asRequested), "changed spec.initContainers"), lines(r)); diff != "" {
		t.Error(diff)
	}
}

// TestPartsOfALargerValue: a violation shows what differs, not the whole.
func TestPartsOfALargerValue(t *testing.T) {
	rules := func(code int32) []corev1.ContainerRestartRule {
		return []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1, code}},
		}}
	}
	requested, admitted := objects(t).Pod, objects(t).Pod
	containerNamed(requested, "kandev-agent").RestartPolicyRules = rules(2)
	containerNamed(admitted, "kandev-agent").RestartPolicyRules = rules(3)
	want := append(slices.Clone(asRequested),
		`owned-restart-policy: spec.containers[kandev-agent].restartPolicyRules: "[0].exitCodes.values[1] 2", "[0].exitCodes.values[1] 3"`)
	if diff := cmp.Diff(want, lines(comparePod(t, requested, admitted, admission.AtCreate))); diff != "" {
		t.Error(diff)
	}
}

// TestSecondItemsOfOneName: nothing hides behind a name that another item has, or looks like it has.
func TestSecondItemsOfOneName(t *testing.T) {
	requested, admitted := objects(t).Pod, objects(t).Pod
	containerNamed(requested, "plain").Env = []corev1.EnvVar{{Name: "A", Value: "1"}}
	containerNamed(admitted, "plain").Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}, {Name: "A#2", Value: "3"}}
	want := append(slices.Clone(asRequested), "added spec.containers[plain].env[A#2#2]", "added spec.containers[plain].env[A#2]")
	if diff := cmp.Diff(want, lines(comparePod(t, requested, admitted, admission.AtCreate))); diff != "" {
		t.Error(diff)
	}
}
