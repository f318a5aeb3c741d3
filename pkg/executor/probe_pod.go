package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

const (
	// probeLifetime ends a probe's containers on the node, in seconds, should nobody be left to delete the Pod.
	probeLifetime = 15 * 60
	// probeGrace is how long a deleted probe may take to end, in seconds. Its start script ends at once.
	probeGrace = 5
	// patience is how long a state may last that often ends by itself.
	patience = 15 * time.Second
)

// waitsForUpload is a shell command that succeeds once the start script has found what it needs and waits for the upload. Where the
// image has no mkfifo the script leaves no trace of it.
const waitsForUpload = "[ -p " + bootstrap.WakePath + " ] || ! command -v mkfifo >/dev/null"

// probeTemplate reduces a template to what the probe's Pod needs: the main container as it is, without companions, without
// what else is run in it, and without host ports, which a session may hold. It is ready when the start script waits.
func probeTemplate(t *corev1.PodTemplateSpec, main string) *corev1.PodTemplateSpec {
	t = t.DeepCopy()
	s := &t.Spec
	s.InitContainers, s.ReadinessGates = nil, nil
	s.Containers = slices.DeleteFunc(s.Containers, func(c corev1.Container) bool { return c.Name != main })
	used := map[string]bool{}
	for i := range s.Containers {
		c := &s.Containers[i]
		c.Ports, c.Lifecycle = nil, nil
		c.LivenessProbe, c.StartupProbe = nil, nil
		c.ReadinessProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", waitsForUpload}}},
			PeriodSeconds: 1, TimeoutSeconds: probeGrace,
		}
		c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError // says why the start script ended
		for _, m := range c.VolumeMounts {
			used[m.Name] = true
		}
		for _, d := range c.VolumeDevices {
			used[d.Name] = true
		}
	}
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool { return !used[v.Name] })
	s.ActiveDeadlineSeconds, s.TerminationGracePeriodSeconds = new(int64(probeLifetime)), new(int64(probeGrace))
	return t
}

// podHalf lists the steps on the disposable Pod, for when there is none.
func (p *probe) podHalf() []string {
	keys := []string{"pod-create", "pod-start", "exec-websocket", "exec-spdy", "tools", "volumes", "forward-websocket", "forward-spdy", "logs", "pod-delete"}
	if p.probe.Claim != nil {
		keys = append(append([]string{"claim-create"}, keys...), "claim-delete")
	}
	return keys
}

// disposable creates the probe's Pod, proves what can be proven on it, and deletes it whatever happens.
func (p *probe) disposable(ctx context.Context) {
	if why := p.withoutPod(); why != "" {
		for _, key := range p.podHalf() {
			p.skip(key, why)
		}
		return
	}
	var made []*created
	defer func() { p.cleanup(ctx, made) }()
	if claim := p.probe.Claim; claim != nil {
		c := &created{resource: claimResource, requested: claim}
		made = append(made, c)
		if !p.step(ctx, "claim-create", "create claim "+claim.Name, func(ctx context.Context, o *outcome) error {
			return p.make(ctx, c, &corev1.PersistentVolumeClaim{}, o)
		}) {
			p.bar("there is no claim for the Pod")
		}
	}
	pod := &created{resource: podResource, requested: p.probe.Pod}
	made = append(made, pod)
	if !p.step(ctx, "pod-create", "create Pod "+p.probe.Pod.Name, func(ctx context.Context, o *outcome) error {
		return p.make(ctx, pod, &corev1.Pod{}, o)
	}) {
		p.bar("there is no Pod")
	}
	if !p.step(ctx, "pod-start", "wait for the Pod to run", func(ctx context.Context, o *outcome) error {
		return p.start(ctx, pod, o)
	}) {
		p.bar("the Pod does not run")
	}
	p.streams(ctx, pod)
}

// withoutPod says why there will be no Pod, "" where there will.
func (p *probe) withoutPod() string {
	if p.barred != "" {
		return p.barred
	}
	needed := []permission{{podResource, "create"}, {podResource, "delete"}, {podResource, "get"}, {podResource, "watch"}, {podResource, "list"}}
	if p.probe.Claim != nil {
		for _, n := range slices.Clone(needed) {
			needed = append(needed, permission{claimResource, n.verb})
		}
	}
	if why := p.lacks(needed...); why != "" {
		return why
	}
	for _, s := range p.report.Steps {
		if s.failed() && slices.Contains([]string{"claim-admission", "existing-claim", "pod-admission"}, s.Key) {
			return "admission comes first"
		}
	}
	return ""
}

// created is one object that the probe makes.
type created struct {
	resource  string
	requested object
	sent      bool   // a create request may have reached the server
	admitted  object // nil while none is known to be ours
	settled   bool   // whether there is one is known
}

// make creates an object and settles whether it was created. Once begun it is not interrupted: an answer that nobody waits
// for would leave an object that nobody knows.
func (p *probe) make(ctx context.Context, c *created, into object, o *outcome) error {
	ctx = context.WithoutCancel(ctx)
	compose.SetNonce(c.requested, compose.NewNonce())
	c.sent, c.settled = true, true
	err := p.client.create(withWarnings(ctx, &o.details), c.resource, c.requested, into, false)
	phase := admission.Reconcile
	switch reasonOf(err) {
	case "":
		phase, c.admitted = admission.AtCreate, into
	case AlreadyExists: // an object of the name is there now, or never
		c.admitted, c.settled = p.client.find(ctx, c, 0)
	case Ambiguous, UnknownFields, ServerError:
		c.admitted, c.settled = p.client.find(ctx, c, createBound)
	default:
		c.sent = false
	}
	if c.admitted == nil {
		return err
	}
	o.message = "created " + c.admitted.GetName()
	if err != nil {
		o.details = append(o.details, "the answer was lost, and the object found by its nonce: "+err.Error())
	}
	switch admitted := c.admitted.(type) {
	case *corev1.Pod:
		return p.judgePod(p.probe.Pod, admitted, phase, o)
	case *corev1.PersistentVolumeClaim:
		return judge(admission.ComparePVC(p.probe.Claim, admitted, admission.Options{Phase: phase}), o)
	}
	return nil
}

// start waits for the main container to run and to be ready, and no longer than there is hope.
func (p *probe) start(ctx context.Context, pod *created, o *outcome) error {
	w := running{
		pod: placeOf(podResource, pod.admitted), uid: pod.admitted.GetUID(), main: p.options.Profile.MainContainer,
		ready: true, timeout: p.options.StartTimeout,
		observe: func(e *Error) { p.observe(Progress{Step: Step{Key: "pod-start", Message: e.Error()}}) },
	}
	if p.probe.Claim != nil {
		w.claim = p.probe.Claim.Name
	}
	current, err := p.client.awaitRunning(ctx, w)
	if err == nil {
		o.message = fmt.Sprintf("container %s runs on node %s", w.main, current.Spec.NodeName)
	}
	return err
}
