package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// A defaultCase is one field that the API server writes where it is absent.
type defaultCase struct {
	field string // as in admission.Normalisations
	// bare makes a Pod without the field, in which the API server writes it. Nil is a Pod without anything special.
	bare func(*corev1.Pod)
	// wrote is what the API server writes at the field. Empty for a value that it neither adds nor removes.
	wrote []string
	// other says something else in the same place, which must not count as the default.
	other func(*corev1.Pod)
	// since is the first minor whose API server knows the field with its feature gates at their defaults.
	since string
}

// TestDefaults sends Pods without fields that the API server fills in, and demands that it writes what is expected,
// that the comparison does not even list it, and that another value in the same place is no default.
func TestDefaults(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "defaults")
		for _, c := range slices.Concat(specDefaults, containerDefaults, volumeDefaults) {
			t.Run(c.field, func(t *testing.T) {
				t.Parallel()
				if s.minor < c.since {
					s.demandReported(t, c)
					return
				}
				s.demandDefault(t, c)
			})
		}
	})
}

// TestEveryNormalisationHasCases: none exists without a test against real API servers.
func TestEveryNormalisationHasCases(t *testing.T) {
	var have, want []string
	for _, c := range slices.Concat(specDefaults, containerDefaults, volumeDefaults) {
		have = append(have, c.field)
	}
	for _, n := range admission.Normalisations() {
		want = append(want, n.Field)
	}
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(have)); diff != "" {
		t.Error(diff)
	}
}

func (s *server) demandDefault(t *testing.T, c defaultCase) {
	t.Helper()
	pod := barePod(t, c.bare)
	admitted := s.dryRun(t, pod)
	writes := differences(t, pod, admitted)
	var here []string
	for _, w := range writes {
		if fieldOf(c.field).MatchString(w) {
			here = append(here, w)
		}
		if !isNormalised(w) {
			t.Errorf("the API server writes %s, which is no normalisation", w)
		}
	}
	if len(c.wrote) != 1 || c.wrote[0] != anyValue || len(here) == 0 {
		if diff := cmp.Diff(c.wrote, here); diff != "" {
			t.Errorf("what the API server writes: %s", diff)
		}
	}
	if r := compare(t, pod, admitted); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("the default counts as a difference: %s", text(r))
	}
	if c.other == nil {
		return
	}
	other := barePod(t, c.bare)
	c.other(other)
	if r := compare(t, pod, s.dryRun(t, other)); len(r.Violations)+len(r.Accepted) == 0 {
		t.Error("another value counts as the default")
	}
	if len(c.wrote) == 0 { // the value that means the same as absence
		return
	}
	if r := compare(t, other, s.dryRun(t, other)); !r.Compatible || len(r.Accepted) > 0 {
		t.Errorf("another value is not kept: %s", text(r))
	}
}

// demandReported sends a field that the API server drops, since its feature gate is off: what is lost is listed.
func (s *server) demandReported(t *testing.T, c defaultCase) {
	t.Helper()
	pod := barePod(t, c.bare)
	admitted, err := s.create(t, pod, metav1.FieldValidationIgnore)
	if err != nil {
		t.Logf("%s refuses it: %v", s.Version(), err)
		return
	}
	if r := compare(t, pod, admitted); len(r.Violations)+len(r.Accepted) == 0 {
		t.Error("the field is dropped, and nothing is listed")
	}
}

func barePod(t *testing.T, change func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := composeFrom(t, filepath.Join("..", "..", "testdata", "templates", "minimal.yaml"), compose.EmptyDir, "defaults").Pod
	pod.Spec.SecurityContext, pod.Annotations = nil, nil // the nonce is another one every time
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "x", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	if change != nil {
		change(pod)
	}
	return pod
}

// dryRun returns what the API server makes of a Pod.
func (s *server) dryRun(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	admitted, err := s.create(t, pod, metav1.FieldValidationStrict)
	if err != nil {
		t.Fatal(err)
	}
	return admitted
}

