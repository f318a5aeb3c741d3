package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// lintCommand is one run of lint.
type lintCommand struct {
	profile       *profileFlags
	output        *outputFlags
	kube          *kubeVersion
	failOn        *choice
	selected      *selectFlags
	policies      []string
	config        string
	baseline      string
	writeBaseline bool
	deployable    bool

	errOut   io.Writer
	printers []report.Printer
	summary  lint.Summary
	accepted *lint.Baseline // the baseline being written
	failed   bool           // a finding at or above --fail-on
	unusable bool           // an input that could not be used
}

func newLint() *cobra.Command {
	l := &lintCommand{}
	c := &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Check Pod templates and profiles",
		Long: `Check Pod templates and profiles in files, directories, globs or standard input (-). Without a PATH
the current directory is checked. Other files in a directory are skipped and counted; a PATH that names
a file without a template is an error.`,
		Example: `  kandev-podlint lint templates/
  kandev-podlint lint --format text --format sarif=podlint.sarif .
  kubectl get podtemplate agent -o yaml | kandev-podlint lint -`,
		RunE: func(c *cobra.Command, args []string) error {
			l.errOut = c.ErrOrStderr()
			return l.run(c.Context(), args, c.InOrStdin(), c.OutOrStdout())
		},
	}
	l.profile = addProfileFlags(c)
	l.output = addOutputFlags(c, report.Formats())
	l.kube = addKubeVersion(c.Flags())
	l.failOn = addFailOn(c)
	l.selected = addSelectFlags(c)
	f := c.Flags()
	f.BoolVar(&l.deployable, "deployable", false, "refuse images that cannot be deployed: placeholders, and references without a digest")
	f.StringArrayVar(&l.policies, "policy", nil, "`DIR` of your own Rego policies, repeatable")
	f.StringVar(&l.config, "config", "", "configuration `FILE` (default "+lint.ConfigName+", from each file upwards)")
	f.StringVar(&l.baseline, "baseline", "", "`FILE` of findings that are accepted for now")
	f.BoolVar(&l.writeBaseline, "write-baseline", false, "write today's findings to --baseline instead of reading it")
	return c
}

func (l *lintCommand) run(ctx context.Context, paths []string, in io.Reader, stdout io.Writer) error {
	o, err := l.options(in)
	if err != nil {
		return err
	}
	err = l.output.write(stdout, func(targets []*target) error {
		return l.print(ctx, lint.New(o), paths, targets)
	})
	if err != nil {
		return err
	}
	verdict := l.verdict(paths)
	if l.accepted != nil && exitCode(verdict) != ExitUnusable {
		if err := l.saveBaseline(); err != nil {
			return unusable(err)
		}
	}
	return verdict
}

func (l *lintCommand) options(in io.Reader) (lint.Options, error) {
	o := lint.Options{KubeVersion: string(*l.kube), Policies: l.policies, Select: l.selected.Selection, Deployable: l.deployable, Stdin: in}
	var err error
	if o.Profile, err = l.profile.stated(); err != nil {
		return o, err
	}
	if o.Base, err = l.profile.base(); err != nil {
		return o, err
	}
	if l.config != "" {
		if o.Config, err = lint.ReadConfig(l.config); err != nil {
			return o, unusable(fmt.Errorf("--config: %w", err))
		}
	}
	if err := l.checkSelection(o.Config); err != nil {
		return o, unusable(err)
	}
	switch {
	case l.writeBaseline && l.baseline == "":
		return o, unusable(errors.New("--write-baseline needs --baseline FILE"))
	case l.writeBaseline:
		l.accepted = lint.NewBaseline(l.baseline)
	case l.baseline != "":
		if o.Baseline, err = lint.ReadBaseline(l.baseline); err != nil {
			return o, unusable(fmt.Errorf("--baseline: %w", err))
		}
	}
	return o, nil
}

// checkSelection refuses a choice of rules that do not exist. Those of a user's policies may have any name.
func (l *lintCommand) checkSelection(config *lint.Config) error {
	err := l.selected.Check(len(l.policies)+len(config.PolicyDirs()) > 0)
	if err == nil || config != nil {
		return err
	}
	if here, findErr := lint.FindConfig("."); findErr == nil && len(here.PolicyDirs()) > 0 {
		return l.selected.Check(true)
	}
	return err
}

// print lints the paths and prints each file's findings as they come.
func (l *lintCommand) print(ctx context.Context, linter *lint.Linter, paths []string, targets []*target) error {
	for _, t := range targets {
		p, err := report.New(t.format, t.w, report.Options{
			Color: t.color, Width: t.width, ToolVersion: toolVersion(), Rules: lint.Rule,
			FailOn: finding.Severity(l.failOn.value),
		})
		if err != nil {
			return err
		}
		l.printers = append(l.printers, p)
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	if err := linter.Paths(ctx, paths, l.file); err != nil {
		return err
	}
	for i, p := range l.printers {
		if l.output.quiet && targets[i].format == "text" {
			continue // the summary fails no run
		}
		if err := p.Close(l.summary); err != nil {
			return err
		}
	}
	return nil
}

// file takes one file's result. What the baseline accepts, or --quiet leaves out, is not counted.
func (l *lintCommand) file(r lint.FileResult) error {
	if l.accepted != nil {
		l.accepted.Accept(&r)
	}
	if l.output.verbose {
		if err := l.say(r); err != nil {
			return err
		}
	}
	if l.output.quiet {
		r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return !l.failOn.fails(f.Severity) })
	}
	l.unusable = l.unusable || r.Unusable
	l.failed = l.failed || slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return l.failOn.fails(f.Severity) })
	l.summary.Add(r)
	for _, p := range l.printers {
		if err := p.File(r); err != nil {
			return err
		}
	}
	return nil
}

func (l *lintCommand) say(r lint.FileResult) error {
	what := fmt.Sprintf("%d findings, %d suppressed", len(r.Findings), r.Suppressed)
	if r.Skipped {
		what = "skipped: no template"
	}
	_, err := fmt.Fprintf(l.errOut, "%s: %s\n", printable(r.File), what)
	return err
}

// verdict chooses the exit status once everything is printed.
func (l *lintCommand) verdict(paths []string) error {
	switch {
	case l.unusable:
		return &exitError{code: ExitUnusable}
	case l.failed:
		return errFindings
	case l.summary.Templates > 0:
		return nil
	}
	where := "the current directory"
	if len(paths) > 0 {
		where = strings.Join(paths, ", ")
	}
	return unusable(fmt.Errorf("no template found in %s", where))
}

func (l *lintCommand) saveBaseline() error {
	data, err := l.accepted.Encode()
	if err != nil {
		return err
	}
	f, err := createFile(l.baseline)
	if err != nil {
		return err
	}
	_, writeErr := f.Write(data)
	if err := errors.Join(writeErr, f.finish(writeErr == nil)); err != nil {
		return err
	}
	if l.output.quiet {
		return nil
	}
	_, err = fmt.Fprintf(l.errOut, "%s: %d findings accepted\n", l.baseline, l.accepted.Len())
	return err
}
