package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// tap prints a test point for each file, its findings in a YAML block. It names version 13, which every
// reader takes, and prints only what version 14 understands in the same way.
type tap struct {
	out     stream
	options Options
	points  int
}

func newTAP(w io.Writer, o Options) Printer { return &tap{out: newStream(w), options: o} }

func (t *tap) File(r lint.FileResult) error {
	if r.Skipped && len(r.Findings) == 0 {
		return nil
	}
	t.open()
	t.points++
	fs := located(r)
	verdict := "ok"
	if anyFails(t.options, fs) {
		verdict = "not ok"
	}
	t.out.print(fmt.Sprintf("%s %d - %s\n", verdict, t.points, tapEscape.Replace(visible(r.File))))
	t.block(fs)
	return t.out.Flush()
}

func (t *tap) Close(s lint.Summary) error {
	t.open()
	t.out.print(fmt.Sprintf("1..%d\n# %s\n", t.points, summaryLine(s)))
	return t.out.Flush()
}

func (t *tap) open() {
	if t.points == 0 {
		t.out.print("TAP version 13\n")
	}
}

// block prints the findings with every string quoted, which the smallest YAML readers understand.
func (t *tap) block(fs []finding.Finding) {
	if len(fs) == 0 {
		return
	}
	t.out.print("  ---\n  findings:\n")
	for _, f := range fs {
		t.out.print("    - rule: ", tapQuote(f.Rule), "\n")
		t.field("severity", string(f.Severity))
		t.field("message", f.Message)
		t.field("help", f.Remediation)
		t.field("path", f.Path)
		t.field("at", where(f))
	}
	t.out.print("  ...\n")
}

func (t *tap) field(name, value string) {
	if value != "" {
		t.out.print("      ", name, ": ", tapQuote(value), "\n")
	}
}

func tapQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s)) + `"`
}

// tapEscape keeps a # in a file's name from opening a directive.
var tapEscape = strings.NewReplacer(`\`, `\\`, "#", `\#`)
