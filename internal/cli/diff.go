package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
	"github.com/kandev/kandev-podlint/policy"
)

// diffFormats are the formats of a comparison.
var diffFormats = []string{"text", "json", "yaml"}

// diffCommand is one run of diff.
type diffCommand struct {
	profile   *profileFlags
	output    *outputFlags
	kube      *kubeVersion
	requested string
	admitted  string
	all       bool
}

func newDiff() *cobra.Command {
	d := &diffCommand{}
	c := &cobra.Command{
		Use:   "diff --requested FILE --admitted FILE",
		Short: "Compare a requested Pod with the one that a cluster admitted",
		Long: `Compare a requested Pod, and claim, with what a cluster admitted: the workspace grants both ways, every
field that is Kandev's, and the privileges that admission added. Each FILE holds one Pod and at most one
PersistentVolumeClaim, in YAML or JSON; - is standard input.`,
		Example: `  kandev-podlint render template.yaml > requested.yaml
  kubectl create --dry-run=server -f requested.yaml -o yaml > admitted.yaml
  kandev-podlint diff --requested requested.yaml --admitted admitted.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return d.run(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
	d.profile = addProfileFlags(c)
	d.output = addOutputFlags(c, diffFormats)
	d.kube = addKubeVersion(c.Flags())
	f := c.Flags()
	f.StringVar(&d.requested, "requested", "", "`FILE` with the objects as they were sent")
	f.StringVar(&d.admitted, "admitted", "", "`FILE` with the objects as the cluster returned them")
	f.BoolVar(&d.all, "all", false, "list the accepted changes too")
	return c
}

func (d *diffCommand) run(ctx context.Context, in io.Reader, stdout io.Writer) error {
	if d.requested == "" || d.admitted == "" {
		return unusable(errors.New("both --requested FILE and --admitted FILE are needed"))
	}
	if d.requested == "-" && d.admitted == "-" {
		return unusable(errors.New("standard input can be only one of the two"))
	}
	base, err := d.profile.base()
	if err != nil {
		return err
	}
	requested, err := readObjects(d.requested, in)
	if err != nil {
		return err
	}
	admitted, err := readObjects(d.admitted, in)
	if err != nil {
		return err
	}
	r, err := d.compare(ctx, base, requested, admitted)
	if err != nil {
		return unusable(err)
	}
	targets, err := d.output.open(stdout, diffFormats)
	for _, t := range targets {
		if err == nil {
			err = report.Diff(t.w, t.format, r, report.DiffOptions{Color: t.color, All: d.all})
		}
	}
	if closeErr := closeAll(targets, err == nil); err == nil {
		err = closeErr
	}
	if err == nil && !r.Compatible {
		return errFindings
	}
	return unusable(err)
}

// compare compares the Pods, and the claims where there are any, in one report.
func (d *diffCommand) compare(ctx context.Context, base compose.Profile, requested, admitted *objects) (admission.Report, error) {
	main := d.profile.mainContainer
	if main == "" {
		main = base.MainContainer
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

// warnings returns the function that finds a Pod's privileges.
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
		return e.Eval(ctx, policy.Input{Object: object, MainContainer: main, KubeVersion: string(*d.kube)})
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

// objects is what one side of a comparison holds.
type objects struct {
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
}

// readObjects reads a file of one Pod and at most one claim, as documents or in a List.
func readObjects(file string, in io.Reader) (*objects, error) {
	name, data, err := readInput(file, in)
	if err != nil {
		return nil, err
	}
	docs, violations := compose.ReadDocuments(data)
	if len(violations) > 0 {
		return nil, unusable(fmt.Errorf("%s: %w", name, violationsError(violations)))
	}
	o := &objects{}
	for _, d := range docs {
		raw, violations := d.JSON()
		if len(violations) > 0 {
			return nil, unusable(fmt.Errorf("%s: %w", name, violationsError(violations)))
		}
		if err := o.add(raw); err != nil {
			return nil, unusable(fmt.Errorf("%s: %w", name, err))
		}
	}
	if o.pod == nil {
		return nil, unusable(fmt.Errorf("%s holds no Pod", name))
	}
	return o, nil
}

// readInput reads a file, or standard input for "-".
func readInput(file string, in io.Reader) (name string, data []byte, err error) {
	if file == lint.Stdin {
		data, err = io.ReadAll(in)
		return lint.StdinName, data, unusable(err)
	}
	data, err = os.ReadFile(file) //nolint:gosec // the user names the file
	return file, data, unusable(err)
}

// add takes one object, or every item of a List.
func (o *objects) add(raw []byte) error {
	var head struct {
		Kind  string                 `json:"kind"`
		Items []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "List", "PodList":
		for _, item := range head.Items {
			if err := o.add(item.Raw); err != nil {
				return err
			}
		}
		return nil
	case "Pod":
		if o.pod != nil {
			return errors.New("more than one Pod; a comparison is of one")
		}
		o.pod = new(corev1.Pod)
		return decodeStrict(raw, o.pod)
	case "PersistentVolumeClaim":
		if o.claim != nil {
			return errors.New("more than one PersistentVolumeClaim; a comparison is of one")
		}
		o.claim = new(corev1.PersistentVolumeClaim)
		return decodeStrict(raw, o.claim)
	}
	return fmt.Errorf("a %q is neither a Pod nor a PersistentVolumeClaim", head.Kind)
}

// decodeStrict refuses fields that this version does not know: what cannot be compared may not pass.
func decodeStrict(raw []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(raw, into)
	return errors.Join(append(strict, err)...)
}
