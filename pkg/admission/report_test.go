package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

const nonce = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// objects composes the session of these tests: the main container, companions that hold a read-only grant (tools), a read-write
// one (docker) and none (plain), and an init container.
func objects(t testing.TB) compose.Objects {
	t.Helper()
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"team": "a"}
	grant := corev1.VolumeMount{Name: compose.WorkspaceVolume, MountPath: compose.WorkspacePath}
	readOnly := grant
	readOnly.ReadOnly = true
	template.Spec.Containers = []corev1.Container{
		{Name: "kandev-agent", Image: "agent:1"},
		{Name: "tools", Image: "tools:1", VolumeMounts: []corev1.VolumeMount{readOnly}},
		{Name: "docker", Image: "docker:1", VolumeMounts: []corev1.VolumeMount{grant}},
		{Name: "plain", Image: "plain:1"},
	}
	template.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:1"}}
	profile := compose.Profile{Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "1Gi", StorageClass: "fast"}}.WithDefaults()
	id := mutation.Identity()
	id.Name = "kandev-1"
	out, err := compose.Compose(template, profile, id)
	if err != nil {
		t.Fatal(err)
	}
	compose.SetNonce(out.Pod, nonce)
	compose.SetNonce(out.Claim, nonce)
	return out
}

// lines prints a whole report, a line an entry.
func lines(r admission.Report) []string {
	var out []string
	for _, g := range r.Grants {
		out = append(out, fmt.Sprintf("grant %s: %s, %s: %s", g.Container, g.Requested, g.Admitted, g.Verdict))
	}
	for _, v := range r.Violations {
		out = append(out, fmt.Sprintf("%s: %s: %q, %q", v.Rule, v.Path, v.Requested, v.Admitted))
	}
	for _, f := range r.Escalations {
		out = append(out, fmt.Sprintf("escalation %s: %s", f.Rule, f.Path))
	}
	for _, c := range r.Accepted {
		out = append(out, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	return out
}

// asRequested is the grant table of a Pod whose grants were left alone.
var asRequested = []string{"grant docker: rw, rw: same", "grant tools: ro, ro: same"}

// containerNamed finds an ordinary container.
func containerNamed(p *corev1.Pod, name string) *corev1.Container {
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	return &p.Spec.Containers[i]
}

type podCase struct {
	name    string
	phase   admission.Phase
	change  func(p *corev1.Pod)
	want    []string // the whole report; the grants as requested where none is listed
	warning func(*corev1.Pod) ([]finding.Finding, error)
}

func TestComparePod(t *testing.T) {
	for _, group := range [][]podCase{grantCases, metadataCases, specCases, containerCases, accessCases, acceptedCases} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				requested := objects(t).Pod
				admitted := requested.DeepCopy()
				c.change(admitted)
				r, err := admission.ComparePod(requested, admitted, admission.Options{Phase: c.phase, Warnings: c.warning})
				if err != nil {
					t.Fatal(err)
				}
				want := c.want
				if len(want) == 0 || !strings.HasPrefix(want[0], "grant ") {
					want = append(slices.Clone(asRequested), want...)
				}
				if diff := cmp.Diff(want, lines(r)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// Contract: grants are compared by container name and whole mount shape, in both directions, never by
// position.
var grantCases = []podCase{
	{name: "unchanged", change: func(*corev1.Pod) {}},
	{name: "other positions", change: func(p *corev1.Pod) { slices.Reverse(p.Spec.Containers) }},
	{
		name:   "an added grant",
		change: func(p *corev1.Pod) { grantTo(containerNamed(p, "plain"), compose.WorkspacePath) },
		want: []string{
			"grant docker: rw, rw: same", "grant plain: none, rw: added", "grant tools: ro, ro: same",
			`admitted-grant-added: spec.containers[plain].volumeMounts[/workspace]: "", "{\"name\":\"kandev-workspace\",\"mountPath\":\"/workspace\"}"`,
		},
	},
	{
		name:   "a grant for an added container",
		change: func(p *corev1.Pod) { p.Spec.Containers = slices.Insert(p.Spec.Containers, 0, sidecar("/src")) },
		want: []string{
			"grant docker: rw, rw: same", "grant sidecar: none, invalid: added", "grant tools: ro, ro: same",
			`admitted-grant-added: spec.containers[sidecar].volumeMounts[/src]: "", "{\"name\":\"kandev-workspace\",\"mountPath\":\"/src\"}"`,
			"added spec.containers[sidecar]",
		},
	},
	{
		name:   "a removed grant",
		change: func(p *corev1.Pod) { containerNamed(p, "tools").VolumeMounts = nil },
		want: []string{
			"grant docker: rw, rw: same", "grant tools: ro, none: removed",
			`admitted-grant-removed: spec.containers[tools].volumeMounts[/workspace]: "{\"name\":\"kandev-workspace\",\"readOnly\":true,\"mountPath\":\"/workspace\"}", ""`,
		},
	},
	{
		name: "a grant twice",
		change: func(p *corev1.Pod) {
			c := containerNamed(p, "tools")
			c.VolumeMounts = append([]corev1.VolumeMount{{Name: compose.WorkspaceVolume, MountPath: "/again"}}, c.VolumeMounts...)
		},
		want: []string{
			"grant docker: rw, rw: same", "grant tools: ro, invalid: duplicated",
			`workspace-grant-duplicate: spec.containers[tools].volumeMounts[/again]: "", "{\"name\":\"kandev-workspace\",\"mountPath\":\"/again\"}"`,
		},
	},
	{
		name: "a moved grant",
		change: func(p *corev1.Pod) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, *containerNamed(p, "tools"))
			p.Spec.Containers = slices.DeleteFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == "tools" })
		},
		want: []string{
			"grant docker: rw, rw: same", "grant tools: ro, invalid: moved",
			`admitted-grant-removed: spec.containers[tools]: "read-only", ""`,
			`workspace-grant-recipient: spec.initContainers[tools].volumeMounts[/workspace]: "", "{\"name\":\"kandev-workspace\",\"readOnly\":true,\"mountPath\":\"/workspace\"}"`,
			"added spec.initContainers[tools]",
		},
	},
	{
		name:   "a renamed recipient",
		change: func(p *corev1.Pod) { containerNamed(p, "docker").Name = "dind" },
		want: []string{
			"grant dind: none, rw: added", "grant docker: rw, none: removed", "grant tools: ro, ro: same",
			`admitted-grant-added: spec.containers[dind].volumeMounts[/workspace]: "", "{\"name\":\"kandev-workspace\",\"mountPath\":\"/workspace\"}"`,
			`admitted-grant-removed: spec.containers[docker]: "read-write", ""`,
			"added spec.containers[dind]",
		},
	},
	{
		name:   "a changed mode",
		change: func(p *corev1.Pod) { containerNamed(p, "tools").VolumeMounts[0].ReadOnly = false },
		want: []string{
			"grant docker: rw, rw: same", "grant tools: ro, rw: changed",
			`admitted-grant-mode: spec.containers[tools].volumeMounts[/workspace].readOnly: "true", "false"`,
		},
	},
	{
		name: "another shape",
		change: func(p *corev1.Pod) {
			m := &containerNamed(p, "docker").VolumeMounts[0]
			m.SubPath, m.MountPath = "src", "/src"
		},
		want: []string{
			"grant docker: rw, invalid: changed", "grant tools: ro, ro: same",
			`workspace-grant-shape: spec.containers[docker].volumeMounts[/src].mountPath: "/workspace", "/src"`,
			`workspace-grant-shape: spec.containers[docker].volumeMounts[/src].subPath: "", "src"`,
		},
	},
	{
		name: "an overlapping mount",
		change: func(p *corev1.Pod) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "cache"})
			c := containerNamed(p, "docker")
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "cache", MountPath: "/workspace/.cache"})
		},
		want: []string{
			"grant docker: rw, invalid: changed", "grant tools: ro, ro: same",
			`workspace-grant-overlap: spec.containers[docker].volumeMounts[/workspace/.cache]: "", "{\"name\":\"cache\",\"mountPath\":\"/workspace/.cache\"}"`,
			"added spec.volumes[cache]",
		},
	},
	{
		name: "neutral defaults of a mount",
		change: func(p *corev1.Pod) {
			m := &containerNamed(p, "docker").VolumeMounts[0]
			m.MountPropagation, m.RecursiveReadOnly = new(corev1.MountPropagationNone), new(corev1.RecursiveReadOnlyDisabled)
		},
	},
	{
		name: "a duplicate container name",
		change: func(p *corev1.Pod) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "plain", Image: "other:1"})
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "tools", Image: "other:1"})
		},
		want: []string{
			"grant docker: rw, rw: same", "grant tools: ro, ro: same",
			`admitted-container-duplicate: spec.containers[plain]: "", "plain:1"`,
			`admitted-container-duplicate: spec.containers[tools#2]: "", "other:1"`,
			`admitted-grant-removed: spec.containers[tools#2].volumeMounts[/workspace]: "{\"name\":\"kandev-workspace\",\"readOnly\":true,\"mountPath\":\"/workspace\"}", ""`,
			"added spec.initContainers[plain]",
		},
	},
}

