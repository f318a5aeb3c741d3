package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// DiffOptions shape the output of Diff. The zero value is good for a file.
type DiffOptions struct {
	Color bool // SGR colours, in text only
	All   bool // list accepted changes in text; json and yaml always do
}

// DiffFormats lists the formats that Diff knows.
func DiffFormats() []string { return []string{"text", "json", "yaml"} }

// Comparison is what diff prints: a report, and what a cluster said beside it.
type Comparison struct {
	admission.Report
	Warnings []string  `json:"warnings,omitempty"` // of the API server, in its order
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is an object that the API server would not create.
type Refusal struct {
	Object  string                `json:"object"` // its kind
	Reason  executor.Reason       `json:"reason"`
	Subject string                `json:"subject,omitempty"` // the webhook, policy, quota, class or account that was named
	Message string                `json:"message"`
	Remedy  string                `json:"remedy,omitempty"`
	Fields  []executor.FieldError `json:"fields,omitempty"`
}

// Refuse takes an error of the API server about an object into the comparison. What is no refusal comes back.
func (c *Comparison) Refuse(object string, err error) error {
	e, ok := errors.AsType[*executor.Error](err)
	if !ok || !e.Reason.Refusal() {
		return err
	}
	c.Refusals = append(c.Refusals, Refusal{
		Object: object, Reason: e.Reason, Subject: e.Subject, Message: e.Error(), Remedy: e.Remedy(), Fields: e.Fields,
	})
	return nil
}

// Complete returns the comparison with everything filled in that an object which was refused left out.
func (c Comparison) Complete() Comparison {
	if len(c.Refusals) == 0 {
		return c
	}
	whole := admission.ComparePVC(nil, nil, admission.Options{}) // a report of nothing
	whole.Compatible = false
	whole.Grants = append(whole.Grants, c.Grants...)
	whole.Violations = append(whole.Violations, c.Violations...)
	whole.Escalations = append(whole.Escalations, c.Escalations...)
	whole.Accepted = append(whole.Accepted, c.Accepted...)
	c.Report = whole
	return c
}

// Diff prints a comparison of what was requested with what was admitted. Every error but that of an unknown format is the
// writer's.
func Diff(w io.Writer, format string, r Comparison, o DiffOptions) error {
	switch format {
	case "text":
		d := diffText{out: newStream(w), report: r, options: o, paint: newPalette(o.Color)}
		d.print()
		return d.out.Flush()
	case "json":
		return writeJSON(w, r)
	case "yaml":
		return writeYAML(w, r)
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(DiffFormats(), ", "))
}

// diffText prints a comparison for people: the grants, what is wrong, what gained a privilege, what else
// changed, and the sum.
type diffText struct {
	out     stream
	report  Comparison
	options DiffOptions
	paint   palette
}

func (d *diffText) print() {
	for _, w := range d.report.Warnings {
		d.out.print(d.paint.yellow("cluster warning:"), " ", oneLine(w), "\n")
	}
	for _, r := range d.report.Refusals {
		d.refusal(r)
	}
	d.grants()
	for _, v := range d.report.Violations {
		d.violation(v)
	}
	for _, f := range d.report.Escalations {
		d.escalation(f)
	}
	if d.options.All {
		d.accepted()
	}
	d.out.print(d.sum(), "\n")
}

// refusal prints why an object was not admitted.
func (d *diffText) refusal(r Refusal) {
	d.out.print(d.paint.bold(visible(r.Object)+":"), " ", d.paint.red("refused:"), " ", oneLine(r.Message), " ",
		d.paint.faint("["+visible(string(r.Reason))+"]"), "\n")
	for _, f := range r.Fields {
		d.out.print("   ", d.paint.gutter("="), " ", d.paint.bold(oneLine(f.Field)+":"), " ", oneLine(f.Message), "\n")
	}
	if r.Remedy != "" {
		d.out.print("   ", d.paint.gutter("="), " ", d.paint.bold("help:"), " ", oneLine(r.Remedy), "\n")
	}
}

// grants prints the table of grants, where there is one.
func (d *diffText) grants() {
	if len(d.report.Grants) == 0 {
		return
	}
	width := len("GRANT TO")
	for _, g := range d.report.Grants {
		width = max(width, displaywidth.String(shownPath(g.Container)))
	}
	d.out.print(d.paint.bold(pad("GRANT TO", width+3)+pad("REQUESTED", modeWidth)+"ADMITTED"), "\n")
	for _, g := range d.report.Grants {
		d.out.print(pad(shownPath(g.Container), width+3), pad(modeName(g.Requested), modeWidth), pad(modeName(g.Admitted), modeWidth+1), d.verdict(g.Verdict), "\n")
	}
}

// modeWidth is how many cells a mode's column takes, the gap after it with them.
const modeWidth = len("read-write") + 2

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displaywidth.String(s)))
}

