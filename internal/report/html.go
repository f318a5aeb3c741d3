package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

//go:embed page.html.tmpl
var pageSource string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })

// html prints one page that needs nothing else: no script, no font, no image, no request.
type html struct {
	w       io.Writer
	options Options
	files   []htmlFile
}

type htmlFile struct {
	Name     string
	Findings []htmlFinding
}

// Classes name the severities in the file, so that it disappears once all of them are filtered out.
func (f htmlFile) Classes() string {
	var classes []string
	for _, x := range f.Findings {
		if c := "has-" + x.Class; !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	return strings.Join(classes, " ")
}

type htmlFinding struct {
	Class                       string // error, warning or info
	Place, Message, Help        string
	Rule, Docs, Path, Container string
	PSS                         string
	Line                        int
	Source                      *htmlSource
}

type htmlSource struct{ Before, Marked, After string }

type htmlFilter struct {
	Class, Label string
}

type htmlPage struct {
	Summary string
	Version string
	Filters []htmlFilter
	Files   []htmlFile
}

func newHTML(w io.Writer, o Options) Printer { return &html{w: w, options: o} }

func (h *html) File(r lint.FileResult) error {
	if len(r.Findings) == 0 {
		return nil
	}
	lines := newSource(r)
	file := htmlFile{Name: visible(r.File)}
	for _, f := range located(r) {
		file.Findings = append(file.Findings, newHTMLFinding(f, lines))
	}
	h.files = append(h.files, file)
	return nil
}

func (h *html) Close(s lint.Summary) error {
	page := htmlPage{Summary: summaryLine(s), Version: visible(h.options.ToolVersion), Filters: htmlFilters(s), Files: h.files}
	out := newStream(h.w)
	if err := pageTemplate().Execute(out, page); err != nil {
		return err
	}
	return out.Flush()
}

// htmlFilters are the check boxes; a page with findings of one severity needs none.
func htmlFilters(s lint.Summary) []htmlFilter {
	var filters []htmlFilter
	for _, f := range []struct {
		class string
		n     int
	}{{"error", s.Errors}, {"warning", s.Warnings}, {"info", s.Infos}} {
		if f.n > 0 {
			filters = append(filters, htmlFilter{f.class, count(f.n, f.class)})
		}
	}
	if len(filters) < 2 {
		return nil
	}
	return filters
}

func newHTMLFinding(f finding.Finding, lines *source) htmlFinding {
	out := htmlFinding{
		Class:     htmlClass(f.Severity),
		Place:     htmlPlace(f, lines.file),
		Message:   oneLine(f.Message),
		Help:      oneLine(f.Remediation),
		Rule:      visible(f.Rule),
		Docs:      webURL(f.Docs),
		Path:      visible(f.Path),
		Container: visible(f.Container),
		Line:      f.Line,
	}
	if f.PSS != nil {
		out.PSS = visible(f.PSS.Level)
	}
	if e, ok := lines.excerpt(f, maxExcerpt); ok {
		out.Source = &htmlSource{e.before, e.marked, e.after}
	}
	return out
}

// htmlPlace places a finding beneath its file's heading, which names the file already.
func htmlPlace(f finding.Finding, heading string) string {
	var parts []string
	if f.File != heading {
		parts = append(parts, visible(f.File))
	}
	if f.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", f.Line))
		if f.Column > 0 {
			parts = append(parts, fmt.Sprintf("column %d", f.Column))
		}
	}
	return strings.Join(parts, ", ")
}

func htmlClass(s finding.Severity) string {
	if s.Rank() == 0 {
		return string(finding.Info)
	}
	return string(s)
}