func grantTo(c *corev1.Container, path string) {
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: compose.WorkspaceVolume, MountPath: path})
}

func sidecar(path string) corev1.Container {
	c := corev1.Container{Name: "sidecar", Image: "sidecar:1"}
	grantTo(&c, path)
	return c
}

// Contract: metadata, labels both ways, annotations under kandev.ai/ both ways, the nonce exactly, no
// owner reference, no finalizer, no deletionTimestamp at create.
var metadataCases = []podCase{
	{name: "renamed", change: func(p *corev1.Pod) { p.Name = "kandev-2" }, want: []string{`owned-metadata: metadata.name: "kandev-1", "kandev-2"`}},
	{name: "another namespace", change: func(p *corev1.Pod) { p.Namespace = "x" }, want: []string{`owned-metadata: metadata.namespace: "agents", "x"`}},
	{name: "generateName", change: func(p *corev1.Pod) { p.GenerateName = "k-" }, want: []string{`owned-metadata: metadata.generateName: "", "k-"`}},
	{
		name: "labels",
		change: func(p *corev1.Pod) {
			p.Labels = map[string]string{
				"team": "b", "added": "x", "kandev.ai/extra": "", compose.LabelName: "other", compose.LabelComponent: compose.LabelComponentValue,
				compose.LabelManagedBy: compose.LabelManagedByValue, compose.LabelInstance: "instance-1", compose.LabelExecutorID: "exec-1",
				compose.LabelProfileID: "profile-1", compose.LabelInstanceID: "instance-1", compose.LabelTaskID: "task-1", compose.LabelSessionID: "session-1",
			}
		},
		want: []string{
			`reserved-metadata: metadata.labels[app.kubernetes.io/name]: "kandev-agent", "other"`,
			`reserved-metadata: metadata.labels[kandev.ai/environment-id]: "env-1", ""`,
			`reserved-metadata: metadata.labels[kandev.ai/extra]: "", ""`,
			`admitted-label: metadata.labels[team]: "a", "b"`,
			"added metadata.labels[added]",
		},
	},
	{
		name: "annotations",
		change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{"kandev.ai/trusted": "yes", "sidecar.istio.io/status": "{}", "app.kubernetes.io/name": "x"}
		},
		want: []string{
			fmt.Sprintf(`admitted-nonce: metadata.annotations[kandev.ai/create-nonce]: %q, ""`, nonce),
			`reserved-metadata: metadata.annotations[kandev.ai/trusted]: "", "yes"`,
			"added metadata.annotations[app.kubernetes.io/name]",
			"added metadata.annotations[sidecar.istio.io/status]",
		},
	},
	{name: "another nonce", change: func(p *corev1.Pod) { compose.SetNonce(p, strings.ToUpper(nonce)) }, want: []string{
		fmt.Sprintf(`admitted-nonce: metadata.annotations[kandev.ai/create-nonce]: %q, %q`, nonce, strings.ToUpper(nonce)),
	}},
	{
		name: "owner and finalizer",
		change: func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "j", UID: "1"}}
			p.Finalizers = []string{"kubernetes.io/pvc-protection"}
		},
		want: []string{
			`owned-metadata: metadata.finalizers: "", "kubernetes.io/pvc-protection"`,
			`owned-metadata: metadata.ownerReferences: "", "Job/j"`,
		},
	},
	{name: "terminating at create", change: terminate, want: []string{
		`owned-metadata: metadata.deletionGracePeriodSeconds: "", "30"`,
		`owned-metadata: metadata.deletionTimestamp: "", "2026-01-02T03:04:05Z"`,
	}},
	{name: "terminating while a create is settled", phase: admission.Reconcile, change: terminate, want: []string{
		`owned-metadata: metadata.deletionGracePeriodSeconds: "", "30"`,
		`owned-metadata: metadata.deletionTimestamp: "", "2026-01-02T03:04:05Z"`,
	}},
	{name: "terminating later", phase: admission.Later, change: terminate, want: []string{
		"added metadata.deletionGracePeriodSeconds", "added metadata.deletionTimestamp",
	}},
	{name: "what the server sets", change: func(p *corev1.Pod) {
		p.UID, p.ResourceVersion, p.Generation, p.CreationTimestamp = "u", "1", 1, metav1.Now()
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kandev"}}
		p.Status.Phase, p.TypeMeta = corev1.PodPending, metav1.TypeMeta{}
	}},
}