func compare(t *testing.T, requested, admitted *corev1.Pod) admission.Report {
	t.Helper()
	r, err := admission.ComparePod(requested, admitted, admission.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// anyValue stands for a value that is another one every time.
const anyValue = "..."

// differences lists, by path and value, what the JSON of an admitted object has that the request's had not, or had
// with another value. What it lacks is listed with a minus.
func differences(t *testing.T, requested, admitted any) []string {
	t.Helper()
	var out []string
	var walk func(path string, r, a any)
	walk = func(path string, r, a any) {
		if reflect.DeepEqual(r, a) {
			return
		}
		switch x := a.(type) {
		case map[string]any:
			was, _ := r.(map[string]any)
			if len(x) == 0 {
				out = append(out, path+": {}")
			}
			for _, key := range slices.Sorted(maps.Keys(with(asKeys(x), asKeys(was)))) {
				at := path + "." + key
				if strings.HasSuffix(path, "resources.requests") || strings.HasSuffix(path, "resources.limits") || strings.HasSuffix(path, "overhead") {
					at = path + "[" + key + "]"
				}
				walk(strings.TrimPrefix(at, "."), was[key], x[key])
			}
		case []any:
			was, _ := r.([]any)
			for i := range max(len(x), len(was)) {
				var before, after any
				if i < len(was) {
					before = was[i]
				}
				if i < len(x) {
					after = x[i]
				}
				walk(fmt.Sprintf("%s[%d]", path, i), before, after)
			}
		case nil:
			out = append(out, fmt.Sprintf("%s: - %v", path, r))
		default:
			out = append(out, fmt.Sprintf("%s: %v", path, x))
		}
	}
	r, a := jsonOf(t, requested), jsonOf(t, admitted)
	delete(r, "apiVersion") // which a typed client leaves out of what it returns
	delete(r, "kind")
	walk("", r, a)
	return out
}

func asKeys(m map[string]any) map[string]string {
	out := map[string]string{}
	for k := range m {
		out[k] = ""
	}
	return out
}

func jsonOf(t *testing.T, object any) map[string]any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fieldOf matches the paths of a normalisation's field, and of what lies in it.
func fieldOf(field string) *regexp.Regexp {
	pattern := strings.NewReplacer(`\[\*\]`, `\[[^\]]*\]`, `\*`, `[^.\[]*`, `containers\[`, `(?:c|initC|ephemeralC)ontainers\[`).Replace(regexp.QuoteMeta(field))
	return regexp.MustCompile(`^` + pattern + `(?:[.\[:]|$)`)
}

func isNormalised(path string) bool {
	return slices.ContainsFunc(admission.Normalisations(), func(n admission.Normalisation) bool { return fieldOf(n.Field).MatchString(path) })
}

// onMain changes the main container, which is the first.
func onMain(f func(*corev1.Container)) func(*corev1.Pod) {
	return func(p *corev1.Pod) { f(&p.Spec.Containers[0]) }
}

// volume gives a source to the volume of that purpose, which is the last.
func volume(f func(*corev1.VolumeSource)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		v := &p.Spec.Volumes[len(p.Spec.Volumes)-1]
		v.EmptyDir = nil
		f(&v.VolumeSource)
	}
}

var specDefaults = []defaultCase{
	{field: "metadata.uid", wrote: []string{anyValue}},
	{field: "metadata.resourceVersion"}, // none in a dry run: TestServerMetadata
	{field: "metadata.generation", wrote: []string{"metadata.generation: 1"}},
	{field: "metadata.creationTimestamp", wrote: []string{anyValue}},
	{field: "metadata.managedFields", wrote: []string{anyValue}},
	{field: "status", wrote: []string{"status.phase: Pending", "status.qosClass: Burstable"}},
	{field: "spec.dnsPolicy", wrote: []string{"spec.dnsPolicy: ClusterFirst"}, other: func(p *corev1.Pod) { p.Spec.DNSPolicy = corev1.DNSDefault }},
	{
		field: "spec.restartPolicy",
		bare:  func(p *corev1.Pod) { p.Spec.RestartPolicy = "" },
		wrote: []string{"spec.restartPolicy: Always"}, other: func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever },
	},
	{field: "spec.schedulerName", wrote: []string{"spec.schedulerName: default-scheduler"}, other: func(p *corev1.Pod) { p.Spec.SchedulerName = "batch" }},
	{
		field: "spec.terminationGracePeriodSeconds", wrote: []string{"spec.terminationGracePeriodSeconds: 30"},
		other: func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(0)) },
	},
	{
		field: "spec.securityContext", wrote: []string{"spec.securityContext: {}"},
		other: func(p *corev1.Pod) { p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1))} },
	},
	{field: "spec.enableServiceLinks", wrote: []string{"spec.enableServiceLinks: true"}, other: func(p *corev1.Pod) { p.Spec.EnableServiceLinks = new(false) }},
	{field: "spec.serviceAccountName", wrote: []string{"spec.serviceAccountName: default"}, other: func(p *corev1.Pod) { p.Spec.ServiceAccountName = "worker" }},
	{
		field: "spec.serviceAccountName",
		bare:  func(p *corev1.Pod) { p.Spec.DeprecatedServiceAccount = "worker" },
		wrote: []string{"spec.serviceAccountName: worker"}, other: func(p *corev1.Pod) { p.Spec.ServiceAccountName = "default" },
	},
	{field: "spec.serviceAccount", wrote: []string{"spec.serviceAccount: default"}, other: func(p *corev1.Pod) { p.Spec.DeprecatedServiceAccount = "worker" }},
	{field: "spec.priority", wrote: []string{"spec.priority: 0"}}, // with a class: TestPlugins
	{field: "spec.preemptionPolicy", wrote: []string{"spec.preemptionPolicy: PreemptLowerPriority"}},
	{
		field: "spec.tolerations[*]",
		wrote: []string{
			"spec.tolerations[0].effect: NoExecute", "spec.tolerations[0].key: node.kubernetes.io/not-ready",
			"spec.tolerations[0].operator: Exists", "spec.tolerations[0].tolerationSeconds: 300",
			"spec.tolerations[1].effect: NoExecute", "spec.tolerations[1].key: node.kubernetes.io/unreachable",
			"spec.tolerations[1].operator: Exists", "spec.tolerations[1].tolerationSeconds: 300",
		},
		other: func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, TolerationSeconds: new(int64(5)), Effect: corev1.TaintEffectNoExecute}}
		},
	},
	{
		field: "spec.tolerations[*]", // one without a key, or without an effect, tolerates these taints too
		bare: func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, {Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}}
		},
		wrote: []string{
			"spec.tolerations[2].effect: NoExecute", "spec.tolerations[2].key: node.kubernetes.io/unreachable",
			"spec.tolerations[2].operator: Exists", "spec.tolerations[2].tolerationSeconds: 300",
		},
	},
	{
		field: "spec.overhead[*]",
		bare: func(p *corev1.Pod) {
			p.Spec.RuntimeClassName, p.Spec.Overhead = new("rounded"), resources(corev1.ResourceCPU, "64500u")
		},
		wrote: []string{"spec.overhead[cpu]: 65m"},
	},
	{
		field: "spec.resources.*[*]",
		bare: func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: resources(corev1.ResourceCPU, "100500u")}
		},
		wrote: []string{"spec.resources.requests[cpu]: 101m"},
		other: func(p *corev1.Pod) { p.Spec.Resources.Requests = resources(corev1.ResourceCPU, "102m") },
	},
}

