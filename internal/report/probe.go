package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

// ProbeFormats lists the formats that NewProbe knows.
func ProbeFormats() []string { return []string{"text", "json", "yaml"} }

// Probe prints one probe. Every error is the writer's.
type Probe interface {
	Step(executor.Step) error // as soon as it is done
	Close(executor.ProbeReport) error
}

// ProbeOptions shape the output. The zero value is good for a file.
type ProbeOptions struct {
	Color   bool // SGR colours, in text only
	Quiet   bool // only what failed, in text only
	Verbose bool // what was skipped too, in text; json and yaml always hold it
}

// NewProbe returns the printer of a format. An unknown format's error lists the known ones.
func NewProbe(format string, w io.Writer, o ProbeOptions) (Probe, error) {
	switch format {
	case "text":
		return &probeText{out: newStream(w), paint: newPalette(o.Color), options: o}, nil
	case "json":
		return &probeWhole{w, writeJSON}, nil
	case "yaml":
		return &probeWhole{w, writeYAML}, nil
	}
	return nil, fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(ProbeFormats(), ", "))
}

// probeWhole prints the report at its end, for programs.
type probeWhole struct {
	w     io.Writer
	write func(io.Writer, any) error
}

func (p *probeWhole) Step(executor.Step) error           { return nil }
func (p *probeWhole) Close(r executor.ProbeReport) error { return p.write(p.w, r) }

func writeYAML(w io.Writer, v any) error {
	data, err := encodeYAML(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// probeText prints a line a step as it is done, for people.
type probeText struct {
	out     stream
	paint   palette
	options ProbeOptions
}

// keyWidth is the cells of a step's key in the list; the longest permission's fits.
const keyWidth = len("permission-persistentvolumeclaims-create") + 1

func (p *probeText) Step(s executor.Step) error {
	if p.options.Quiet && s.Verdict != executor.Fail || !p.options.Verbose && s.Verdict == executor.Skipped {
		return nil
	}
	line := p.mark(s) + " " + pad(visible(s.Key), keyWidth) + oneLine(s.Message)
	if s.Milliseconds >= slowStep.Milliseconds() {
		line += p.paint.faint(fmt.Sprintf(" (%.1f s)", float64(s.Milliseconds)/1000))
	}
	p.out.print(line, "\n")
	for _, d := range s.Details {
		p.note("note", d)
	}
	if s.Optional {
		p.note("note", "sessions can do without it")
	} else {
		p.note("help", s.Remedy)
	}
	return p.out.Flush()
}

// slowStep is the time from which a step's duration is worth a reader's while; json has them all.
const slowStep = 200 * time.Millisecond

// mark is a verdict in one cell.
func (p *probeText) mark(s executor.Step) string {
	switch {
	case s.Verdict == executor.Pass:
		return "✓"
	case s.Verdict == executor.Skipped:
		return p.paint.faint("-")
	case s.Optional:
		return p.paint.yellow("!")
	}
	return p.paint.red("✗")
}

func (p *probeText) note(label, text string) {
	if text != "" {
		p.out.print("   ", p.paint.gutter("="), " ", p.paint.bold(label+":"), " ", oneLine(text), "\n")
	}
}

func (p *probeText) Close(r executor.ProbeReport) error {
	if !p.options.Quiet || !r.Passed {
		p.out.print(p.sum(r), "\n")
	}
	return p.out.Flush()
}

// sum is the last line: "✗ 1 of 24 steps failed, 10 skipped".
func (p *probeText) sum(r executor.ProbeReport) string {
	failed, skipped := 0, 0
	for _, s := range r.Steps {
		switch {
		case s.Verdict == executor.Skipped:
			skipped++
		case s.Verdict == executor.Fail && !s.Optional:
			failed++
		}
	}
	var left string
	if skipped > 0 {
		left = fmt.Sprintf(", %d skipped", skipped)
	}
	switch {
	case r.Interrupted:
		return p.paint.red("✗") + " interrupted" + left
	case failed > 0:
		return p.paint.red("✗") + fmt.Sprintf(" %d of %s failed%s", failed, count(len(r.Steps), "step"), left)
	}
	return "✓ " + count(len(r.Steps)-skipped, "step") + " passed" + left
}
