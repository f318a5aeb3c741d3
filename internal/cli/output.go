package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// outputFlags say where a report goes and how it looks.
type outputFlags struct {
	known   []string // the command's formats; the first is the default
	formats []string // FORMAT or FORMAT=FILE
	file    string   // where a FORMAT without a file goes; empty means standard output
	color   *choice
	quiet   bool
	verbose bool
}

// addOutputFlags adds the flags of a report in one of the formats.
func addOutputFlags(c *cobra.Command, formats []string) *outputFlags {
	o := &outputFlags{known: formats, color: addColor(c)}
	f := c.Flags()
	f.StringArrayVar(&o.formats, "format", nil,
		"output `FORMAT[=FILE]`, repeatable: "+strings.Join(formats, ", ")+" (default "+formats[0]+")")
	f.StringVar(&o.file, "output", "", "write to `FILE` instead of standard output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what fails the run")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say more of what is done")
	complete(c, "format", formats)
	return o
}

func addColor(c *cobra.Command) *choice {
	return choiceFlag(c, "color", "WHEN", "auto", []string{"auto", "always", "never"}, "colour in text")
}

// colored reports whether text to w is coloured.
func (o *outputFlags) colored(w io.Writer) bool {
	switch o.color.value {
	case "always":
		return true
	case "never":
		return false
	}
	_, isTerminal := terminal(w)
	return isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// target is one report: its format and where it goes.
type target struct {
	format string
	w      io.Writer
	width  int
	color  bool
	flush  func() error
	close  func(keep bool) error
}

// write opens every report that the flags ask for and has them filled. Files appear only if all went well.
func (o *outputFlags) write(stdout io.Writer, fill func([]*target) error) error {
	targets, err := o.open(stdout)
	if err == nil {
		err = fill(targets)
	}
	for _, t := range targets {
		if closeErr := t.close(err == nil); err == nil {
			err = closeErr
		}
	}
	return unusable(err)
}

// each is a fill that prints one report after another.
func each(printTo func(*target) error) func([]*target) error {
	return func(targets []*target) error {
		for _, t := range targets {
			if err := printTo(t); err != nil {
				return err
			}
		}
		return nil
	}
}

// open opens every report that the flags ask for; those before an error are returned with it.
func (o *outputFlags) open(stdout io.Writer) ([]*target, error) {
	requests, err := o.requests()
	if err != nil {
		return nil, err
	}
	var out []*target
	for _, r := range requests {
		t, err := o.openTarget(r.format, r.file, stdout)
		if err != nil {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
}

// request is one --format.
type request struct{ format, file string }

// requests reads the flags: known formats, each for a place of its own.
func (o *outputFlags) requests() ([]request, error) {
	formats := o.formats
	if len(formats) == 0 {
		formats = o.known[:1]
	}
	var out []request
	taken := map[string]bool{}
	unnamed := false
	for _, s := range formats {
		format, file, named := strings.Cut(s, "=")
		if !slices.Contains(o.known, format) {
			return nil, fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(o.known, ", "))
		}
		if named && file == "" {
			return nil, fmt.Errorf("--format %s= names no file", format)
		}
		if !named {
			file, unnamed = o.file, true
		}
		if file == "-" {
			file = ""
		}
		if taken[file] {
			return nil, fmt.Errorf("two formats for one place: write --format %s=FILE with a file of its own", format)
		}
		taken[file] = true
		out = append(out, request{format, file})
	}
	if o.file != "" && !unnamed {
		return nil, errors.New("--output needs a --format without a file")
	}
	return out, nil
}

func (o *outputFlags) openTarget(format, file string, stdout io.Writer) (*target, error) {
	if file == "" {
		width, _ := terminal(stdout)
		buf := bufio.NewWriter(stdout)
		return &target{
			format: format, w: buf, width: width, color: o.colored(stdout), flush: buf.Flush,
			close: func(bool) error { return buf.Flush() },
		}, nil
	}
	f, err := createFile(file)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriter(f)
	return &target{format: format, w: buf, color: o.color.value == "always", flush: buf.Flush, close: func(keep bool) error {
		err := buf.Flush()
		return errors.Join(err, f.finish(keep && err == nil))
	}}, nil
}
