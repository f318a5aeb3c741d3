package admission_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// creation is one create request: a user, what is another than in the session's Pod, and the verdict.
type creation struct {
	user   string // the executor where empty
	change func(*corev1.Pod)
	want   string
}

// container returns a container of the Pod.
func container(pod *corev1.Pod, name string) *corev1.Container {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	return &pod.Spec.Containers[i]
}

// privilegedCopy is a container like the session's companion.
func privilegedCopy(pod *corev1.Pod, name string) corev1.Container {
	c := *container(pod, "docker-engine").DeepCopy()
	c.Name, c.VolumeMounts = name, nil
	return c
}

// unmarked takes away everything that says that an object is Kandev's.
func unmarked(pod *corev1.Pod) { pod.Labels, pod.Annotations = nil, nil }

// creations are the ways to a privileged container that lead past what the operator allows.
var creations = map[string]creation{
	"as composed": {},
	"with more labels and a sidecar": {change: func(pod *corev1.Pod) {
		pod.Labels["team.example/x"] = "y"
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy", Image: "registry.example/proxy:1"})
	}},
	"without the companion": {change: func(pod *corev1.Pod) { pod.Spec.Containers = pod.Spec.Containers[:1] }},

	"another user":  {user: mallory, want: "kandev-grant: only " + executorUser + " creates objects with Kandev's labels and annotations here, not mallory"},
	"administrator": {user: administrator, want: "kandev-grant: not admin"},
	"another user without labels": {
		user: mallory, change: unmarked, want: "kandev-grant: a container may be privileged in a session of Kandev's only",
	},
	"without labels": {change: unmarked, want: "kandev-grant: a container may be privileged in a session of Kandev's only"},

	"another digest": {
		change: func(pod *corev1.Pod) { container(pod, "docker-engine").Image = otherImage },
		want:   "kandev-grant: not listed as a privileged companion: docker-engine=" + otherImage,
	},
	"a tag": {
		change: func(pod *corev1.Pod) { container(pod, "docker-engine").Image = "registry.example/dind:latest" },
		want:   "kandev-grant: not listed",
	},
	"a tag beside the digest": {
		change: func(pod *corev1.Pod) {
			c := container(pod, "docker-engine")
			c.Image = strings.Replace(c.Image, "@", ":latest@", 1)
		},
		want: "kandev-grant: not listed",
	},
	"another registry": {
		change: func(pod *corev1.Pod) { c := container(pod, "docker-engine"); c.Image = "evil.example/" + c.Image },
		want:   "kandev-grant: not listed",
	},
	"the image in two lines": {
		change: func(pod *corev1.Pod) { c := container(pod, "docker-engine"); c.Image = "x\ndocker-engine=" + c.Image },
		want:   "kandev-grant: not listed",
	},
	"another name": {
		change: func(pod *corev1.Pod) { container(pod, "docker-engine").Name = "builder" },
		want:   "kandev-grant: not listed as a privileged companion: builder=",
	},
	"a second one": {
		change: func(pod *corev1.Pod) {
			pod.Spec.Containers = append(pod.Spec.Containers, privilegedCopy(pod, "second"))
		},
		want: "kandev-grant: not listed as a privileged companion: second=",
	},
	"the agent": {
		change: func(pod *corev1.Pod) {
			container(pod, "kandev-agent").SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		},
		want: "kandev-grant: not listed as a privileged companion: kandev-agent=",
	},
	"an init container in its place": {
		change: func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{privilegedCopy(pod, "docker-engine")}
			pod.Spec.Containers = pod.Spec.Containers[:1]
		},
		want: "kandev-baseline: an init or ephemeral container may not be privileged",
	},
	"a native sidecar in its place": {
		change: func(pod *corev1.Pod) {
			c := privilegedCopy(pod, "docker-engine")
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
			pod.Spec.InitContainers = []corev1.Container{c}
			pod.Spec.Containers = pod.Spec.Containers[:1]
		},
		want: "kandev-baseline: an init or ephemeral container may not be privileged",
	},

	"no nonce":         {change: func(pod *corev1.Pod) { pod.Annotations = nil }, want: "kandev-grant: missing or wrong: " + compose.NonceAnnotation},
	"a short nonce":    {change: nonce(func(n string) string { return n[1:] }), want: "kandev-grant: missing or wrong: " + compose.NonceAnnotation},
	"a long nonce":     {change: nonce(func(n string) string { return n + "0" }), want: "kandev-grant: missing or wrong: " + compose.NonceAnnotation},
	"lines in a nonce": {change: nonce(func(n string) string { return n + "\n" }), want: "kandev-grant: missing or wrong: " + compose.NonceAnnotation},
	"upper case in a nonce": {
		change: nonce(func(n string) string { return "A" + n[1:] }), want: "kandev-grant: missing or wrong: " + compose.NonceAnnotation,
	},
	"another instance": {
		change: func(pod *corev1.Pod) { pod.Labels[compose.LabelInstance] = "another" },
		want:   "kandev-grant: missing or wrong: " + compose.LabelInstance,
	},
}

