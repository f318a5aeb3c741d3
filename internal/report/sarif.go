package report

import (
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sarif prints a SARIF 2.1.0 log, with what GitHub code scanning reads of it.
type sarif struct {
	findingBuffer
	w       io.Writer
	options Options
}

func newSARIF(w io.Writer, o Options) Printer { return &sarif{w: w, options: o} }

func (p *sarif) Close(lint.Summary) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: toolName, Version: p.options.ToolVersion, InformationURI: toolURI, Rules: []sarifRule{}}
	if semver().MatchString(p.options.ToolVersion) {
		run.Tool.Driver.SemanticVersion = strings.TrimPrefix(p.options.ToolVersion, "v")
	}
	index := map[string]int{}
	for _, f := range p.findings {
		i, known := index[f.Rule]
		if !known {
			i = len(run.Tool.Driver.Rules)
			index[f.Rule] = i
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, p.rule(f))
		}
		run.Results = append(run.Results, newSARIFResult(f, i))
	}
	return writeJSON(p.w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

var semver = lazyregexp.New(`^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// rule describes the rule of its first finding. A rule outside the catalogue (a user's) has only its name.
func (p *sarif) rule(f finding.Finding) sarifRule {
	r := sarifRule{ID: f.Rule, HelpURI: webURL(f.Docs)}
	known, ok := p.options.rule(f.Rule)
	if !ok {
		r.Properties.Tags = []string{string(f.Source)}
		return r
	}
	if r.HelpURI == "" && len(known.References) > 0 {
		r.HelpURI = webURL(known.References[0])
	}
	r.Short = newSARIFText(known.Title)
	r.Full = newSARIFText(known.Description)
	r.Help = sarifHelp(known)
	r.Config = &sarifConfig{sarifLevel(known.Severity)}
	r.Properties.Tags = sarifTags(known)
	return r
}

func sarifTags(r finding.Rule) []string {
	tags := []string{string(r.Source)}
	if r.PSS != nil {
		tags = append(tags, "pss-"+r.PSS.Level)
	}
	return tags
}

// sarifHelp is the rule's page in short: GitHub shows the markdown, other viewers the text.
func sarifHelp(r finding.Rule) *sarifText {
	plain := strings.TrimSpace(r.Description + "\n\n" + r.Remedy)
	if plain == "" {
		return nil
	}
	markdown := plain
	for _, example := range []struct{ title, yaml string }{{"Bad", r.Bad}, {"Good", r.Good}} {
		if example.yaml != "" {
			markdown += "\n\n**" + example.title + "**\n\n```yaml\n" + strings.TrimRight(example.yaml, "\n") + "\n```"
		}
	}
	return &sarifText{Text: plain, Markdown: markdown}
}

func newSARIFResult(f finding.Finding, rule int) sarifResult {
	r := sarifResult{
		RuleID:       f.Rule,
		RuleIndex:    rule,
		Level:        sarifLevel(f.Severity),
		Message:      sarifText{Text: sarifMessage(f)},
		Fingerprints: map[string]string{"kandevPodlint/v1": fingerprint(f)},
	}
	location := sarifLocation{Physical: sarifPhysical{Artifact: sarifURI(f.File), Region: newSARIFRegion(f)}}
	if f.Path != "" {
		location.Logical = []sarifLogical{{FullName: f.Path}}
	}
	r.Locations = []sarifLocation{location}
	return r
}

// sarifMessage keeps text of a template from becoming a link: SARIF viewers render [text](target).
func sarifMessage(f finding.Finding) string {
	message := f.Message
	if f.Remediation != "" {
		message += "\n" + f.Remediation
	}
	return strings.ReplaceAll(message, "](", "] (")
}

func newSARIFRegion(f finding.Finding) *sarifRegion {
	if f.Line <= 0 {
		return nil
	}
	r := &sarifRegion{StartLine: f.Line, StartColumn: max(f.Column, 0)}
	if f.EndLine >= f.Line && f.EndColumn > 0 {
		r.EndLine, r.EndColumn = f.EndLine, f.EndColumn
	}
	return r
}

func sarifLevel(s finding.Severity) string {
	switch s {
	case finding.Error:
		return "error"
	case finding.Warning:
		return "warning"
	}
	return "note"
}

// sarifURI makes a path a URI relative to the checkout, or a file URI where it is absolute.
func sarifURI(file string) sarifArtifact {
	file = repoPath(file)
	switch {
	case path.IsAbs(file):
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: file}).String()}
	case len(file) > 2 && file[1:3] == ":/": // a drive of Windows
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + file}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: file}).String(), Base: "%SRCROOT%"}
}

// webURL is the URL if it is one of the web's, which a template or a user's policy may not have made sure.
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return ""
	}
	return u.String()
}