func terminate(p *corev1.Pod) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, new(int64(30))
}

// Contract: scheduling keys, no conflicting platform affinity, owned volumes with their exact sources.
var specCases = []podCase{
	{
		name: "scheduling keys",
		change: func(p *corev1.Pod) {
			p.Spec.RestartPolicy, p.Spec.OS, p.Spec.NodeName = corev1.RestartPolicyNever, nil, "node-1"
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "arm64", "pool": "a"}
			p.Spec.AutomountServiceAccountToken = nil
		},
		want: []string{
			`admitted-token-automount: spec.automountServiceAccountToken: "false", ""`,
			`owned-node-name: spec.nodeName: "", "node-1"`,
			`owned-node-selector: spec.nodeSelector[kubernetes.io/arch]: "amd64", "arm64"`,
			`owned-node-selector: spec.nodeSelector[kubernetes.io/os]: "linux", ""`,
			`owned-os: spec.os.name: "linux", ""`,
			`owned-restart-policy: spec.restartPolicy: "Always", "Never"`,
			"added spec.nodeSelector[pool]",
		},
	},
	{name: "scheduled by a GET that settles a create", phase: admission.Reconcile, change: func(p *corev1.Pod) { p.Spec.NodeName = "n" }, want: []string{"added spec.nodeName"}},
	{name: "scheduled later", phase: admission.Later, change: func(p *corev1.Pod) { p.Spec.NodeName = "n" }, want: []string{"added spec.nodeName"}},
	{name: "agreeing affinity", change: require(
		corev1.NodeSelectorRequirement{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64"}},
		corev1.NodeSelectorRequirement{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpExists},
		corev1.NodeSelectorRequirement{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"windows"}},
	), want: []string{"added spec.affinity"}},
	{name: "conflicting affinity", change: require(
		corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpExists},
		corev1.NodeSelectorRequirement{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpGt, Values: []string{"1"}},
	), want: []string{
		`owned-node-affinity: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]: "", "kubernetes.io/arch Gt [1]"`,
	}},
	{name: "platform as a field", change: func(p *corev1.Pod) {
		require()(p)
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields = []corev1.NodeSelectorRequirement{
			{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
		}
	}, want: []string{
		`owned-node-affinity: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]: "", "kubernetes.io/os In [linux]"`,
	}},
	{
		name: "owned volumes",
		change: func(p *corev1.Pod) {
			v := p.Spec.Volumes
			v[0].EmptyDir, v[0].HostPath = nil, &corev1.HostPathVolumeSource{Path: "/srv"}
			v[1].EmptyDir = &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Mi"))}
			v[2].PersistentVolumeClaim.ClaimName = "other"
		},
		want: []string{
			`owned-volume: spec.volumes[kandev-auth].emptyDir.medium: "Memory", ""`,
			`owned-volume: spec.volumes[kandev-auth].emptyDir.sizeLimit: "", "1Mi"`,
			`owned-volume: spec.volumes[kandev-runtime].emptyDir: "{}", ""`,
			`owned-volume: spec.volumes[kandev-runtime].hostPath: "", "{\"path\":\"/srv\",\"type\":\"\"}"`,
			`owned-volume: spec.volumes[kandev-workspace].persistentVolumeClaim.claimName: "kandev-1-workspace", "other"`,
		},
	},
	{name: "a missing volume", change: func(p *corev1.Pod) { p.Spec.Volumes = p.Spec.Volumes[:2] }, want: []string{
		`owned-volume: spec.volumes[kandev-workspace]: "{\"name\":\"kandev-workspace\",\"persistentVolumeClaim\":{\"claimName\":\"kandev-1-workspace\"}}", ""`,
	}},
}