func nonce(change func(string) string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations[compose.NonceAnnotation] = change(pod.Annotations[compose.NonceAnnotation])
	}
}

// escapes are the privileges that the executor may give to no container, and others to none at all, by what the baseline
// level calls them.
var escapes = map[string]func(*corev1.PodSpec){
	"hostNamespaces: network": func(s *corev1.PodSpec) { s.HostNetwork = true },
	"hostNamespaces: PID":     func(s *corev1.PodSpec) { s.HostPID = true },
	"hostNamespaces: IPC":     func(s *corev1.PodSpec) { s.HostIPC = true },
	"hostPathVolumes": func(s *corev1.PodSpec) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: "root", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
	},
	"hostPorts": func(s *corev1.PodSpec) {
		s.Containers[0].Ports = append(s.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: 80})
	},
	"capabilities_baseline": withContext(func(c *corev1.SecurityContext) {
		c.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}
	}),
	"seccompProfile_baseline": withContext(func(c *corev1.SecurityContext) {
		c.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
	}),
	"appArmorProfile": withContext(func(c *corev1.SecurityContext) {
		c.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	}),
	"seLinuxOptions": withContext(func(c *corev1.SecurityContext) { c.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"} }),
	"sysctls": func(s *corev1.PodSpec) {
		if s.SecurityContext == nil {
			s.SecurityContext = &corev1.PodSecurityContext{}
		}
		s.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.msgmax", Value: "1"}}
	},
	"hostProbesAndHostLifecycle": func(s *corev1.PodSpec) {
		s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)},
		}}
	},
}

// withContext changes what a container asks for.
func withContext(change func(*corev1.SecurityContext)) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		c := &s.Containers[0]
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		change(c.SecurityContext)
	}
}

// TestNamespacePolicyCreate sends what the policy is there to admit and to refuse.
func TestNamespacePolicyCreate(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		w := s.govern(t, "policy-create")
		all := maps.Clone(creations)
		labels := w.docker(t).Pod.Labels
		for key := range labels {
			if !compose.IsReservedKey(key) {
				continue
			}
			all["without "+key] = creation{change: func(pod *corev1.Pod) { delete(pod.Labels, key) }, want: "kandev-grant: " + key}
			all["empty "+key] = creation{change: func(pod *corev1.Pod) { pod.Labels[key] = "" }, want: "kandev-grant: " + key}
		}
		for _, key := range []string{compose.LabelName, compose.LabelComponent, compose.LabelManagedBy} {
			all["another "+key] = creation{change: func(pod *corev1.Pod) { pod.Labels[key] = "x" }, want: "kandev-grant: " + key}
		}
		for name, change := range escapes {
			check, _, _ := strings.Cut(name, ":")
			escape := creation{change: func(pod *corev1.Pod) { change(&pod.Spec) }, want: "kandev-baseline: " + check}
			all[name] = escape
			escape.user, escape.change = mallory, func(pod *corev1.Pod) {
				plainPod(w.name, pod.Name).DeepCopyInto(pod)
				change(&pod.Spec)
			}
			all[name+", of another user"] = escape
		}
		for name, a := range all {
			t.Run(name, func(t *testing.T) {
				pod, user := w.docker(t).Pod, executorUser
				if a.user != "" {
					user = a.user
				}
				if a.change != nil {
					a.change(pod)
				}
				w.verdict(t, w.try(t, user, pod), a.want)
			})
		}
		t.Logf("%s: %d Pods", s.Version(), len(all))
		t.Run("unchanged", w.testUnchanged)
		t.Run("claims", w.testClaims)
		t.Run("others", w.testOthers)
	})
}