var containerDefaults = []defaultCase{
	{
		field: "spec.containers[*].terminationMessagePath", wrote: []string{"spec.containers[0].terminationMessagePath: /dev/termination-log"},
		other: onMain(func(c *corev1.Container) { c.TerminationMessagePath = "/tmp/log" }),
	},
	{
		field: "spec.containers[*].terminationMessagePolicy", wrote: []string{"spec.containers[0].terminationMessagePolicy: File"},
		other: onMain(func(c *corev1.Container) { c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError }),
	},
	pullPolicy("registry.example/agent", "Always"),
	pullPolicy("registry.example:5000/agent", "Always"),
	pullPolicy("registry.example/agent:latest", "Always"),
	pullPolicy("registry.example:5000/agent:1.4", "IfNotPresent"),
	pullPolicy("registry.example/agent@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70", "IfNotPresent"),
	pullPolicy("registry.example/agent:latest@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70", "Always"),
	pullPolicy("registry.example/agent:1.4@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70", "IfNotPresent"),
	pullPolicy("Not An Image", "IfNotPresent"),
	pullPolicy("agent:", "IfNotPresent"),
	pullPolicy("agent@md5:00", "IfNotPresent"),
	pullPolicy("agent:LATEST", "IfNotPresent"),
	pullPolicy("UPPER/agent", "Always"), // a registry
	pullPolicy("Agent:latest", "IfNotPresent"),
	pullPolicy("registry.example/Agent", "IfNotPresent"),
	pullPolicy("agent:latest@sha256:00", "IfNotPresent"),
	{
		field: "spec.containers[*].ports[*].protocol",
		bare:  onMain(func(c *corev1.Container) { c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 8080}) }),
		wrote: []string{"spec.containers[0].ports[1].protocol: TCP"},
		other: onMain(func(c *corev1.Container) { c.Ports[1].Protocol = corev1.ProtocolUDP }),
	},
	{
		field: "spec.containers[*].ports[*].hostPort",
		bare:  func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		wrote: []string{"spec.containers[0].ports[0].hostPort: 8765"},
	},
	{
		field: "spec.containers[*].*Probe.timeoutSeconds", bare: probe, wrote: probeWrites("timeoutSeconds: 1"),
		other: onMain(func(c *corev1.Container) { c.ReadinessProbe.TimeoutSeconds = 2 }),
	},
	{
		field: "spec.containers[*].*Probe.periodSeconds", bare: probe, wrote: probeWrites("periodSeconds: 10"),
		other: onMain(func(c *corev1.Container) { c.StartupProbe.PeriodSeconds = 2 }),
	},
	{
		field: "spec.containers[*].*Probe.successThreshold", bare: probe, wrote: probeWrites("successThreshold: 1"),
		other: onMain(func(c *corev1.Container) { c.ReadinessProbe.SuccessThreshold = 2 }),
	},
	{
		field: "spec.containers[*].*Probe.failureThreshold", bare: probe, wrote: probeWrites("failureThreshold: 3"),
		other: onMain(func(c *corev1.Container) { c.LivenessProbe.FailureThreshold = 2 }),
	},
	{
		field: "spec.containers[*].*Probe.httpGet.path", bare: probe, wrote: probeWrites("httpGet.path: /"),
		other: onMain(func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Path = "/live" }),
	},
	{
		field: "spec.containers[*].*Probe.httpGet.scheme", bare: probe, wrote: probeWrites("httpGet.scheme: HTTP"),
		other: onMain(func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Scheme = corev1.URISchemeHTTPS }),
	},
	{
		field: "spec.containers[*].*Probe.grpc.service",
		bare: onMain(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}}}
		}),
		wrote: []string{"spec.containers[0].livenessProbe.grpc.service: "},
		other: onMain(func(c *corev1.Container) { c.LivenessProbe.GRPC.Service = new("health") }),
	},
	{
		field: "spec.containers[*].lifecycle.*.httpGet.path", bare: hooks, wrote: hookWrites("path: /"),
		other: onMain(func(c *corev1.Container) { c.Lifecycle.PreStop.HTTPGet.Path = "/stop" }),
	},
	{
		field: "spec.containers[*].lifecycle.*.httpGet.scheme", bare: hooks, wrote: hookWrites("scheme: HTTP"),
		other: onMain(func(c *corev1.Container) { c.Lifecycle.PostStart.HTTPGet.Scheme = corev1.URISchemeHTTPS }),
	},
	{
		field: "spec.containers[*].env[*].valueFrom.fieldRef.apiVersion",
		bare: onMain(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
		}),
		wrote: []string{"spec.containers[0].env[0].valueFrom.fieldRef.apiVersion: v1"},
	},
	{
		field: "spec.containers[*].env[*].valueFrom.fileKeyRef.optional", since: "1.35",
		bare: onMain(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "x", Path: "env", Key: "A"}}}}
		}),
		wrote: []string{"spec.containers[0].env[0].valueFrom.fileKeyRef.optional: false"},
		other: onMain(func(c *corev1.Container) { c.Env[0].ValueFrom.FileKeyRef.Optional = new(true) }),
	},
	{
		field: "spec.containers[*].resources.requests[*]",
		bare: onMain(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Limits: resources(corev1.ResourceMemory, "1Gi")}
		}),
		wrote: []string{"spec.containers[0].resources.requests[memory]: 1Gi"},
		other: onMain(func(c *corev1.Container) { c.Resources.Requests = resources(corev1.ResourceMemory, "1Mi") }),
	},
	{
		field: "spec.containers[*].resources.*[*]",
		bare: onMain(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: resources(corev1.ResourceCPU, "0.0001"), Limits: resources(corev1.ResourceCPU, "0.0101")}
		}),
		wrote: []string{"spec.containers[0].resources.limits[cpu]: 11m", "spec.containers[0].resources.requests[cpu]: 1m"},
		other: onMain(func(c *corev1.Container) { c.Resources.Requests = resources(corev1.ResourceCPU, "2m") }),
	},
	{
		field: "spec.containers[*].volumeMounts[*].mountPropagation",
		bare:  mountX(nil),
		other: mountX(func(m *corev1.VolumeMount) { m.MountPropagation = new(corev1.MountPropagationHostToContainer) }),
	},
	{
		field: "spec.containers[*].volumeMounts[*].recursiveReadOnly",
		bare:  mountX(nil),
		other: mountX(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = new(corev1.RecursiveReadOnlyIfPossible) }),
	},
}

