package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// text prints for people. It holds nothing of a file once that is printed.
type text struct {
	out       stream
	options   Options
	paint     palette
	explained map[string]bool // rules whose "more" line has been printed
}

func newText(w io.Writer, o Options) Printer {
	return &text{out: newStream(w), options: o, paint: newPalette(o.Color), explained: map[string]bool{}}
}

func (t *text) File(r lint.FileResult) error {
	lines := newSource(r)
	for _, f := range located(r) {
		t.finding(f, lines)
	}
	return t.out.Flush()
}

func (t *text) Close(s lint.Summary) error {
	t.out.print(summaryLine(s), "\n")
	return t.out.Flush()
}

func (t *text) finding(f finding.Finding, lines *source) {
	t.head(f)
	gutter := strings.Repeat(" ", len(strconv.Itoa(max(f.Line, 0)))+1)
	if e, ok := lines.excerpt(f, t.room(gutter)); ok {
		t.excerpt(f, e, gutter)
	}
	t.note(gutter, "path", f.Path)
	t.note(gutter, "help", f.Remediation)
	t.more(gutter, f.Rule)
	t.out.print("\n")
}

func (t *text) head(f finding.Finding) {
	severity := t.paint.severity(f.Severity)
	t.out.print(t.paint.bold(where(f)+":"), " ", severity(visible(string(f.Severity))+":"), " ",
		oneLine(f.Message), " ", t.paint.faint("["+visible(f.Rule)+"]"), "\n")
}

// room is how many cells the terminal leaves for a source line beside its gutter.
func (t *text) room(gutter string) int {
	if t.options.Width <= 0 {
		return maxExcerpt
	}
	return t.options.Width - len(gutter) - len("| ")
}

func (t *text) excerpt(f finding.Finding, e excerpt, gutter string) {
	bar := t.paint.gutter("|")
	line := strings.TrimRight(e.before+e.marked+e.after, " ")
	if line != "" {
		line = " " + line
	}
	mark := "^" + strings.Repeat("~", e.width-1)
	t.out.print(gutter, bar, "\n")
	t.out.print(t.paint.gutter(strconv.Itoa(f.Line)), " ", bar, line, "\n")
	t.out.print(gutter, bar, " ", strings.Repeat(" ", e.indent), t.paint.severity(f.Severity)(mark), "\n")
}

func (t *text) note(gutter, label, value string) {
	if value == "" {
		return
	}
	t.out.print(gutter, t.paint.gutter("="), " ", t.paint.bold(label+":"), " ", oneLine(value), "\n")
}

// more points at the rule's explanation, where there is one and the run has not pointed at it yet.
func (t *text) more(gutter, rule string) {
	if _, known := t.options.rule(rule); !known || t.explained[rule] {
		return
	}
	t.explained[rule] = true
	t.note(gutter, "more", toolName+" rules "+rule)
}
