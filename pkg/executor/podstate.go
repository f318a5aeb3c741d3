package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podFault is what keeps a Pod's main container from running.
type podFault struct {
	err *Error
	// passing is a state that often ends by itself: a node is added, a registry answers again.
	passing bool
}

// inspect says how far a Pod's main container has come: it runs, or something keeps it from running, or neither yet. Other
// containers count only where they hold it up.
func inspect(pod *corev1.Pod, main string) (running bool, fault *podFault) {
	if fault := inspectPod(pod); fault != nil {
		return false, fault
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != main {
			continue
		}
		if fault := inspectMain(s); fault != nil || s.State.Running != nil {
			return fault == nil, fault
		}
	}
	return false, inspectInit(pod)
}

// inspectMain says what keeps the main container from running, or has ended it.
func inspectMain(s corev1.ContainerStatus) *podFault {
	name := "container " + s.Name
	if fault := inspectWaiting(s, name); fault != nil {
		return fault
	}
	for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
		if t != nil && (t.ExitCode != 0 || s.RestartCount > 0) {
			return final(Crashed, terminated(name, t))
		}
	}
	return nil
}

// inspectInit says which init container holds the main container up.
func inspectInit(pod *corev1.Pod) *podFault {
	for _, s := range pod.Status.InitContainerStatuses {
		name := "init container " + s.Name
		if fault := inspectWaiting(s, name); fault != nil {
			return fault
		}
		if fault := inspectInitEnd(s, name, isSidecar(pod, s.Name)); fault != nil {
			return fault
		}
	}
	return nil
}

// inspectInitEnd says what the end of an init container means. The kubelet starts it again: at once, and after a second end
// with delays that grow. One that has failed a second time has failed for good; a sidecar only has to get started.
func inspectInitEnd(s corev1.ContainerStatus, name string, sidecar bool) *podFault {
	end := s.State.Terminated
	if end == nil && s.State.Waiting != nil {
		end = s.LastTerminationState.Terminated
	}
	if end == nil || !sidecar && end.ExitCode == 0 {
		return nil
	}
	fault := final(Crashed, terminated(name, end))
	fault.passing = sidecar || s.RestartCount == 0
	return fault
}

// isSidecar reports whether an init container is one that goes on running beside the others.
func isSidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// restarting is what a crash means in a Pod whose agent was started before: nothing, where the container runs again.
func restarting(pod *corev1.Pod, main string, crash *podFault) (running bool, fault *podFault) {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == main && s.State.Running != nil {
			return true, nil
		}
	}
	return false, &podFault{crash.err, true}
}

// inspectPod looks at what concerns the Pod as a whole.
func inspectPod(pod *corev1.Pod) *podFault {
	switch {
	case pod.DeletionTimestamp != nil:
		return final(Vanished, "the Pod is being deleted, by someone else")
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "":
		return final(Evicted, strings.TrimSuffix(pod.Status.Reason+": "+pod.Status.Message, ": "))
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			(c.Reason == corev1.PodReasonUnschedulable || c.Reason == corev1.PodReasonSchedulingGated) {
			return &podFault{&Error{Reason: Unschedulable, Message: c.Message}, true}
		}
	}
	return nil
}

func final(reason Reason, message string) *podFault {
	return &podFault{&Error{Reason: reason, Message: message}, false}
}

// waiting are the reasons for which the kubelet does not start a container
// (k8s.io/kubernetes pkg/kubelet/kuberuntime and pkg/kubelet/images).
var waiting = map[string]struct {
	reason  Reason
	passing bool
}{
	"ErrImagePull":               {ImagePull, true}, // the next try is seconds away
	"ImagePullBackOff":           {ImagePull, false},
	"InvalidImageName":           {ImagePull, false},
	"ErrImageNeverPull":          {ImagePull, false},
	"ImageInspectError":          {ImagePull, false},
	"SignatureValidationFailed":  {ImagePull, false},
	"CreateContainerConfigError": {ContainerConfig, false},
	"CreateContainerError":       {ContainerConfig, false},
	"RunContainerError":          {ContainerConfig, true}, // the container's end says more
}

// inspectWaiting says why the kubelet does not start a container.
func inspectWaiting(s corev1.ContainerStatus, name string) *podFault {
	w := s.State.Waiting
	if w == nil {
		return nil
	}
	known, ok := waiting[w.Reason]
	if !ok {
		return nil
	}
	return &podFault{&Error{Reason: known.reason, Subject: s.Image, Message: fmt.Sprintf("%s: %s", name, cmp.Or(w.Message, w.Reason))}, known.passing}
}

// terminated says how a container ended.
func terminated(name string, t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("%s ended with status %d", name, t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += " (" + t.Reason + ")"
	}
	if said := strings.TrimSpace(t.Message); said != "" {
		text += ": " + said
	}
	return text
}