// TestNeutralMountValues: the two values that are documented as equal to absence are kept where they are set, and are
// no difference, whoever sets them.
func TestNeutralMountValues(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "defaults")
		without := barePod(t, mountX(nil))
		explicit := barePod(t, mountX(func(m *corev1.VolumeMount) {
			m.MountPropagation, m.RecursiveReadOnly = new(corev1.MountPropagationNone), new(corev1.RecursiveReadOnlyDisabled)
		}))
		admitted := s.dryRun(t, explicit)
		mounts := admitted.Spec.Containers[0].VolumeMounts
		if m := mounts[len(mounts)-1]; m.MountPropagation == nil || m.RecursiveReadOnly == nil {
			t.Errorf("the API server drops them: %+v", m)
		}
		for _, requested := range []*corev1.Pod{without, explicit} {
			if r := compare(t, requested, admitted); !r.Compatible || len(r.Accepted) > 0 {
				t.Error(text(r))
			}
		}
	})
}

// TestServerMetadata: what only an object that was really created has.
func TestServerMetadata(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "defaults")
		pod := barePod(t, func(p *corev1.Pod) { p.Name = "created" })
		admitted, err := s.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if admitted.ResourceVersion == "" || admitted.UID == "" {
			t.Errorf("%+v", admitted.ObjectMeta)
		}
		if r := compare(t, pod, admitted); !r.Compatible || len(r.Accepted) > 0 {
			t.Error(text(r))
		}
	})
}

