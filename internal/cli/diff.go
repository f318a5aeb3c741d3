package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
	"github.com/kandev/kandev-podlint/policy"
)

// diffCommand is one run of diff.
type diffCommand struct {
	profile   *profileFlags
	output    *outputFlags
	cluster   *clusterFlags
	kube      *kubeVersion
	requested string
	admitted  string
	pod       string
	live      bool
	all       bool
}

func newDiff() *cobra.Command {
	d := &diffCommand{}
	c := &cobra.Command{
		Use:   "diff [TEMPLATE]",
		Short: "Compare a requested Pod with the one that a cluster admits",
		Long: `Compare a requested Pod, and claim, with what a cluster admits: the workspace grants both ways, every
field that is Kandev's, and the privileges that admission added.

With --live, the objects that Kandev composes from TEMPLATE are sent to the cluster as a dry run: they pass
through defaults, webhooks, quota and Pod Security, and are not kept. With --pod, a Pod that exists is
compared with a file of what was requested. With two files, no cluster is needed. Each FILE holds one Pod
and at most one PersistentVolumeClaim, in YAML or JSON; - is standard input.`,
		Example: `  kandev-podlint diff template.yaml --live -n kandev
  kandev-podlint diff --requested requested.yaml --pod kandev/kandev-f6458282375c6f9e
  kandev-podlint diff --requested requested.yaml --admitted admitted.yaml`,
		Args: arguments(0, 1, "TEMPLATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return d.run(c.Context(), args, streamsOf(c))
		},
	}
	d.profile = addProfileFlags(c)
	d.output = addOutputFlags(c, report.DiffFormats())
	d.cluster = addClusterFlags(c)
	d.kube = addKubeVersion(c.Flags())
	f := c.Flags()
	f.StringVar(&d.requested, "requested", "", "`FILE` with the objects as they were sent")
	f.StringVar(&d.admitted, "admitted", "", "`FILE` with the objects as the cluster returned them")
	f.BoolVar(&d.live, "live", false, "ask the cluster what it would admit of TEMPLATE")
	f.StringVar(&d.pod, "pod", "", "`[NAMESPACE/]NAME` of a Pod that the cluster has admitted")
	f.BoolVar(&d.all, "all", false, "list the accepted changes too")
	return c
}

// run chooses the comparison that the flags ask for.
func (d *diffCommand) run(ctx context.Context, args []string, s Streams) error {
	switch {
	case d.live && (len(args) == 0 || d.requested+d.admitted+d.pod != ""):
		return unusable(errors.New("--live takes a TEMPLATE, and none of --requested, --admitted and --pod"))
	case d.live:
		return d.runLive(ctx, args[0], s)
	case len(args) > 0:
		return unusable(errors.New("a TEMPLATE is compared with --live"))
	case d.pod != "" && d.admitted != "":
		return unusable(errors.New("the admitted Pod is either --pod or --admitted"))
	case d.requested == "" || d.admitted == "" && d.pod == "":
		return unusable(errors.New("--requested FILE is needed, and --admitted FILE or --pod NAME; or TEMPLATE with --live"))
	case d.requested == lint.Stdin && d.admitted == lint.Stdin:
		return unusable(errors.New("standard input can be only one of the two"))
	}
	return d.runFiles(ctx, s)
}

// runFiles compares a file of what was requested with another file, or with the cluster's objects.
func (d *diffCommand) runFiles(ctx context.Context, s Streams) error {
	main, err := d.mainContainer()
	if err != nil {
		return err
	}
	requested, err := readObjects(d.requested, s.In)
	if err != nil {
		return unusable(err)
	}
	admitted, err := d.readAdmitted(ctx, requested, s.In)
	if err != nil {
		return unusable(err)
	}
	r, err := d.compare(ctx, main, requested, admitted)
	if err != nil {
		return unusable(err)
	}
	if d.output.verbose {
		fmt.Fprintf(s.Err, "main container %s, compared as %s\n", main, phaseName(admitted.pod)) //nolint:errcheck // nothing depends on it
	}
	if !d.output.quiet && requested.claim != nil && admitted.claim == nil {
		fmt.Fprintf(s.Err, "%s holds no PersistentVolumeClaim, so the one in %s is not compared\n", //nolint:errcheck // nothing depends on it
			d.admitted, d.requested)
	}
	return d.report(s.Out, report.Comparison{Report: r})
}

