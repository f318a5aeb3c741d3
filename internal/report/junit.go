package report

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// junit prints a test case for each file. A case has one failure element at most, with all the findings in
// it, because readers of the format show only the first; findings below FailOn go to the case's output.
type junit struct {
	w       io.Writer
	options Options
	suite   junitSuite
}

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Failure *junitFailure `xml:"failure"`
	Output  *junitText    `xml:"system-out"`
}

type junitText struct {
	Text string `xml:",cdata"` // so that lines stay lines
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

func newJUnit(w io.Writer, o Options) Printer {
	return &junit{w: w, options: o, suite: junitSuite{Name: toolName}}
}

func (j *junit) File(r lint.FileResult) error {
	if r.Skipped && len(r.Findings) == 0 {
		return nil
	}
	name := visible(r.File)
	c := junitCase{Name: name, Class: toolName, File: name}
	if fs := located(r); anyFails(j.options, fs) {
		j.suite.Failures++
		c.Failure = newJUnitFailure(fs)
	} else if len(fs) > 0 {
		c.Output = &junitText{junitLines(fs)}
	}
	j.suite.Tests++
	j.suite.Cases = append(j.suite.Cases, c)
	return nil
}

func (j *junit) Close(lint.Summary) error {
	s := junitSuites{Name: toolName, Tests: j.suite.Tests, Failures: j.suite.Failures, Suite: j.suite}
	data, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, xml.Header+string(data)+"\n")
	return err
}

func newJUnitFailure(fs []finding.Finding) *junitFailure {
	var s lint.Summary
	s.Add(lint.FileResult{Findings: fs})
	return &junitFailure{Message: severities(s), Type: string(gravest(fs)), Text: junitLines(fs)}
}

func junitLines(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString("\n" + headline(f))
		if f.Remediation != "" {
			b.WriteString("\n  help: " + oneLine(f.Remediation))
		}
	}
	return b.String() + "\n"
}

func anyFails(o Options, fs []finding.Finding) bool {
	for _, f := range fs {
		if o.fails(f) {
			return true
		}
	}
	return false
}

func gravest(fs []finding.Finding) finding.Severity {
	worst := fs[0].Severity
	for _, f := range fs {
		if f.Severity.Rank() > worst.Rank() {
			worst = f.Severity
		}
	}
	return worst
}
