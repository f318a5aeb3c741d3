package executor

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// advance leads a session to where it runs, from wherever it is: each state's work is done, however often it was begun, and
// the next state recorded.
func (i *instance) advance(ctx context.Context) (*Session, error) {
	for {
		var err error
		switch i.row.State {
		case inventory.Configured:
			err = i.configured(ctx)
		case inventory.ProvisioningStorage:
			err = i.provision(ctx)
		case inventory.Scheduling:
			err = i.schedule(ctx)
		case inventory.Bootstrapping:
			err = i.bootstrap(ctx)
		case inventory.Running, inventory.Preserved:
			s, err := i.reconnect(ctx)
			if err == nil {
				return s, nil
			}
			if err := i.recover(ctx, err); err != nil {
				return nil, err
			}
			continue
		default:
			return nil, &Error{Reason: IdentityMismatch, Subject: i.row.Identity.InstanceID, Message: "the session is being cleaned up"}
		}
		if err != nil {
			return nil, err
		}
	}
}

// configured chooses where the workspace comes from.
func (i *instance) configured(ctx context.Context) error {
	switch i.row.WorkspaceMode {
	case compose.ManagedPVC:
		return i.enter(ctx, inventory.ProvisioningStorage)
	case compose.ExistingClaim:
		claim, err := i.existingClaim(ctx)
		if err != nil {
			return err
		}
		return i.write(ctx, func(r *inventory.Row) {
			r.State, r.Claim = inventory.Scheduling, &inventory.Object{Name: claim.Name, UID: claim.UID}
		})
	}
	return i.enter(ctx, inventory.Scheduling)
}

// existingClaim returns the claim that the profile names, if it may be used.
func (i *instance) existingClaim(ctx context.Context) (*corev1.PersistentVolumeClaim, error) {
	name := i.snapshot.Profile().Workspace.ClaimName
	claim, err := i.Client.GetClaim(ctx, i.Namespace, name)
	switch {
	case err != nil:
		return nil, err
	case claim.DeletionTimestamp != nil:
		return nil, &Error{Reason: BeingDeleted, Subject: name, Message: fmt.Sprintf("claim %s is being deleted", name)}
	}
	return claim, nil
}

// provision creates the managed claim. Nothing waits for its volume: where that comes at once or with the Pod is its class's
// to say, and the Pod waits for it either way.
func (i *instance) provision(ctx context.Context) error {
	if err := ensure(ctx, i, claimKind); err != nil {
		return err
	}
	return i.enter(ctx, inventory.Scheduling)
}

// schedule creates the Pod and waits until its main container runs.
func (i *instance) schedule(ctx context.Context) error {
	if i.row.Pod == nil {
		if err := i.verifyClaim(ctx); err != nil {
			return err
		}
	}
	if err := ensure(ctx, i, podKind); err != nil {
		return err
	}
	pod, err := i.awaitPod(ctx, false)
	if err != nil {
		return err
	}
	i.seen = pod
	err = i.write(ctx, func(r *inventory.Row) {
		r.State, r.ControlPort, r.LastFailure = inventory.Bootstrapping, controlPort(pod, i.main()), nil
	})
	if err == nil {
		i.tell(ctx, Event{Kind: StateEntered})
	}
	return err
}

// verifyClaim makes sure that the workspace is the recorded one, before a Pod is given it.
func (i *instance) verifyClaim(ctx context.Context) error {
	if i.row.Claim == nil {
		return nil
	}
	claim, err := i.Client.GetClaim(ctx, i.Namespace, i.row.Claim.Name)
	switch {
	case reasonOf(err) == NotFound:
		return &Error{Reason: WorkspaceLost, Subject: i.row.Claim.Name, Message: fmt.Sprintf("claim %s is gone", i.row.Claim.Name), cause: err}
	case err != nil:
		return err
	case claim.UID != i.row.Claim.UID:
		return &Error{Reason: WorkspaceLost, Subject: claim.Name, Message: fmt.Sprintf("claim %s has UID %s, not the recorded %s", claim.Name, claim.UID, i.row.Claim.UID)}
	case claim.DeletionTimestamp != nil:
		return &Error{Reason: WorkspaceLost, Subject: claim.Name, Message: fmt.Sprintf("claim %s is being deleted", claim.Name)}
	case i.row.CreatedClaim() && !i.owns(claim):
		return &Error{Reason: IdentityMismatch, Subject: claim.Name, Message: fmt.Sprintf("claim %s lacks ownership labels of the session", claim.Name)}
	}
	return nil
}

// awaitPod waits for the recorded Pod's main container, which once the agent was started may have been started again.
func (i *instance) awaitPod(ctx context.Context, started bool) (*corev1.Pod, error) {
	claim := ""
	if i.row.Claim != nil {
		claim = i.row.Claim.Name
	}
	pod, err := i.Client.awaitRunning(ctx, running{
		pod: place{podResource, i.Namespace, i.row.Pod.Name}, uid: i.row.Pod.UID, main: i.main(), started: started, claim: claim, timeout: i.StartTimeout,
		observe: func(e *Error) {
			i.tell(ctx, Event{Kind: Waiting, Object: inventory.Pod, Name: i.row.Pod.Name, Reason: e.Reason, Detail: e.Message})
		},
	})
	if err == nil && !i.owns(pod) {
		return nil, i.notOurs(pod)
	}
	return pod, err
}