func modeName(m compose.GrantMode) string {
	switch m {
	case compose.GrantReadOnly:
		return "read-only"
	case compose.GrantReadWrite:
		return "read-write"
	}
	return visible(string(m))
}

func (d *diffText) verdict(v admission.Verdict) string {
	if v == admission.GrantSame {
		return string(v)
	}
	return d.paint.red(strings.ToUpper(visible(string(v))) + " by admission")
}

func (d *diffText) violation(v admission.Violation) {
	d.out.print(d.paint.bold(shownPath(oneLine(v.Path))+":"), " ", d.paint.red("violation:"), " ", oneLine(v.Message), " ",
		d.paint.faint("["+visible(v.Rule)+"]"), "\n")
	d.value("requested", v.Requested)
	d.value("admitted", v.Admitted)
}

// value prints one side of a violation. A value of several parts takes a line a part.
func (d *diffText) value(label, value string) {
	if value == "" {
		d.out.print("   ", d.paint.gutter("="), " ", d.paint.bold(label+":"), " ", d.paint.faint("(nothing)"), "\n")
		return
	}
	for i, line := range strings.Split(value, "\n") {
		lead := "   " + d.paint.gutter("=") + " " + d.paint.bold(label+":") + " "
		if i > 0 {
			// The bar also keeps the text from the start of the line, where a CI runner looks for commands.
			lead = "   " + d.paint.gutter("|") + strings.Repeat(" ", len(" ")+len(label)+len(": "))
		}
		if i == maxParts {
			d.out.print(lead, d.paint.faint("..."), "\n")
			return
		}
		d.out.print(lead, shorten(oneLine(line)), "\n")
	}
}

const (
	maxParts = 8   // lines of one value
	maxValue = 160 // characters of one line
)

// shorten cuts a long value; json has all of it.
func shorten(s string) string {
	runes := []rune(s)
	if len(runes) <= maxValue {
		return s
	}
	return fmt.Sprintf("%s... (%d characters)", string(runes[:maxValue]), len(runes))
}

func (d *diffText) escalation(f finding.Finding) {
	place := f.Path
	if place == "" {
		place = f.Container
	}
	d.out.print(d.paint.bold(shownPath(oneLine(place))+":"), " ", d.paint.yellow("escalation:"), " ", oneLine(f.Message), " ",
		d.paint.faint("["+visible(f.Rule)+"]"), "\n")
}

// signs mark the kinds of change as diff does.
var signs = map[admission.ChangeKind]string{admission.Added: "+", admission.Removed: "-", admission.Changed: "~"}

func (d *diffText) accepted() {
	for _, c := range d.report.Accepted {
		d.out.print(d.paint.faint(signs[c.Kind]+" "+oneLine(c.Path)), "\n")
	}
}

// sum is the last line: "✗ 1 violation, 1 escalation, 12 accepted changes (--all lists them)".
func (d *diffText) sum() string {
	r := d.report
	var parts []string
	if n := len(r.Refusals); n > 0 {
		parts = append(parts, count(n, "object")+" refused")
	}
	if n := len(r.Violations); n > 0 {
		parts = append(parts, count(n, "violation"))
	}
	if len(r.Escalations) > 0 {
		parts = append(parts, count(len(r.Escalations), "escalation"))
	}
	if n := len(r.Accepted); n > 0 {
		accepted := count(n, acceptedNoun(r.Accepted))
		if !d.options.All {
			accepted += " (--all lists them)"
		}
		parts = append(parts, accepted)
	}
	if !r.Compatible {
		return d.paint.red("✗") + " " + strings.Join(parts, ", ")
	}
	if len(parts) == 0 {
		parts = []string{"admitted as requested"}
	}
	return "✓ " + strings.Join(append([]string{"compatible"}, parts...), ", ")
}

// acceptedNoun calls changes additions where nothing was changed or removed.
func acceptedNoun(changes []admission.Change) string {
	for _, c := range changes {
		if c.Kind != admission.Added {
			return "accepted change"
		}
	}
	return "accepted addition"
}
