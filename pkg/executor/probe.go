package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Bounds of a probe that options do not set.
const (
	DefaultStartTimeout = 2 * time.Minute  // for the Pod to run
	streamTimeout       = 30 * time.Second // for one stream
	cleanupTimeout      = time.Minute      // for the deletion of everything made
)

// ProbeOptions say what to prove.
type ProbeOptions struct {
	Template  *corev1.PodTemplateSpec
	Profile   compose.Profile
	Namespace string
	// Identity is whose probe it is, in the ownership labels. Its instance ID, name and namespace are the probe's own to
	// set, and parts that are empty are called "probe".
	Identity compose.Identity
	// WithoutPod leaves out every step that needs an object to be created.
	WithoutPod bool
	// StartTimeout bounds the wait for the Pod to run; DefaultStartTimeout when zero.
	StartTimeout time.Duration
	// Observe is told of each step as it begins, as more is known of it, and as it ends. Calls come one after another.
	Observe func(Progress)
}

// Progress is one report of a running probe.
type Progress struct {
	Step Step // without a verdict until Done
	Done bool
}

// Verdict is what became of a step.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Skipped Verdict = "skipped" // not tried, and Message says why
)

// Step is one thing that a probe proves. Keys are stable for ever.
type Step struct {
	Key          string      `json:"key"`
	Verdict      Verdict     `json:"verdict"`
	Optional     bool        `json:"optional,omitempty"` // failed, and sessions can do without it
	Milliseconds int64       `json:"durationMs"`
	Message      string      `json:"message"`
	Reason       Reason      `json:"reason,omitempty"` // of a failed step, where it is known
	Remedy       string      `json:"remedy,omitempty"`
	Rule         *PolicyRule `json:"rule,omitempty"`    // the Role's rule that is missing
	Details      []string    `json:"details,omitempty"` // warnings of the server, single faults
}

// failed reports whether the step keeps sessions from running.
func (s Step) failed() bool { return s.Verdict == Fail && !s.Optional }

// probeSchemaVersion names the shape of ProbeReport; docs/schema/probe.schema.json describes it.
const probeSchemaVersion = 1

// ProbeReport is what a probe found.
type ProbeReport struct {
	SchemaVersion int    `json:"schemaVersion"`
	Passed        bool   `json:"passed"` // no step failed that sessions need
	Interrupted   bool   `json:"interrupted,omitempty"`
	Server        string `json:"server"`            // the API server's address
	Version       string `json:"version,omitempty"` // the API server's version
	User          string `json:"user,omitempty"`    // the name under which it knows the client
	Namespace     string `json:"namespace"`
	Steps         []Step `json:"steps"`
}

// Probe proves that sessions of a template can run in a namespace: contact and credentials, each permission, admission of
// the session's objects, and, on a disposable Pod of the template's main container, exec and port-forward over both
// transports, the image's tools and the owned volumes. What it creates carries a nonce and ownership labels, and is deleted
// by UID and waited for, also when the context ends or an answer is lost.
//
// Every step is bounded; so is the whole. The error is a *compose.Invalid: the template, profile or identity breaks a rule,
// and nothing was asked of the cluster. Whatever the cluster does is in the report.
func (c *Client) Probe(ctx context.Context, o ProbeOptions) (ProbeReport, error) {
	p, err := c.newProbe(o)
	if err != nil {
		return ProbeReport{}, err
	}
	p.reach(ctx)
	p.permissions(ctx)
	p.admission(ctx)
	if !o.WithoutPod {
		p.disposable(ctx)
	}
	p.report.Interrupted = ctx.Err() != nil
	p.report.Passed = !p.report.Interrupted
	for _, s := range p.report.Steps {
		p.report.Passed = p.report.Passed && !s.failed()
	}
	return p.report, nil
}

// probe is one run.
type probe struct {
	client  *Client
	options ProbeOptions
	session compose.Objects // what a session would send
	probe   compose.Objects // what the probe creates
	missing map[permission]bool
	barred  string // why nothing more is asked, "" while something is
	report  ProbeReport
}

