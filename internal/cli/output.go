package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// outputFlags say where the report goes and how it looks.
type outputFlags struct {
	formats []string // FORMAT or FORMAT=FILE
	file    string   // where a FORMAT without a file goes; empty means standard output
	color   *choice
	quiet   bool
	verbose bool
}

// addOutputFlags adds the flags of a report in one of the formats; the first is the default.
func addOutputFlags(c *cobra.Command, formats []string) *outputFlags {
	o := &outputFlags{color: choiceFlag(c, "color", "auto", []string{"auto", "always", "never"}, "colour in text")}
	f := c.Flags()
	f.StringArrayVar(&o.formats, "format", nil,
		"output `FORMAT[=FILE]`, repeatable: "+strings.Join(formats, ", ")+" (default "+formats[0]+")")
	f.StringVar(&o.file, "output", "", "write to `FILE` instead of standard output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what fails the run")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on standard error what is done")
	complete(c, "format", formats)
	return o
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
	close  func(keep bool) error
}

// open opens every report that the flags ask for.
func (o *outputFlags) open(stdout io.Writer, known []string) ([]*target, error) {
	requests := o.formats
	if len(requests) == 0 {
		requests = []string{known[0]}
	}
	var out []*target
	stdoutTaken := false
	for _, r := range requests {
		format, file, named := strings.Cut(r, "=")
		if !contains(known, format) {
			return out, unusable(fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(known, ", ")))
		}
		if !named {
			if stdoutTaken {
				return out, unusable(fmt.Errorf("two formats for one place: write --format %s=FILE", format))
			}
			stdoutTaken, file = true, o.file
		}
		t, err := o.openTarget(format, file, stdout)
		if err != nil {
			return out, err
		}
		out = append(out, t)
	}
	if o.file != "" && !stdoutTaken {
		return out, unusable(errors.New("--output needs a --format without a file"))
	}
	return out, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (o *outputFlags) openTarget(format, file string, stdout io.Writer) (*target, error) {
	if file == "" || file == "-" {
		width, _ := terminal(stdout)
		buf := bufio.NewWriter(stdout)
		return &target{
			format: format, w: buf, width: width, color: o.colored(stdout),
			close: func(bool) error { return buf.Flush() },
		}, nil
	}
	f, err := createFile(file)
	if err != nil {
		return nil, unusable(err)
	}
	buf := bufio.NewWriter(f)
	return &target{format: format, w: buf, color: o.color.value == "always", close: func(keep bool) error {
		return errors.Join(buf.Flush(), f.finish(keep))
	}}, nil
}

// pendingFile is a file that gets its name only when it is whole.
type pendingFile struct {
	*os.File
	name string // empty when the file is written in place
}

// createFile starts a file beside the one that it will replace. What is no regular file, such as
// /dev/stdout, is written in place.
func createFile(name string) (*pendingFile, error) {
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		name = resolved
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a file to write", name)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names the file
		return &pendingFile{File: f}, err
	}
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+strconv.Itoa(os.Getpid())+".tmp")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // the user's umask decides who may read it
	if err != nil {
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return &pendingFile{File: f, name: name}, nil
}

// finish gives the file its name, or removes it.
func (f *pendingFile) finish(keep bool) error {
	if err := f.Close(); f.name == "" || err != nil && !keep {
		return err
	} else if err != nil || !keep {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.name); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// closeAll finishes every report; keep says whether files get their names.
func closeAll(targets []*target, keep bool) error {
	var errs []error
	for _, t := range targets {
		errs = append(errs, t.close(keep))
	}
	return errors.Join(errs...)
}