// require adds a required node-selector term.
func require(requirements ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}},
		}}}
	}
}

// Contract: command, args, workingDir, control port, owned mounts; the main container exactly once.
var containerCases = []podCase{
	{
		name: "what the main container starts",
		change: func(p *corev1.Pod) {
			c := containerNamed(p, "kandev-agent")
			c.Command[0], c.Args, c.WorkingDir = "/bin/bash", []string{"x"}, "/"
			c.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
		},
		want: []string{
			`owned-entrypoint: spec.containers[kandev-agent].args: "", "[\"x\"]"`,
			`owned-entrypoint: spec.containers[kandev-agent].command: "[0] /bin/sh", "[0] /bin/bash"`,
			`owned-restart-policy: spec.containers[kandev-agent].restartPolicy: "", "Never"`,
			`owned-entrypoint: spec.containers[kandev-agent].workingDir: "/workspace", "/"`,
		},
	},
	{
		name: "the control port",
		change: func(p *corev1.Pod) {
			containerNamed(p, "kandev-agent").Ports[0] = corev1.ContainerPort{ContainerPort: 8765, HostPort: 1}
		},
		want: []string{
			`control-port: spec.containers[kandev-agent].ports[kandev-agentctl].hostPort: "", "1"`,
			`control-port: spec.containers[kandev-agent].ports[kandev-agentctl].name: "kandev-agentctl", ""`,
		},
	},
	{name: "no control port", change: func(p *corev1.Pod) { containerNamed(p, "kandev-agent").Ports = nil }, want: []string{
		`control-port: spec.containers[kandev-agent].ports[kandev-agentctl]: "{\"name\":\"kandev-agentctl\",\"containerPort\":8765,\"protocol\":\"TCP\"}", ""`,
	}},
	{
		name: "owned mounts",
		change: func(p *corev1.Pod) {
			m := containerNamed(p, "kandev-agent").VolumeMounts
			m[0].ReadOnly, m[1].MountPath, m[2].SubPath = true, "/run/kandev2", "x"
		},
		want: []string{
			`owned-volume-mount: spec.containers[kandev-agent].volumeMounts[/opt/kandev].readOnly: "false", "true"`,
			`owned-volume-mount: spec.containers[kandev-agent].volumeMounts[/run/kandev2].mountPath: "/run/kandev", "/run/kandev2"`,
			`owned-volume-mount: spec.containers[kandev-agent].volumeMounts[/workspace].subPath: "", "x"`,
		},
	},
	{
		name: "the main container as an init container",
		change: func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "kandev-agent", Image: "x"}}
			p.Spec.Containers = p.Spec.Containers[1:]
		},
		want: []string{
			`main-container-missing: spec.containers[kandev-agent]: "kandev-agent", ""`,
			"added spec.initContainers[kandev-agent]", "removed spec.initContainers[setup]",
		},
	},
	{
		name:   "the main container twice",
		change: func(p *corev1.Pod) { p.Spec.InitContainers[0].Name = "kandev-agent" },
		want: []string{
			`main-container-duplicate: spec.containers[kandev-agent]: "", "agent:1"`,
			"added spec.initContainers[kandev-agent]", "removed spec.initContainers[setup]",
		},
	},
}

