// Package report prints what linting found, one printer a format.
//
// A template is untrusted text. No printer lets it choose what a terminal, a CI runner, a browser or a
// parser does: characters that act instead of being shown are replaced where people read (see visible)
// and escaped without loss where programs read (see escapeJSON).
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// Printer prints one run in one format. Every error is one of the writer's, returned as it came.
type Printer interface {
	File(lint.FileResult) error // files arrive in their final order
	Close(lint.Summary) error   // prints what needs the whole run; the writer stays open
}

// Options shape the output. The zero value is good for a file.
type Options struct {
	Color       bool                                   // SGR colours, in text only
	Width       int                                    // the terminal's cells; 0 is unlimited
	ToolVersion string                                 // printed where a format names the tool's version
	Rules       func(name string) (finding.Rule, bool) // the catalogue; nil when there is none
	FailOn      finding.Severity                       // least severity that fails a junit or tap test; "" is error, an unknown one is never
}

// New returns the printer of a format, which writes to w. An unknown format's error lists the known ones.
func New(format string, w io.Writer, o Options) (Printer, error) {
	for _, f := range formats {
		if f.name == format {
			return f.open(w, o), nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Formats(), ", "))
}

// Formats lists the names that New knows, in the order in which help prints them.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

var formats = []struct {
	name string
	open func(io.Writer, Options) Printer
}{
	{"text", newText},
	{"json", newJSON},
	{"yaml", newYAML},
	{"sarif", newSARIF},
	{"junit", newJUnit},
	{"github", newGitHub},
	{"gitlab", newGitLab},
	{"checkstyle", newCheckstyle},
	{"tap", newTAP},
	{"html", newHTML},
}