// testUnchanged creates the session's objects and demands that admission left them as they were sent.
func (w *governed) testUnchanged(t *testing.T) {
	objects := w.docker(t)
	pod, err := w.clients[executorUser].CoreV1().Pods(w.name).Create(t.Context(), objects.Pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := admission.ComparePod(objects.Pod, pod, admission.Options{Warnings: warnings(t.Context())})
	if err != nil || !r.Compatible || len(r.Escalations) > 0 || len(r.Grants) != 1 || r.Grants[0].Verdict != admission.GrantSame {
		t.Errorf("%v %q", err, lines(r))
	}
	claim, err := w.clients[executorUser].CoreV1().PersistentVolumeClaims(w.name).Create(t.Context(), objects.Claim, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := admission.ComparePVC(objects.Claim, claim, admission.Options{}); !r.Compatible {
		t.Errorf("%q", lines(r))
	}
}

// testClaims sends claims.
func (w *governed) testClaims(t *testing.T) {
	const theirs = "kandev-grant: creates objects with Kandev's labels"
	for name, c := range map[string]struct {
		user   string
		change func(*corev1.PersistentVolumeClaim)
		want   string
	}{
		"the session's":   {executorUser, func(*corev1.PersistentVolumeClaim) {}, ""},
		"of another user": {mallory, func(*corev1.PersistentVolumeClaim) {}, theirs},
		"without the nonce": {
			executorUser, func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }, "kandev-grant: missing or wrong: " + compose.NonceAnnotation,
		},
		"with a nonce alone, of another user": {mallory, func(c *corev1.PersistentVolumeClaim) { c.Labels = nil }, theirs},
		"without a label": {
			executorUser, func(c *corev1.PersistentVolumeClaim) { delete(c.Labels, compose.LabelTaskID) }, "kandev-grant: missing or wrong: " + compose.LabelTaskID,
		},
		"somebody else's": {mallory, func(c *corev1.PersistentVolumeClaim) { c.Labels, c.Annotations = nil, nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			claim := w.docker(t).Claim
			claim.Name = "another"
			c.change(claim)
			w.verdict(t, w.try(t, c.user, claim), c.want)
		})
	}
}

// testOthers sends Pods that are not Kandev's, and those that only look like it.
func (w *governed) testOthers(t *testing.T) {
	const theirs = "kandev-grant: creates objects with Kandev's labels"
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"plain":                     {func(*corev1.Pod) {}, ""},
		"a label of the session's":  {func(p *corev1.Pod) { p.Labels[compose.LabelSessionID] = "x" }, theirs},
		"another label of Kandev's": {func(p *corev1.Pod) { p.Labels["kandev.ai/x"] = "x" }, theirs},
		"managed by Kandev":         {func(p *corev1.Pod) { p.Labels[compose.LabelManagedBy] = compose.LabelManagedByValue }, theirs},
		"managed by Helm":           {func(p *corev1.Pod) { p.Labels[compose.LabelManagedBy] = "Helm" }, ""},
		"a nonce":                   {func(p *corev1.Pod) { compose.SetNonce(p, compose.NewNonce()) }, theirs},
		"an annotation of Kandev's": {func(p *corev1.Pod) { p.Annotations = map[string]string{"kandev.ai/x": ""} }, theirs},
		"the session's workspace": {
			mount(w.docker(t).Claim.Name), "kandev-grant: only a session mounts a session's workspace: " + w.docker(t).Claim.Name,
		},
		"another claim": {mount("team-workspace"), ""},
		"privileged": {
			func(p *corev1.Pod) {
				p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
			},
			"kandev-grant: a container may be privileged in a session of Kandev's only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := plainPod(w.name, "else")
			c.change(pod)
			w.verdict(t, w.try(t, mallory, pod), c.want)
		})
	}
}

// mount has a Pod mount a claim.
func mount(claim string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "w", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
}
