package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// load reads the one template of a file, with the profile that the flags describe. Errors in it are printed as lint prints them.
func (p *profileFlags) load(ctx context.Context, file string, s Streams, color bool) (*lint.FileResult, error) {
	o := lint.Options{WithoutPolicies: true, Stdin: s.In}
	var err error
	if o.Profile, err = p.stated(); err != nil {
		return nil, err
	}
	if o.Base, err = p.base(); err != nil {
		return nil, err
	}
	width, _ := terminal(s.Err)
	printer, err := report.New("text", s.Err, report.Options{Color: color, Width: width, Rules: lint.Rule})
	if err != nil {
		return nil, err
	}
	l := loader{file: file, printer: printer}
	if err := lint.New(o).Paths(ctx, []string{file}, l.take); err != nil {
		return nil, unusable(err)
	}
	return l.only()
}

// loader keeps the one template of some files.
type loader struct {
	file    string // as the user named it
	printer report.Printer

	loaded           *lint.FileResult
	failed, unusable bool
}

// take takes one file's result, and prints what keeps its template from being composed.
func (l *loader) take(r lint.FileResult) error {
	if r.Template != nil {
		if l.loaded != nil {
			return fmt.Errorf("%s holds more than one template, %s and %s: name one", l.file, l.loaded.File, r.File)
		}
		l.loaded = &r
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Severity != finding.Error })
	l.failed = l.failed || len(r.Findings) > 0
	l.unusable = l.unusable || r.Unusable
	return l.printer.File(r)
}

// only returns the template, if there is one and it can be composed.
func (l *loader) only() (*lint.FileResult, error) {
	switch {
	case l.unusable:
		return nil, &exitError{code: ExitUnusable}
	case l.failed:
		return nil, &exitError{code: ExitFindings, err: fmt.Errorf("%s cannot be composed", l.file)}
	case l.loaded == nil:
		return nil, unusable(fmt.Errorf("no template found in %s", l.file))
	}
	return l.loaded, nil
}
