package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// probeCommand is one run of probe.
type probeCommand struct {
	profile *profileFlags
	output  *outputFlags
	cluster *clusterFlags
	options executor.ProbeOptions
}

func newProbe() *cobra.Command {
	p := &probeCommand{}
	c := &cobra.Command{
		Use:   "probe TEMPLATE",
		Short: "Prove that a cluster can run the sessions of a template",
		Long: `Prove step by step that a cluster can run sessions of a template: contact and credentials, each permission
that the executor needs, admission of the session's objects, and, on a disposable Pod of the template's main
container, exec and port-forward over WebSocket and SPDY, the tools of the image, and the owned volumes. The
Pod is deleted and waited for, also after an interrupt. With --no-pod nothing is created.`,
		Example: `  kandev-podlint probe template.yaml -n kandev
  kandev-podlint probe profile.yaml --no-pod --format json`,
		Args: arguments(1, 1, "TEMPLATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.run(c.Context(), args[0], streamsOf(c))
		},
	}
	p.profile = addProfileFlags(c)
	p.output = addOutputFlags(c, report.ProbeFormats())
	p.cluster = addClusterFlags(c)
	f := c.Flags()
	f.BoolVar(&p.options.WithoutPod, "no-pod", false, "leave out everything that creates an object")
	f.DurationVar(&p.options.StartTimeout, "start-timeout", executor.DefaultStartTimeout, "`TIME` that the Pod may take to run")
	return c
}

func (p *probeCommand) run(ctx context.Context, file string, s Streams) error {
	loaded, err := p.profile.load(ctx, file, s, p.output.colored(s.Err))
	if err != nil {
		return err
	}
	client, namespace, err := p.cluster.connect()
	if err != nil {
		return err
	}
	if p.output.verbose {
		sayProfile(s.Err, loaded)
	}
	p.options.Template, p.options.Profile, p.options.Namespace = loaded.Template, loaded.Profile, namespace
	var result executor.ProbeReport
	err = p.output.write(s.Out, func(targets []*target) error {
		result, err = p.probe(ctx, client, targets, newStatusLine(s.Err))
		return err
	})
	switch {
	case err != nil:
		return err
	case result.Interrupted:
		return unusable(ctx.Err())
	}
	return probeStatus(result)
}

// probe runs the probe and prints each step to every target as it is done.
func (p *probeCommand) probe(ctx context.Context, client *executor.Client, targets []*target, status *statusLine) (executor.ProbeReport, error) {
	var printers []report.Probe
	for _, t := range targets {
		printer, err := report.NewProbe(t.format, t.w, report.ProbeOptions{
			Color: t.color, Quiet: p.output.quiet, Verbose: p.output.verbose,
		})
		if err != nil {
			return executor.ProbeReport{}, err
		}
		printers = append(printers, printer)
	}
	var failed error
	tell := func(say func(report.Probe) error) {
		for i, printer := range printers {
			if err := say(printer); err != nil && failed == nil {
				failed = err
			}
			if err := targets[i].flush(); err != nil && failed == nil {
				failed = err
			}
		}
	}
	p.options.Observe = func(progress executor.Progress) {
		status.clear()
		if !progress.Done {
			status.show(progress.Step.Message)
			return
		}
		tell(func(printer report.Probe) error { return printer.Step(progress.Step) })
	}
	result, err := client.Probe(ctx, p.options)
	status.clear()
	if err != nil {
		return result, err
	}
	tell(func(printer report.Probe) error { return printer.Close(result) })
	return result, failed
}

// probeStatus chooses the exit status: 3 where the cluster did not answer as a cluster should, 1 for what it found.
func probeStatus(r executor.ProbeReport) error {
	if r.Passed {
		return nil
	}
	for _, s := range r.Steps {
		if s.Verdict == executor.Fail && !s.Optional && s.Reason.ClusterTrouble() {
			return &exitError{code: ExitCluster}
		}
	}
	return errFindings
}

// statusLine is a line of a terminal that says what is being waited for. Without a terminal it is nothing.
type statusLine struct {
	w     *bufio.Writer
	width int
	shown bool
}

func newStatusLine(w io.Writer) *statusLine {
	width, ok := terminal(w)
	if !ok {
		return &statusLine{}
	}
	return terminalLine(w, width)
}

func terminalLine(w io.Writer, width int) *statusLine {
	return &statusLine{w: bufio.NewWriter(w), width: width}
}

func (s *statusLine) show(text string) {
	if s.w == nil {
		return
	}
	text = printable(text)
	if runes, room := []rune(text), s.width-len(waitingMark)-1; room > 0 && len(runes) > room {
		text = string(runes[:room])
	}
	fmt.Fprint(s.w, text, waitingMark)
	_ = s.w.Flush()
	s.shown = true
}

// waitingMark ends a line about something that goes on.
const waitingMark = " ..."

// clear takes the line away.
func (s *statusLine) clear() {
	if s.shown {
		fmt.Fprint(s.w, "\r\x1b[K")
		_ = s.w.Flush()
		s.shown = false
	}
}
