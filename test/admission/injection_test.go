package admission_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// An injection is what a webhook does to a Pod, as data: testdata/webhooks holds one a file. It does nothing a second
// time, as webhooks that may be reinvoked must.
type injection struct {
	// Compatible is the verdict that the comparison must come to.
	Compatible bool `json:"compatible"`

	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	Finalizers   []string          `json:"finalizers"`
	NodeSelector map[string]string `json:"nodeSelector"`

	Tolerations           []corev1.Toleration           `json:"tolerations"`
	SchedulingGates       []corev1.PodSchedulingGate    `json:"schedulingGates"`
	ImagePullSecrets      []corev1.LocalObjectReference `json:"imagePullSecrets"`
	SecurityContext       *corev1.PodSecurityContext    `json:"securityContext"`
	ShareProcessNamespace *bool                         `json:"shareProcessNamespace"`

	Volumes        ends[corev1.Volume]    `json:"volumes"`
	InitContainers ends[corev1.Container] `json:"initContainers"`
	Containers     ends[corev1.Container] `json:"containers"`

	// Main and Each change the main container, and every container.
	Main containerChange `json:"main"`
	Each containerChange `json:"each"`
	// MirrorImages puts a registry before every image.
	MirrorImages string `json:"mirrorImages"`
	// RewriteProbes sends the HTTP probes of every container to a port of the proxy's.
	RewriteProbes int32 `json:"rewriteProbes"`
	// ReplaceArrays sends the lists of containers and of init containers as wholes.
	ReplaceArrays bool `json:"replaceArrays"`
	// Forgets lists fields that the webhook's old API types do not know, and so drop.
	Forgets []string `json:"forgets"`
}

// ends are items that go before and after those of a list.
type ends[T any] struct {
	First []T `json:"first"`
	Last  []T `json:"last"`
}

type containerChange struct {
	Env ends[corev1.EnvVar] `json:"env"`
	// AppendEnv is appended to values that are there.
	AppendEnv    map[string]string    `json:"appendEnv"`
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts"`
	// Resources replace those that are there; the other two only fill in what is open.
	Resources        *corev1.ResourceRequirements `json:"resources"`
	DefaultResources *corev1.ResourceRequirements `json:"defaultResources"`
	SecurityContext  *corev1.SecurityContext      `json:"securityContext"`
}

func readInjection(t *testing.T, name string) *injection {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "webhooks", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var i injection
	if err := yaml.UnmarshalStrict(data, &i); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &i
}

// mutate is the webhook.
func (i *injection) mutate(request *admissionv1.AdmissionRequest) ([]jsonpatch.Operation, error) {
	var containers jsonpatch.Operation
	var initContainers jsonpatch.Operation
	operations, err := objectPatch(func(_ *admissionv1.AdmissionRequest, p *corev1.Pod) {
		i.apply(p)
		containers = jsonpatch.NewOperation("replace", "/spec/containers", p.Spec.Containers)
		initContainers = jsonpatch.NewOperation("add", "/spec/initContainers", p.Spec.InitContainers)
	})(request)
	if err != nil || !i.ReplaceArrays || len(operations) == 0 {
		return operations, err
	}
	operations = slices.DeleteFunc(operations, func(o jsonpatch.Operation) bool {
		return strings.HasPrefix(o.Path, "/spec/containers") || strings.HasPrefix(o.Path, "/spec/initContainers")
	})
	return append(operations, containers, initContainers), nil
}