// Contract: reserved access may not be added by any route.
var accessCases = []podCase{
	{
		name: "owned volumes and paths in other containers",
		change: func(p *corev1.Pod) {
			c := containerNamed(p, "plain")
			c.VolumeMounts = []corev1.VolumeMount{{Name: compose.AuthVolume, MountPath: "/a"}, {Name: "x", MountPath: "opt/kandev/"}}
			c.VolumeDevices = []corev1.VolumeDevice{{Name: compose.RuntimeVolume, DevicePath: "/dev/x"}, {Name: "x", DevicePath: "/workspace/d"}}
		},
		want: []string{
			`owned-volume-mount: spec.containers[plain].volumeDevices[/dev/x].name: "", "kandev-runtime"`,
			`owned-path: spec.containers[plain].volumeDevices[/workspace/d].devicePath: "", "/workspace/d"`,
			`owned-volume-mount: spec.containers[plain].volumeMounts[/a]: "", "{\"name\":\"kandev-auth\",\"mountPath\":\"/a\"}"`,
			`owned-path: spec.containers[plain].volumeMounts[opt/kandev/]: "", "{\"name\":\"x\",\"mountPath\":\"opt/kandev/\"}"`,
		},
	},
	{name: "an alias of the claim", change: func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "alias", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "kandev-1-workspace", ReadOnly: true},
		}})
	}, want: []string{`owned-claim: spec.volumes[alias].persistentVolumeClaim.claimName: "", "kandev-1-workspace"`}},
	{name: "a volume with the claim's name", change: func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "workspace", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
	}, want: []string{`owned-claim: spec.volumes[workspace].ephemeral: "", "kandev-1-workspace"`}},
	{name: "shared processes", change: func(p *corev1.Pod) { p.Spec.ShareProcessNamespace, p.Spec.HostPID = new(true), true }, want: []string{
		`admitted-process-namespace: spec.hostPID: "false", "true"`,
		`admitted-process-namespace: spec.shareProcessNamespace: "", "true"`,
	}},
	{name: "processes said not to be shared", change: func(p *corev1.Pod) { p.Spec.ShareProcessNamespace = new(false) }, want: []string{
		"added spec.shareProcessNamespace",
	}},
	{
		name: "reserved environment",
		change: func(p *corev1.Pod) {
			containerNamed(p, "kandev-agent").Env = []corev1.EnvVar{{Name: "HOME", Value: "/tmp"}, {Name: "HOMES"}}
			p.Spec.InitContainers[0].EnvFrom = []corev1.EnvFromSource{{}, {Prefix: "CFG_"}}
			containerNamed(p, "plain").Env = []corev1.EnvVar{{Name: "KANDEV_X", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			}}}
		},
		want: []string{
			`reserved-env: spec.containers[kandev-agent].env[HOME]: "", "/tmp"`,
			`reserved-env: spec.containers[plain].env[KANDEV_X]: "", "{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.name\"}}"`,
			`reserved-env-from: spec.initContainers[setup].envFrom[]: "", "{}"`,
			"added spec.containers[kandev-agent].env[HOMES]",
			"added spec.initContainers[setup].envFrom[CFG_]",
		},
	},
	{
		name:   "the control port elsewhere",
		change: func(p *corev1.Pod) { containerNamed(p, "plain").Ports = []corev1.ContainerPort{{ContainerPort: 8765}} },
		want:   []string{`control-port: spec.containers[plain].ports[8765/TCP]: "", "{\"containerPort\":8765,\"protocol\":\"TCP\"}"`},
	},
	{
		name: "mounts above owned paths",
		change: func(p *corev1.Pod) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "x"})
			for _, m := range []struct{ container, path string }{{"kandev-agent", "/var/run"}, {"tools", "/opt"}, {"docker", "/"}, {"plain", "/"}} {
				c := containerNamed(p, m.container)
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "x", MountPath: m.path})
			}
		},
		want: []string{
			"grant docker: rw, invalid: changed", "grant tools: ro, ro: same",
			`workspace-grant-overlap: spec.containers[docker].volumeMounts[/]: "", "{\"name\":\"x\",\"mountPath\":\"/\"}"`,
			`owned-path-ancestor: spec.containers[kandev-agent].volumeMounts[/var/run]: "", "{\"name\":\"x\",\"mountPath\":\"/var/run\"}"`,
			`owned-path-ancestor: spec.containers[tools].volumeMounts[/opt]: "", "{\"name\":\"x\",\"mountPath\":\"/opt\"}"`,
			"added spec.containers[plain].volumeMounts[/]", "added spec.volumes[x]",
		},
	},
	{
		name: "a termination message from an owned path",
		change: func(p *corev1.Pod) {
			containerNamed(p, "kandev-agent").TerminationMessagePath = "/var/run/kandev/auth.env"
			containerNamed(p, "plain").TerminationMessagePath = "/tmp/log"
		},
		want: []string{
			`owned-path: spec.containers[kandev-agent].terminationMessagePath: "/dev/termination-log", "/var/run/kandev/auth.env"`,
			"changed spec.containers[plain].terminationMessagePath",
		},
	},
	{name: "a debug container", phase: admission.Later, change: debug(""), want: []string{"added spec.ephemeralContainers[debug]"}},
	{name: "a debug container at create", change: debug(""), want: []string{
		`ephemeral-containers: spec.ephemeralContainers[debug]: "", "busybox"`,
	}},
	{name: "a debug container of a companion", phase: admission.Later, change: debug("plain"), want: []string{"added spec.ephemeralContainers[debug]"}},
	{name: "a debug container of a grant's recipient", phase: admission.Later, change: debug("docker"), want: []string{
		`admitted-process-namespace: spec.ephemeralContainers[debug].targetContainerName: "", "docker"`,
		"added spec.ephemeralContainers[debug]",
	}},
	{name: "host directories", change: func(p *corev1.Pod) {
		for i, path := range []string{"/var/lib/kubelet/pods/1/volumes", "/var", "/proc/1", "/var/lib/kubelet-x", "/run/datadog"} {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("host-%d", i), VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: path},
			}})
		}
	}, want: []string{
		`admitted-host-volumes: spec.volumes[host-0].hostPath.path: "", "/var/lib/kubelet/pods/1/volumes"`,
		`admitted-host-volumes: spec.volumes[host-1].hostPath.path: "", "/var"`,
		`admitted-host-volumes: spec.volumes[host-2].hostPath.path: "", "/proc/1"`,
		"added spec.volumes[host-3]", "added spec.volumes[host-4]",
	}},
}

