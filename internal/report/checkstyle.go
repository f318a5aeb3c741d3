package report

import (
	"encoding/xml"
	"io"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// checkstyle prints the XML of Checkstyle, a file element for each file with findings.
type checkstyle struct {
	out    stream
	opened bool
}

type checkstyleFile struct {
	XMLName xml.Name          `xml:"file"`
	Name    string            `xml:"name,attr"`
	Errors  []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr,omitempty"`
	Column   int    `xml:"column,attr,omitempty"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

func newCheckstyle(w io.Writer, _ Options) Printer { return &checkstyle{out: newStream(w)} }

func (c *checkstyle) File(r lint.FileResult) error {
	c.open()
	for _, file := range checkstyleFiles(located(r)) {
		data, err := xml.MarshalIndent(file, "  ", "  ")
		if err != nil {
			return err
		}
		c.out.print(string(data), "\n")
	}
	return c.out.Flush()
}

func (c *checkstyle) Close(lint.Summary) error {
	c.open()
	c.out.print("</checkstyle>\n")
	return c.out.Flush()
}

func (c *checkstyle) open() {
	if !c.opened {
		c.opened = true
		c.out.print(xml.Header, `<checkstyle version="10.0">`, "\n") // the format's version, not the tool's
	}
}

// checkstyleFiles groups findings by file: a profile's may stand in the template that it names.
func checkstyleFiles(fs []finding.Finding) []checkstyleFile {
	var files []checkstyleFile
	for _, f := range fs {
		name := visible(f.File)
		if n := len(files); n == 0 || files[n-1].Name != name {
			files = append(files, checkstyleFile{Name: name})
		}
		last := &files[len(files)-1]
		last.Errors = append(last.Errors, newCheckstyleError(f))
	}
	return files
}

func newCheckstyleError(f finding.Finding) checkstyleError {
	e := checkstyleError{
		Line:     max(f.Line, 0),
		Column:   max(f.Column, 0),
		Severity: visible(string(f.Severity)),
		Message:  oneLine(f.Message),
		Source:   toolName + "." + visible(f.Rule),
	}
	if f.Remediation != "" {
		e.Message += "\nhelp: " + oneLine(f.Remediation)
	}
	return e
}