func (i *instance) notOurs(o object) error {
	return &Error{Reason: IdentityMismatch, Subject: o.GetName(), Message: fmt.Sprintf("%s (UID %s) lacks ownership labels of the session", o.GetName(), o.GetUID())}
}

// bootstrap gives the Pod its material and has the agent started.
func (i *instance) bootstrap(ctx context.Context) error {
	if i.material == nil {
		return &Error{Reason: UploadFailed, Subject: i.row.Pod.Name, Message: "the session's material is needed again"}
	}
	nonce := compose.NewNonce() // as unpredictable as a create nonce, and another one
	d, err := i.material.deliver(i.row.Identity, i.row.ControlPort, nonce)
	if err != nil {
		return err
	}
	err = i.upload(ctx, d)
	for range maxUploads - 1 {
		reason := reasonOf(err)
		if reason != StreamBroken && reason != ExecFailed {
			break
		}
		i.tell(ctx, Event{Kind: Waiting, Object: inventory.Pod, Name: i.row.Pod.Name, Reason: reason, Detail: err.Error()})
		wait(ctx, pause)
		err = i.upload(ctx, d)
	}
	if err != nil {
		return i.recover(ctx, err)
	}
	i.fresh = nonce
	return i.enter(ctx, inventory.Running)
}

// maxUploads bounds how often one call gives a Pod its material: again after a stream that broke or a container that ended.
const maxUploads = 3

// upload gives the Pod its material, once, in the run of its container that was seen last.
func (i *instance) upload(ctx context.Context, d *delivery) error {
	pod := i.seen
	if i.seen = nil; pod == nil {
		if err := i.verifyPod(ctx); err != nil {
			return err
		}
		var err error
		if pod, err = i.awaitPod(ctx, true); err != nil {
			return err
		}
	}
	c := i.container()
	c.id = runningID(pod, i.main())
	return c.bootstrap(ctx, d, i.material.Prepare != nil)
}

// livePod returns the recorded Pod of a row as it is. The error is PodLost where that is gone or has ended, and
// IdentityMismatch where the labels are not the session's.
func (e *Executor) livePod(ctx context.Context, row *inventory.Row) (*corev1.Pod, error) {
	if row.Pod == nil {
		return nil, podLost(row, "no Pod is recorded")
	}
	pod, err := e.Client.GetPod(ctx, e.Namespace, row.Pod.Name)
	switch {
	case reasonOf(err) == NotFound:
		return nil, podLost(row, "Pod %s is gone", row.Pod.Name)
	case err != nil:
		return nil, err
	case pod.UID != row.Pod.UID:
		return nil, podLost(row, "Pod %s has UID %s, not the recorded %s", row.Pod.Name, pod.UID, row.Pod.UID)
	case !bears(pod, row.Identity):
		return nil, &Error{Reason: IdentityMismatch, Subject: pod.Name, Message: fmt.Sprintf("Pod %s (UID %s) lacks ownership labels of the session", pod.Name, pod.UID)}
	case pod.DeletionTimestamp != nil:
		return nil, podLost(row, "Pod %s is being deleted", pod.Name)
	case hasEnded(pod):
		return nil, podLost(row, "Pod %s has ended: %s", pod.Name, podEnd(pod))
	}
	return pod, nil
}

// podLost is the error of a recorded Pod that cannot be used any more.
func podLost(row *inventory.Row, format string, args ...any) error {
	return &Error{Reason: PodLost, Subject: row.Identity.PodName(), Message: fmt.Sprintf(format, args...)}
}

// hasEnded reports whether a Pod's containers have ended for good.
func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func podEnd(pod *corev1.Pod) string {
	if pod.Status.Reason == "" {
		return string(pod.Status.Phase)
	}
	return pod.Status.Reason + " " + pod.Status.Message
}

// verifyPod makes sure that the recorded Pod is there, and has the main container.
func (i *instance) verifyPod(ctx context.Context) error {
	pod, err := i.livePod(ctx, &i.row)
	if err != nil {
		return err
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == i.main() {
			return nil
		}
	}
	return &Error{Reason: IdentityMismatch, Subject: pod.Name, Message: fmt.Sprintf("Pod %s has no container %s", pod.Name, i.main())}
}

// recover leads a session whose Pod was lost to where a new one is created, from the recorded snapshot. Every other error
// stays.
func (i *instance) recover(ctx context.Context, err error) error {
	if reasonOf(err) != PodLost {
		return err
	}
	if i.row.WorkspaceMode == compose.EmptyDir {
		lost, _ := errors.AsType[*Error](err)
		return &Error{Reason: WorkspaceLost, Subject: lost.Subject, Message: "the workspace was the Pod's own, and " + lost.Message, cause: err}
	}
	if err := i.verifyClaim(ctx); err != nil {
		return err
	}
	if err := i.forgetPod(ctx); err != nil {
		return err
	}
	return i.enter(ctx, inventory.Scheduling)
}

// forgetPod makes sure that the recorded Pod is gone, and records it. What has its name by now is not touched; the create
// request will meet it.
func (i *instance) forgetPod(ctx context.Context) error {
	if i.row.State != inventory.Preserved {
		if err := i.enter(ctx, inventory.Preserved); err != nil {
			return err
		}
	}
	if i.row.Pod == nil {
		return nil
	}
	if err := i.deleteRecorded(ctx, inventory.Pod, podResource); err != nil {
		return err
	}
	return i.write(ctx, func(r *inventory.Row) { r.Pod = nil })
}
