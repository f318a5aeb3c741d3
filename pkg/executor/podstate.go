package executor

import (
	"cmp"
	"fmt"
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
	for _, s := range pod.Status.InitContainerStatuses {
		if fault := inspectContainer(s, "init container "+s.Name); fault != nil {
			return false, fault
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == main {
			fault := inspectContainer(s, "container "+s.Name)
			return s.State.Running != nil && fault == nil, fault
		}
	}
	return false, nil
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

// inspectContainer says what keeps a container from running. An init container that ended well does not.
func inspectContainer(s corev1.ContainerStatus, name string) *podFault {
	if w := s.State.Waiting; w != nil {
		if known, ok := waiting[w.Reason]; ok {
			return &podFault{&Error{
				Reason: known.reason, Subject: s.Image,
				Message: fmt.Sprintf("%s: %s", name, cmp.Or(w.Message, w.Reason)),
			}, known.passing}
		}
	}
	for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
		if t != nil && (t.ExitCode != 0 || s.RestartCount > 0) {
			return final(Crashed, terminated(name, t))
		}
	}
	return nil
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