func debug(target string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}, TargetContainerName: target,
		}}
	}
}

// Contract: everything else that admission adds is accepted and listed; what raises a privilege is listed
// as such.
var acceptedCases = []podCase{
	{
		name: "webhooks",
		change: func(p *corev1.Pod) {
			p.Spec.Containers = slices.Insert(p.Spec.Containers, 0, corev1.Container{Name: "istio-proxy", Image: "proxy:1"})
			p.Spec.InitContainers = slices.Insert(p.Spec.InitContainers, 0, corev1.Container{Name: "istio-init", Image: "proxy:1"})
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
			p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
			c := containerNamed(p, "plain")
			c.Image = "mirror/plain:1"
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			c.Lifecycle = &corev1.Lifecycle{}
		},
		want: []string{
			"added spec.containers[istio-proxy]", "changed spec.containers[plain].image", "added spec.containers[plain].lifecycle",
			"added spec.containers[plain].resources.limits[cpu]", "added spec.containers[plain].resources.requests[cpu]",
			"added spec.initContainers[istio-init]", "added spec.schedulingGates[kueue.x-k8s.io/admission]", "added spec.tolerations[gpu:NoSchedule]",
		},
	},
	{
		name: "init containers in another order",
		change: func(p *corev1.Pod) {
			p.Spec.InitContainers = slices.Insert(p.Spec.InitContainers, 0, corev1.Container{Name: "first", Image: "x:1"})
		},
		want: []string{"added spec.initContainers[first]"},
	},
	{
		name: "escalations",
		change: func(p *corev1.Pod) {
			p.Spec.Containers = slices.Insert(p.Spec.Containers, 0, corev1.Container{
				Name: "proxy", Image: "proxy:1", SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			})
		},
		warning: privileged,
		want:    []string{"escalation privileged: spec.containers[proxy].securityContext.privileged", "added spec.containers[proxy]"},
	},
}