func pullPolicy(image, policy string) defaultCase {
	return defaultCase{
		field: "spec.containers[*].imagePullPolicy",
		bare:  onMain(func(c *corev1.Container) { c.Image = image }),
		wrote: []string{"spec.containers[0].imagePullPolicy: " + policy},
		other: onMain(func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullNever }),
	}
}

func probe(p *corev1.Pod) {
	c := &p.Spec.Containers[0]
	for _, field := range []**corev1.Probe{&c.LivenessProbe, &c.ReadinessProbe, &c.StartupProbe} {
		*field = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
	}
}

func probeWrites(what string) []string {
	const c = "spec.containers[0]."
	return []string{c + "livenessProbe." + what, c + "readinessProbe." + what, c + "startupProbe." + what}
}

func hooks(p *corev1.Pod) {
	handler := func() *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}
	}
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: handler(), PreStop: handler()}
}

func hookWrites(what string) []string {
	const c = "spec.containers[0].lifecycle."
	return []string{c + "postStart.httpGet." + what, c + "preStop.httpGet." + what}
}

// mountX mounts the volume x read-only, which the modes of a mount need.
func mountX(change func(*corev1.VolumeMount)) func(*corev1.Pod) {
	return onMain(func(c *corev1.Container) {
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "x" })
		m := corev1.VolumeMount{Name: "x", MountPath: "/x", ReadOnly: true}
		if change != nil {
			change(&m)
		}
		c.VolumeMounts = append(c.VolumeMounts, m)
	})
}

