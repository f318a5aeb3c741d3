package executor

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestInspect holds what is said of a Pod against statuses as a kubelet 1.36 with containerd writes them.
func TestInspect(t *testing.T) {
	const main = "kandev-agent"
	type states = []corev1.ContainerStatus
	of := func(name string, state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Image: "registry.example/agent:1", State: state}
	}
	waits := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended := func(code int32, reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
	}
	looping := of(main, waits("CrashLoopBackOff", "back-off 10s restarting failed container"))
	looping.LastTerminationState, looping.RestartCount = ended(80, "Error", "kandev-bootstrap: the image has no sha256sum\n"), 1
	restarted := of(main, runs)
	restarted.LastTerminationState, restarted.RestartCount = ended(137, "OOMKilled", ""), 1
	always := corev1.ContainerRestartPolicyAlways
	retried := func(name string, restarts int32, state corev1.ContainerState) corev1.ContainerStatus {
		s := of(name, state)
		s.LastTerminationState, s.RestartCount = ended(1, "Error", ""), restarts
		return s
	}
	initializing := of(main, waits("PodInitializing", ""))
	for name, c := range map[string]struct {
		status  corev1.PodStatus
		deleted bool
		running bool
		reason  Reason // "" of no fault
		passing bool
		said    string
	}{
		"nothing yet": {},
		"runs":        {status: corev1.PodStatus{ContainerStatuses: states{of(main, runs)}}, running: true},
		"runs beside a companion that does not": {
			status: corev1.PodStatus{ContainerStatuses: states{of("proxy", waits("ImagePullBackOff", "")), of(main, runs)}}, running: true,
		},
		"a companion runs": {status: corev1.PodStatus{ContainerStatuses: states{of("proxy", runs), of(main, waits("ContainerCreating", ""))}}},
		"unschedulable": {
			status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu.",
			}}},
			reason: Unschedulable, passing: true, said: "0/1 nodes are available: 1 Insufficient cpu.",
		},
		"gated": {
			status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated", Message: "Scheduling is blocked due to non-empty scheduling gates",
			}}},
			reason: Unschedulable, passing: true, said: "Scheduling is blocked due to non-empty scheduling gates",
		},
		"first failure to pull": {
			status: corev1.PodStatus{ContainerStatuses: states{of(main, waits("ErrImagePull", "failed to pull and unpack image: not found"))}},
			reason: ImagePull, passing: true, said: "container kandev-agent: failed to pull and unpack image: not found",
		},
		"backs off from pulling": {
			status: corev1.PodStatus{ContainerStatuses: states{of(main, waits("ImagePullBackOff", "Back-off pulling image"))}},
			reason: ImagePull, said: "container kandev-agent: Back-off pulling image",
		},
		"no name of an image": {
			status: corev1.PodStatus{ContainerStatuses: states{of(main, waits("InvalidImageName", ""))}},
			reason: ImagePull, said: "container kandev-agent: InvalidImageName",
		},
		"missing secret": {
			status: corev1.PodStatus{ContainerStatuses: states{of(main, waits("CreateContainerConfigError", `secret "keys" not found`))}},
			reason: ContainerConfig, said: `container kandev-agent: secret "keys" not found`,
		},
		"crash loop": {
			status: corev1.PodStatus{ContainerStatuses: states{looping}},
			reason: Crashed, said: "container kandev-agent ended with status 80: kandev-bootstrap: the image has no sha256sum",
		},
		"runs again": {
			status: corev1.PodStatus{ContainerStatuses: states{restarted}},
			reason: Crashed, said: "container kandev-agent ended with status 137 (OOMKilled)",
		},
		"no shell": {
			status: corev1.PodStatus{ContainerStatuses: states{of(main, ended(128, "StartError", `exec: "/bin/sh": stat /bin/sh: no such file or directory`))}},
			reason: Crashed, said: `container kandev-agent ended with status 128 (StartError): exec: "/bin/sh": stat /bin/sh: no such file or directory`,
		},
		"init container ended well": {status: corev1.PodStatus{InitContainerStatuses: states{of("setup", ended(0, "Completed", ""))}}},
		"init container fails once": {
			status: corev1.PodStatus{InitContainerStatuses: states{of("setup", ended(1, "Error", ""))}, ContainerStatuses: states{initializing}},
			reason: Crashed, passing: true, said: "init container setup ended with status 1",
		},
		"init container is tried again": {
			status: corev1.PodStatus{InitContainerStatuses: states{retried("setup", 1, runs)}, ContainerStatuses: states{initializing}},
		},
		"init container failed once and ended well": {
			status: corev1.PodStatus{InitContainerStatuses: states{retried("setup", 1, ended(0, "Completed", ""))}, ContainerStatuses: states{initializing}},
		},
		"init container fails again": {
			status: corev1.PodStatus{InitContainerStatuses: states{retried("setup", 1, ended(1, "Error", ""))}, ContainerStatuses: states{initializing}},
			reason: Crashed, said: "init container setup ended with status 1",
		},
		"init container loops": {
			status: corev1.PodStatus{
				InitContainerStatuses: states{retried("setup", 1, waits("CrashLoopBackOff", "back-off 10s"))}, ContainerStatuses: states{initializing},
			},
			reason: Crashed, said: "init container setup ended with status 1",
		},
		"init container without a secret": {
			status: corev1.PodStatus{
				InitContainerStatuses: states{of("setup", waits("CreateContainerConfigError", `secret "keys" not found`))}, ContainerStatuses: states{initializing},
			},
			reason: ContainerConfig, said: `init container setup: secret "keys" not found`,
		},
		"sidecar fails": {
			status: corev1.PodStatus{InitContainerStatuses: states{of("sidecar", ended(1, "Error", ""))}, ContainerStatuses: states{initializing}},
			reason: Crashed, passing: true, said: "init container sidecar ended with status 1",
		},
		"sidecar loops": {
			status: corev1.PodStatus{
				InitContainerStatuses: states{retried("sidecar", 3, waits("CrashLoopBackOff", "back-off 40s"))}, ContainerStatuses: states{initializing},
			},
			reason: Crashed, passing: true, said: "init container sidecar ended with status 1",
		},
		"sidecar failed and runs": {
			status: corev1.PodStatus{InitContainerStatuses: states{retried("sidecar", 1, runs)}, ContainerStatuses: states{initializing}},
		},
		"runs beside a sidecar that loops": {
			status: corev1.PodStatus{
				InitContainerStatuses: states{retried("sidecar", 3, waits("CrashLoopBackOff", "back-off 40s"))}, ContainerStatuses: states{of(main, runs)},
			},
			running: true,
		},
		"runs beside a sidecar whose image is gone": {
			status: corev1.PodStatus{
				InitContainerStatuses: states{of("sidecar", waits("ImagePullBackOff", ""))}, ContainerStatuses: states{of(main, runs)},
			},
			running: true,
		},
		"evicted": {
			status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."},
			reason: Evicted, said: "Evicted: The node was low on resource: memory.",
		},
		"deadline": {
			status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded"},
			reason: Evicted, said: "DeadlineExceeded",
		},
		"deleted": {deleted: true, status: corev1.PodStatus{ContainerStatuses: states{of(main, runs)}}, reason: Vanished, said: "the Pod is being deleted, by someone else"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: c.status}
			pod.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "sidecar", RestartPolicy: &always}}
			if c.deleted {
				pod.DeletionTimestamp = &metav1.Time{}
			}
			running, fault := inspect(pod, main)
			if fault == nil {
				fault = &podFault{err: &Error{}}
			}
			if running != c.running || fault.err.Reason != c.reason || fault.passing != c.passing || fault.err.Message != c.said {
				t.Errorf("running %v, %+v %+v", running, fault, fault.err)
			}
		})
	}
}

// TestRestarting holds the end of an agent that was started before against what it means: nothing once it runs again.
func TestRestarting(t *testing.T) {
	const main = "kandev-agent"
	crash := final(Crashed, "container kandev-agent ended with status 1")
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, c := range map[string]struct {
		statuses []corev1.ContainerStatus
		running  bool
	}{
		"runs again":          {[]corev1.ContainerStatus{{Name: "proxy", State: waiting}, {Name: main, State: running}}, true},
		"waits for its start": {[]corev1.ContainerStatus{{Name: "proxy", State: running}, {Name: main, State: waiting}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: c.statuses}}
			running, fault := restarting(pod, main, crash)
			if running != c.running || (fault == nil) != c.running || fault != nil && (!fault.passing || fault.err != crash.err) {
				t.Errorf("running %v, %+v", running, fault)
			}
		})
	}
}