// readAdmitted reads the admitted objects from a file or from the cluster.
func (d *diffCommand) readAdmitted(ctx context.Context, requested *objects, in io.Reader) (*objects, error) {
	if d.pod == "" {
		return readObjects(d.admitted, in)
	}
	return d.getObjects(ctx, requested)
}

// mainContainer returns the name of the agent's container.
func (d *diffCommand) mainContainer() (string, error) {
	base, err := d.profile.base()
	return cmp.Or(d.profile.mainContainer, base.MainContainer, compose.DefaultMainContainer), err
}

// report prints the comparison and chooses the exit status. With --quiet, text says nothing of what is compatible.
func (d *diffCommand) report(stdout io.Writer, r report.Comparison) error {
	err := d.output.write(stdout, each(func(t *target) error {
		if d.output.quiet && r.Compatible && t.format == "text" {
			return nil
		}
		return report.Diff(t.w, t.format, r, report.DiffOptions{Color: t.color, All: d.all})
	}))
	if err == nil && !r.Compatible {
		return errFindings
	}
	return err
}

// compare compares the Pods, and the claims where there are any, in one report.
func (d *diffCommand) compare(ctx context.Context, main string, requested, admitted *objects) (admission.Report, error) {
	if !hasContainer(requested.pod, main) {
		return admission.Report{}, fmt.Errorf("%s has no container %q: name the agent's with --main-container", d.requested, main)
	}
	o := admission.Options{MainContainer: main, Phase: phaseOf(admitted.pod), Warnings: d.warnings(ctx, main)}
	r, err := admission.ComparePod(requested.pod, admitted.pod, o)
	if err != nil {
		return r, err
	}
	switch {
	case requested.claim != nil && admitted.claim != nil:
		addClaim(&r, admission.ComparePVC(requested.claim, admitted.claim, o))
	case admitted.claim != nil:
		return r, fmt.Errorf("%s holds a PersistentVolumeClaim, %s none", d.admitted, d.requested)
	}
	return r, nil
}

func hasContainer(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
}

// phaseName says when the admitted Pod was seen.
func phaseName(pod *corev1.Pod) string {
	if phaseOf(pod) == admission.Later {
		return "seen after scheduling"
	}
	return "seen at create"
}

// addClaim adds the comparison of the claims to that of the Pods, under paths of its own.
func addClaim(r *admission.Report, claim admission.Report) {
	r.Compatible = r.Compatible && claim.Compatible
	for _, v := range claim.Violations {
		v.Path = "claim." + v.Path
		r.Violations = append(r.Violations, v)
	}
	for _, a := range claim.Accepted {
		a.Path = "claim." + a.Path
		r.Accepted = append(r.Accepted, a)
	}
}

// warnings returns the function that finds a Pod's privileges. What could only be stricter is none.
func (d *diffCommand) warnings(ctx context.Context, main string) func(*corev1.Pod) ([]finding.Finding, error) {
	return func(pod *corev1.Pod) ([]finding.Finding, error) {
		e, err := policy.Default(ctx)
		if err != nil {
			return nil, err
		}
		object, err := withoutStatus(pod)
		if err != nil {
			return nil, err
		}
		found, err := e.Eval(ctx, policy.Input{Object: object, MainContainer: main, KubeVersion: string(*d.kube)})
		return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Info }), err
	}
}

// phaseOf tells a create response from a later GET: only the scheduler's binding sets the condition
// PodScheduled, which no webhook can.
func phaseOf(pod *corev1.Pod) admission.Phase {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return admission.Later
		}
	}
	return admission.AtCreate
}