// x is the path of the volume of that purpose.
const x = "spec.volumes[3]."

var volumeDefaults = []defaultCase{
	{
		field: "spec.volumes[*].emptyDir", bare: volume(func(*corev1.VolumeSource) {}), wrote: []string{x + "emptyDir: {}"},
		other: volume(func(v *corev1.VolumeSource) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
		}),
	},
	{
		field: "spec.volumes[*].secret.defaultMode",
		bare:  volume(func(v *corev1.VolumeSource) { v.Secret = &corev1.SecretVolumeSource{SecretName: "s"} }),
		wrote: []string{x + "secret.defaultMode: 420"}, other: volume(func(v *corev1.VolumeSource) { v.Secret.DefaultMode = new(int32(0o600)) }),
	},
	{
		field: "spec.volumes[*].configMap.defaultMode",
		bare: volume(func(v *corev1.VolumeSource) {
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}
		}),
		wrote: []string{x + "configMap.defaultMode: 420"}, other: volume(func(v *corev1.VolumeSource) { v.ConfigMap.DefaultMode = new(int32(0o600)) }),
	},
	{
		field: "spec.volumes[*].downwardAPI.defaultMode",
		bare:  volume(func(v *corev1.VolumeSource) { v.DownwardAPI = &corev1.DownwardAPIVolumeSource{Items: items()} }),
		wrote: []string{x + "downwardAPI.defaultMode: 420"}, other: volume(func(v *corev1.VolumeSource) { v.DownwardAPI.DefaultMode = new(int32(0o600)) }),
	},
	{
		field: "spec.volumes[*].downwardAPI.items[*].fieldRef.apiVersion",
		bare:  volume(func(v *corev1.VolumeSource) { v.DownwardAPI = &corev1.DownwardAPIVolumeSource{Items: items()} }),
		wrote: []string{x + "downwardAPI.items[0].fieldRef.apiVersion: v1"},
	},
	{
		field: "spec.volumes[*].projected.defaultMode", bare: volume(projected), wrote: []string{x + "projected.defaultMode: 420"},
		other: volume(func(v *corev1.VolumeSource) { v.Projected.DefaultMode = new(int32(0o600)) }),
	},
	{
		field: "spec.volumes[*].projected.sources[*].downwardAPI.items[*].fieldRef.apiVersion", bare: volume(projected),
		wrote: []string{x + "projected.sources[0].downwardAPI.items[0].fieldRef.apiVersion: v1"},
	},
	{
		field: "spec.volumes[*].projected.sources[*].serviceAccountToken.expirationSeconds", bare: volume(projected),
		wrote: []string{x + "projected.sources[1].serviceAccountToken.expirationSeconds: 3600"},
		other: volume(func(v *corev1.VolumeSource) {
			v.Projected.Sources[1].ServiceAccountToken.ExpirationSeconds = new(int64(7200))
		}),
	},
	{
		field: "spec.volumes[*].hostPath.type",
		bare:  volume(func(v *corev1.VolumeSource) { v.HostPath = &corev1.HostPathVolumeSource{Path: "/srv"} }),
		wrote: []string{x + "hostPath.type: "},
		other: volume(func(v *corev1.VolumeSource) { v.HostPath.Type = new(corev1.HostPathDirectory) }),
	},
	{
		field: "spec.volumes[*].image.pullPolicy", since: "1.35",
		bare:  volume(func(v *corev1.VolumeSource) { v.Image = &corev1.ImageVolumeSource{Reference: "data"} }),
		wrote: []string{x + "image.pullPolicy: Always"},
		other: volume(func(v *corev1.VolumeSource) { v.Image.PullPolicy = corev1.PullNever }),
	},
	{
		field: "spec.volumes[*].image.pullPolicy", since: "1.35",
		bare:  volume(func(v *corev1.VolumeSource) { v.Image = &corev1.ImageVolumeSource{Reference: "data:1"} }),
		wrote: []string{x + "image.pullPolicy: IfNotPresent"},
		other: volume(func(v *corev1.VolumeSource) { v.Image.PullPolicy = corev1.PullAlways }),
	},
	{
		field: "spec.volumes[*].ephemeral.volumeClaimTemplate.spec.volumeMode", bare: volume(ephemeral),
		wrote: []string{x + "ephemeral.volumeClaimTemplate.spec.volumeMode: Filesystem"},
		other: volume(func(v *corev1.VolumeSource) {
			v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode = new(corev1.PersistentVolumeBlock)
		}),
	},
	{
		field: "spec.volumes[*].ephemeral.volumeClaimTemplate.spec.resources.*[*]", bare: volume(ephemeral),
		wrote: []string{x + "ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: 1001m"},
		other: volume(func(v *corev1.VolumeSource) {
			v.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests = resources(corev1.ResourceStorage, "1002m")
		}),
	},
	{
		field: "spec.volumes[*].iscsi.iscsiInterface",
		bare: volume(func(v *corev1.VolumeSource) {
			v.ISCSI = &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2001-04.com.example:storage"}
		}),
		wrote: []string{x + "iscsi.iscsiInterface: default"}, other: volume(func(v *corev1.VolumeSource) { v.ISCSI.ISCSIInterface = "eth1" }),
	},
	{
		field: "spec.volumes[*].rbd.*",
		bare: volume(func(v *corev1.VolumeSource) {
			v.RBD = &corev1.RBDVolumeSource{CephMonitors: []string{"10.0.0.1"}, RBDImage: "image"}
		}),
		wrote: []string{x + "rbd.keyring: /etc/ceph/keyring", x + "rbd.pool: rbd", x + "rbd.user: admin"},
		other: volume(func(v *corev1.VolumeSource) {
			v.RBD.RBDPool, v.RBD.RadosUser, v.RBD.Keyring = "pool", "user", "/keyring"
		}),
	},
	{
		field: "spec.volumes[*].scaleIO.*",
		bare: volume(func(v *corev1.VolumeSource) {
			v.ScaleIO = &corev1.ScaleIOVolumeSource{Gateway: "https://10.0.0.1", System: "s", VolumeName: "v", SecretRef: &corev1.LocalObjectReference{Name: "s"}}
		}),
		wrote: []string{x + "scaleIO.fsType: xfs", x + "scaleIO.storageMode: ThinProvisioned"},
		other: volume(func(v *corev1.VolumeSource) { v.ScaleIO.StorageMode, v.ScaleIO.FSType = "ThickProvisioned", "ext4" }),
	},
	{
		field: "spec.volumes[*].azureDisk.*",
		bare: volume(func(v *corev1.VolumeSource) {
			v.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "https://blob.example/d.vhd"}
		}),
		wrote: []string{x + "azureDisk.cachingMode: ReadWrite", x + "azureDisk.fsType: ext4", x + "azureDisk.kind: Shared", x + "azureDisk.readOnly: false"},
		other: volume(func(v *corev1.VolumeSource) {
			v.AzureDisk.CachingMode, v.AzureDisk.FSType, v.AzureDisk.ReadOnly = new(corev1.AzureDataDiskCachingNone), new("xfs"), new(true)
		}),
	},
}

func items() []corev1.DownwardAPIVolumeFile {
	return []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
}

func projected(v *corev1.VolumeSource) {
	v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: items()}},
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
	}}
}

func ephemeral(v *corev1.VolumeSource) {
	v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1000500u")}},
	}}}
}
