package report

import (
	"github.com/fatih/color"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// palette paints parts of the text format, or leaves them as they are.
type palette struct {
	bold, faint, gutter func(string) string
	red, yellow, cyan   func(string) string
}

func newPalette(on bool) palette {
	return palette{
		bold:   brush(on, color.Bold),
		faint:  brush(on, color.Faint),
		gutter: brush(on, color.FgBlue),
		red:    brush(on, color.FgRed, color.Bold),
		yellow: brush(on, color.FgYellow, color.Bold),
		cyan:   brush(on, color.FgCyan, color.Bold),
	}
}

func brush(on bool, attributes ...color.Attribute) func(string) string {
	if !on {
		return func(s string) string { return s }
	}
	c := color.New(attributes...)
	c.EnableColor() // the caller has decided; color's own look at the terminal does not count
	return func(s string) string { return c.Sprint(s) }
}

func (p palette) severity(s finding.Severity) func(string) string {
	switch s {
	case finding.Error:
		return p.red
	case finding.Warning:
		return p.yellow
	}
	return p.cyan
}
