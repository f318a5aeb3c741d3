package report

import (
	"fmt"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/lint"
)

// summaryLine says a run in one line: "3 templates, 1 error, 2 warnings (4 other files skipped)".
func summaryLine(s lint.Summary) string {
	parts := []string{count(s.Templates, "template")}
	if s.Errors+s.Warnings+s.Infos == 0 {
		parts = append(parts, "no findings")
	} else {
		parts = append(parts, severities(s))
	}
	if s.Suppressed > 0 {
		parts = append(parts, fmt.Sprintf("%d suppressed", s.Suppressed))
	}
	return strings.Join(parts, ", ") + skippedNote(s)
}

// severities counts findings: "1 error, 2 warnings", without the severities that did not occur.
func severities(s lint.Summary) string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Infos, "info"}} {
		if c.n > 0 {
			parts = append(parts, count(c.n, c.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func skippedNote(s lint.Summary) string {
	switch {
	case s.Skipped == 0:
		return ""
	case s.Files == 0:
		return fmt.Sprintf(" (%s skipped)", count(s.Skipped, "file"))
	}
	return fmt.Sprintf(" (%s skipped)", count(s.Skipped, "other file"))
}

func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