func (i *injection) apply(p *corev1.Pod) {
	p.Labels, p.Annotations = with(p.Labels, i.Labels), with(p.Annotations, i.Annotations)
	p.Finalizers = around(ends[string]{Last: i.Finalizers}, p.Finalizers, func(s *string) string { return *s })
	s := &p.Spec
	s.NodeSelector = with(s.NodeSelector, i.NodeSelector)
	s.Tolerations = around(ends[corev1.Toleration]{Last: i.Tolerations}, s.Tolerations, func(t *corev1.Toleration) string { return t.Key })
	s.SchedulingGates = around(ends[corev1.PodSchedulingGate]{Last: i.SchedulingGates}, s.SchedulingGates, func(g *corev1.PodSchedulingGate) string { return g.Name })
	s.ImagePullSecrets = around(ends[corev1.LocalObjectReference]{Last: i.ImagePullSecrets}, s.ImagePullSecrets, func(r *corev1.LocalObjectReference) string { return r.Name })
	s.SecurityContext = beneath(i.SecurityContext, s.SecurityContext)
	if i.ShareProcessNamespace != nil {
		s.ShareProcessNamespace = i.ShareProcessNamespace
	}
	s.Volumes = around(i.Volumes, s.Volumes, func(v *corev1.Volume) string { return v.Name })
	i.containers(p)
	name := func(c *corev1.Container) string { return c.Name }
	s.InitContainers = around(i.InitContainers, s.InitContainers, name)
	s.Containers = around(i.Containers, s.Containers, name)
	if slices.Contains(i.Forgets, "hostUsers") {
		s.HostUsers = nil
	}
}

// containers changes the containers that are there.
func (i *injection) containers(p *corev1.Pod) {
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for j := range list {
			c := &list[j]
			if i.injects(c.Name) {
				continue
			}
			i.Each.apply(c)
			if c.Name == "kandev-agent" {
				i.Main.apply(c)
			}
			if mirror := i.MirrorImages; mirror != "" && !strings.HasPrefix(c.Image, mirror) {
				c.Image = mirror + "/" + c.Image
			}
			i.rewriteProbes(c)
			if slices.Contains(i.Forgets, "restartPolicy") {
				c.RestartPolicy = nil
			}
		}
	}
}

// injects reports whether a container is the webhook's own.
func (i *injection) injects(name string) bool {
	return slices.ContainsFunc(slices.Concat(i.InitContainers.First, i.InitContainers.Last, i.Containers.First, i.Containers.Last),
		func(c corev1.Container) bool { return c.Name == name })
}

func (i *injection) rewriteProbes(c *corev1.Container) {
	for kind, probe := range map[string]*corev1.Probe{"livez": c.LivenessProbe, "readyz": c.ReadinessProbe, "startupz": c.StartupProbe} {
		if i.RewriteProbes != 0 && probe != nil && probe.HTTPGet != nil {
			probe.HTTPGet.Path, probe.HTTPGet.Port = "/app-health/"+c.Name+"/"+kind, intstr.FromInt32(i.RewriteProbes)
		}
	}
}

func (x *containerChange) apply(c *corev1.Container) {
	for i := range c.Env {
		if extra := x.AppendEnv[c.Env[i].Name]; extra != "" && !strings.HasSuffix(c.Env[i].Value, extra) {
			c.Env[i].Value += extra
		}
	}
	c.Env = around(x.Env, c.Env, func(e *corev1.EnvVar) string { return e.Name })
	c.VolumeMounts = around(ends[corev1.VolumeMount]{Last: x.VolumeMounts}, c.VolumeMounts, func(m *corev1.VolumeMount) string { return m.MountPath })
	if x.Resources != nil {
		c.Resources = *x.Resources.DeepCopy()
	}
	c.Resources = *beneath(x.DefaultResources, &c.Resources)
	c.SecurityContext = beneath(x.SecurityContext, c.SecurityContext)
}

// beneath fills in what an object leaves open.
func beneath[T any](defaults, object *T) *T {
	if defaults == nil {
		return object
	}
	merged := new(T)
	for _, layer := range []*T{defaults, object} {
		data, err := json.Marshal(layer)
		if err == nil {
			err = json.Unmarshal(data, merged)
		}
		if err != nil {
			panic(err) // an API type has a JSON form
		}
	}
	return merged
}

// around puts items before and after those of a list, unless their names are in it.
func around[T any](add ends[T], list []T, name func(*T) string) []T {
	missing := func(items []T) []T {
		return slices.DeleteFunc(slices.Clone(items), func(item T) bool {
			return slices.ContainsFunc(list, func(there T) bool { return name(&there) == name(&item) })
		})
	}
	first, last := missing(add.First), missing(add.Last)
	if len(first)+len(last) == 0 {
		return list
	}
	return slices.Concat(first, list, last)
}

func with(m, more map[string]string) map[string]string {
	if len(more) == 0 {
		return m
	}
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}
