package lint

import (
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// fromViolation puts a violation of a rule of pkg/compose in the form that is reported.
func fromViolation(v compose.Violation, d *compose.Document) finding.Finding {
	f := finding.Finding{
		Rule: v.Rule, Severity: v.Severity, Source: v.Source,
		Message: v.Detail, Remediation: v.Remedy, Container: v.Container,
	}
	if v.Path != nil {
		f.Path = v.Path.String()
	}
	at := v.Place
	if at.IsZero() && d != nil {
		at = d.Locate(f.Path)
	}
	setPlace(&f, at)
	return f
}

func setPlace(f *finding.Finding, r compose.Range) {
	f.Line, f.Column = r.Start.Line, r.Start.Column
	f.EndLine, f.EndColumn = r.End.Line, r.End.Column
}
