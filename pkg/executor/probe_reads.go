package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// The versions of Kubernetes, by minor version, that this package is tested with.
const oldestTested, newestTested = 34, 37

// reach makes the steps about contact.
func (p *probe) reach(ctx context.Context) {
	var info version.Info
	p.step(ctx, "connection", "reach "+p.client.Host(), func(ctx context.Context, o *outcome) (err error) {
		o.message = "reached " + p.client.Host()
		info, err = p.client.version(ctx)
		return err
	})
	p.step(ctx, "authentication", "ask who this is", func(ctx context.Context, o *outcome) (err error) {
		p.report.User, err = p.client.whoAmI(ctx)
		o.message = "known as " + p.report.User
		return err
	})
	p.step(ctx, "version", "compare versions", func(_ context.Context, o *outcome) error {
		p.report.Version = info.GitVersion
		o.message = "Kubernetes " + info.GitVersion
		if minor := minorOf(info); minor < oldestTested || minor > newestTested {
			o.details = []string{fmt.Sprintf("tested with Kubernetes 1.%d to 1.%d", oldestTested, newestTested)}
		}
		return nil
	})
	p.namespace(ctx)
}

// version asks for the API server's version, which needs no permission.
func (c *Client) version(ctx context.Context) (version.Info, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	var info version.Info
	result := c.rest.Get().AbsPath("/version").Do(ctx)
	if err := classify(result.Error()); reasonOf(err) == Forbidden {
		return info, nil // reached, which is all that was asked
	} else if err != nil {
		return info, err
	}
	data, err := result.Raw()
	if err != nil {
		return info, classify(err)
	}
	if err := json.Unmarshal(data, &info); err != nil || info.GitVersion == "" {
		return info, &Error{Reason: Unreachable, Message: "what answers there is no Kubernetes API server", cause: err}
	}
	return info, nil
}

// minorOf is the minor version; some distributions write it as 34+.
func minorOf(info version.Info) (minor int) {
	_, _ = fmt.Sscanf(info.Minor, "%d", &minor)
	return minor
}

// namespace makes the step about the namespace. To read it is no permission that the executor needs: where it is missing,
// admission's answer tells.
func (p *probe) namespace(ctx context.Context) {
	name := p.options.Namespace
	s, err := p.try(ctx, "namespace", "read namespace "+name, func(ctx context.Context, o *outcome) error {
		ns, err := p.client.getNamespace(ctx, name)
		if err == nil && ns.DeletionTimestamp != nil {
			err = &Error{Reason: NamespaceEnding, Subject: name, Message: fmt.Sprintf("namespace %s is terminating", name)}
		}
		o.message = fmt.Sprintf("namespace %s exists", name)
		if level := ns.Labels[podSecurityLabel]; level != "" {
			o.message += ", Pod Security level " + level
		}
		return err
	})
	if reasonOf(err) == Forbidden {
		s = Step{
			Key: s.Key, Verdict: Skipped, Milliseconds: s.Milliseconds,
			Message: fmt.Sprintf("may not read namespace %s; admission shows whether it exists", name),
		}
	}
	p.done(s)
}

// podSecurityLabel says which Pod Security level a namespace enforces (k8s.io/pod-security-admission api).
const podSecurityLabel = "pod-security.kubernetes.io/enforce"

func (c *Client) getNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	ns := &corev1.Namespace{}
	err := c.rest.Get().Resource("namespaces").Name(name).Do(ctx).Into(ns)
	return ns, classify(err)
}

// missingPermission is the error of a permission that the Role does not grant.
type missingPermission struct {
	permission      permission
	user, namespace string
}

func (m *missingPermission) Error() string {
	return fmt.Sprintf("%s may not %s in namespace %s", m.user, m.permission, m.namespace)
}

// permissions asks for every permission by itself.
func (p *probe) permissions(ctx context.Context) {
	for _, permission := range permissions(Rules(p.options.Profile.Workspace.Mode)) {
		p.step(ctx, "permission-"+permission.key(), "may "+permission.String(), func(ctx context.Context, o *outcome) error {
			o.message = "may " + permission.String()
			allowed, err := p.client.allowed(ctx, p.options.Namespace, permission)
			if err != nil {
				return err
			}
			if !allowed {
				p.missing[permission] = true
				return &missingPermission{permission, p.report.User, p.options.Namespace}
			}
			return nil
		})
	}
}

// admission makes the steps about what admission does to a session's objects.
func (p *probe) admission(ctx context.Context) {
	switch p.options.Profile.Workspace.Mode {
	case compose.ManagedPVC:
		p.step(ctx, "claim-admission", "try the managed claim's admission", p.admitClaim, permission{claimResource, "create"})
	case compose.ExistingClaim:
		p.step(ctx, "existing-claim", "look at the claim", p.existingClaim, permission{claimResource, "get"})
	case compose.EmptyDir:
	}
	p.step(ctx, "pod-admission", "try the Pod's admission", p.admitPod, permission{podResource, "create"})
}

func (p *probe) admitClaim(ctx context.Context, o *outcome) error {
	run, err := p.client.DryRunClaim(ctx, p.session.Claim)
	o.details = run.Warnings
	if err != nil {
		return err
	}
	o.message = "the managed claim is admitted"
	return judge(admission.ComparePVC(run.Requested, run.Admitted, admission.Options{}), o)
}

func (p *probe) admitPod(ctx context.Context, o *outcome) error {
	run, err := p.client.DryRunPod(ctx, p.session.Pod)
	o.details = run.Warnings
	if err != nil {
		return err
	}
	o.message = "the session's Pod is admitted"
	return p.judgePod(run.Requested, run.Admitted, admission.AtCreate, o)
}

// existingClaim looks at the claim that an administrator made.
func (p *probe) existingClaim(ctx context.Context, o *outcome) error {
	name := p.options.Profile.Workspace.ClaimName
	claim, err := p.client.GetClaim(ctx, p.options.Namespace, name)
	switch {
	case err != nil:
		return err
	case claim.DeletionTimestamp != nil:
		return &Error{Reason: BeingDeleted, Subject: name, Message: fmt.Sprintf("claim %s", name)}
	case claim.Status.Phase == corev1.ClaimLost:
		return &Error{Reason: ClaimPending, Subject: name, Message: fmt.Sprintf("claim %s has lost its volume", name)}
	}
	o.message = fmt.Sprintf("claim %s exists, %s", name, strings.ToLower(string(claim.Status.Phase)))
	return nil
}

// judgePod compares a Pod with what was requested.
func (p *probe) judgePod(requested, admitted *corev1.Pod, phase admission.Phase, o *outcome) error {
	report, err := admission.ComparePod(requested, admitted, admission.Options{
		MainContainer: p.options.Profile.MainContainer, Phase: phase,
	})
	if err != nil { // unreachable: no policies are asked
		return err
	}
	return judge(report, o)
}

// judge makes an error of a comparison's violations.
func judge(r admission.Report, o *outcome) error {
	if r.Compatible {
		if n := len(r.Accepted); n > 0 {
			o.message += fmt.Sprintf(" with accepted changes (%d)", n)
		}
		return nil
	}
	for _, v := range r.Violations {
		o.details = append(o.details, fmt.Sprintf("%s: %s [%s]", v.Path, v.Message, v.Rule))
	}
	first := r.Violations[0]
	return &Error{Reason: Tampered, Message: fmt.Sprintf("%s: %s", first.Path, first.Message)}
}