func (c *Client) newProbe(o ProbeOptions) (*probe, error) {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.Profile = o.Profile.WithDefaults()
	identity := probeIdentity(o.Identity, o.Namespace)
	session, err := compose.Compose(o.Template, o.Profile, identity)
	if err != nil {
		return nil, err
	}
	disposable, err := compose.Compose(probeTemplate(o.Template, o.Profile.MainContainer), o.Profile, identity)
	if err != nil {
		return nil, err
	}
	return &probe{
		client: c, options: o, session: session, probe: disposable, missing: map[permission]bool{},
		report: ProbeReport{SchemaVersion: probeSchemaVersion, Server: c.Host(), Namespace: o.Namespace, Steps: []Step{}},
	}, nil
}

// probeIdentity is a new instance for each probe.
func probeIdentity(id compose.Identity, namespace string) compose.Identity {
	const unnamed = "probe"
	for _, part := range []*string{&id.ExecutorID, &id.ProfileID, &id.TaskID, &id.SessionID, &id.EnvironmentID} {
		*part = cmp.Or(*part, unnamed)
	}
	id.InstanceID = unnamed + "-" + compose.NewNonce()[:16]
	id.Name, id.Namespace = "", namespace
	return id
}

// outcome is what a step's work leaves beside its error.
type outcome struct {
	message string
	details []string
}

// step does one step's work and records what came of it. It reports whether the step passed.
func (p *probe) step(ctx context.Context, key, doing string, work func(context.Context, *outcome) error, needed ...permission) bool {
	s, _ := p.try(ctx, key, doing, work, needed...)
	p.done(s)
	return s.Verdict == Pass
}

// try does one step's work, unless a permission is known to be missing or nothing more is asked.
func (p *probe) try(ctx context.Context, key, doing string, work func(context.Context, *outcome) error, needed ...permission) (Step, error) {
	if ctx.Err() != nil {
		p.bar(interrupted)
	}
	if why := cmp.Or(p.barred, p.lacks(needed...)); why != "" {
		return Step{Key: key, Verdict: Skipped, Message: why}, nil
	}
	p.observe(Progress{Step: Step{Key: key, Message: doing}})
	began := time.Now()
	var o outcome
	err := work(ctx, &o)
	s := Step{Key: key, Verdict: Pass, Milliseconds: time.Since(began).Milliseconds(), Message: o.message, Details: o.details}
	if err != nil {
		s.fail(err)
		p.barAfter(ctx, err)
	}
	return s, err
}

// fail makes a step one that failed.
func (s *Step) fail(err error) {
	s.Verdict, s.Message = Fail, err.Error()
	if e, ok := errors.AsType[*Error](err); ok {
		s.Reason, s.Remedy = e.Reason, e.Remedy()
		for _, f := range e.Fields {
			s.Details = append(s.Details, f.Field+": "+f.Message)
		}
	}
	if m, ok := errors.AsType[*missingPermission](err); ok {
		rule := m.permission.rule()
		s.Reason, s.Rule = Forbidden, &rule
		s.Remedy = "add to the Role of the executor: " + roleRule(rule)
	}
}

// interrupted is why nothing is asked once the caller's context has ended.
const interrupted = "interrupted"

// barAfter ends the asking when the cluster cannot be asked, or the caller wants no more.
func (p *probe) barAfter(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		p.bar(interrupted)
	case reasonOf(err) == Unreachable, reasonOf(err) == Unauthenticated, reasonOf(err) == Ambiguous, reasonOf(err) == NoNamespace:
		p.bar("not asked, after the failure above")
	case reasonOf(err) == Crashed, reasonOf(err) == Vanished, reasonOf(err) == Evicted:
		p.bar("the Pod does not run")
	}
}

// bar skips the steps that follow, with the first reason that was given.
func (p *probe) bar(why string) { p.barred = cmp.Or(p.barred, why) }

func (p *probe) skip(key, why string) { p.done(Step{Key: key, Verdict: Skipped, Message: why}) }

func (p *probe) done(s Step) {
	p.report.Steps = append(p.report.Steps, s)
	p.observe(Progress{Step: s, Done: true})
}

func (p *probe) observe(progress Progress) {
	if p.options.Observe != nil {
		p.options.Observe(progress)
	}
}

// lacks returns a sentence about the first permission that is missing, "" where none is.
func (p *probe) lacks(needed ...permission) string {
	for _, n := range needed {
		if p.missing[n] {
			return fmt.Sprintf("needs the permission to %s", n)
		}
	}
	return ""
}