// privileged stands for a policy: it finds privileged containers, and the image of tools.
func privileged(p *corev1.Pod) ([]finding.Finding, error) {
	var out []finding.Finding
	for i, c := range p.Spec.Containers {
		if c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged {
			out = append(out, finding.Finding{Rule: "privileged", Container: c.Name, Path: fmt.Sprintf("template.spec.containers[%d].securityContext.privileged", i)})
		}
		if c.Name == "tools" {
			out = append(out, finding.Finding{Rule: "image", Container: c.Name, Path: fmt.Sprintf("template.spec.containers[%d].image", i)})
		}
	}
	return out, nil
}

func TestEmptyNamespaceIsNotStated(t *testing.T) {
	requested := objects(t).Pod
	requested.Namespace = ""
	admitted := objects(t).Pod
	if r := comparePod(t, requested, admitted, admission.AtCreate); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestComparePVC(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*corev1.PersistentVolumeClaim)
		want   []string
	}{
		{name: "unchanged", change: func(*corev1.PersistentVolumeClaim) {}},
		{name: "by value and as a set", change: func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1024Mi")}
			c.Spec.AccessModes = append(c.Spec.AccessModes, c.Spec.AccessModes...)
			c.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
			c.Status.Phase = corev1.ClaimPending
		}},
		{name: "what is the server's", change: func(c *corev1.PersistentVolumeClaim) {
			c.Finalizers = []string{"kubernetes.io/pvc-protection"}
			c.Spec.VolumeName = "pv"
			c.Annotations["volume.kubernetes.io/storage-provisioner"] = "x"
		}, want: []string{
			"added metadata.annotations[volume.kubernetes.io/storage-provisioner]", "added metadata.finalizers", "added spec.volumeName",
		}},
		{name: "another finalizer", change: func(c *corev1.PersistentVolumeClaim) {
			c.Finalizers = []string{"kubernetes.io/pvc-protection", "x/y"}
		}, want: []string{`owned-metadata: metadata.finalizers: "", "x/y"`}},
		{name: "spec", change: func(c *corev1.PersistentVolumeClaim) {
			c.Spec = corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, StorageClassName: new("slow"),
				VolumeAttributesClassName: new("gold"), DataSource: &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "x"},
			}
		}, want: []string{
			`admitted-claim: spec.accessModes: "[0] ReadWriteOnce", "[0] ReadWriteMany"`,
			`admitted-claim: spec.dataSource: "", "{\"apiGroup\":null,\"kind\":\"PersistentVolumeClaim\",\"name\":\"x\"}"`,
			`admitted-claim: spec.dataSourceRef: "", "{\"apiGroup\":null,\"kind\":\"PersistentVolumeClaim\",\"name\":\"x\"}"`,
			`admitted-claim: spec.resources.requests[storage]: "1Gi", ""`,
			`admitted-claim: spec.storageClassName: "fast", "slow"`,
			`admitted-claim: spec.volumeAttributesClassName: "", "gold"`,
		}},
		{name: "nonce", change: func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }, want: []string{
			fmt.Sprintf(`admitted-nonce: metadata.annotations[kandev.ai/create-nonce]: %q, ""`, nonce),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requested := objects(t).Claim
			admitted := requested.DeepCopy()
			c.change(admitted)
			r := admission.ComparePVC(requested, admitted, admission.Options{})
			if diff := cmp.Diff(c.want, lines(r)); diff != "" {
				t.Error(diff)
			}
			if r.Grants == nil || r.Violations == nil || r.Escalations == nil || r.Accepted == nil {
				t.Error("a list is nil")
			}
		})
	}
}

// TestDataSourcesMirrorEachOther: the API server fills in whichever of the two is absent.
func TestDataSourcesMirrorEachOther(t *testing.T) {
	local := &corev1.TypedLocalObjectReference{APIGroup: new("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: "s"}
	ref := &corev1.TypedObjectReference{APIGroup: new("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: "s"}
	both := objects(t).Claim
	both.Spec.DataSource, both.Spec.DataSourceRef = local, ref
	half := objects(t).Claim
	half.Spec.DataSource = local
	if r := admission.ComparePVC(half, both, admission.Options{}); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("%+v", r)
	}
	half = objects(t).Claim
	half.Spec.DataSourceRef = ref
	if r := admission.ComparePVC(half, both, admission.Options{}); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("%+v", r)
	}
}
