package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// github prints workflow commands of GitHub Actions, which become annotations.
type github struct{ out stream }

func newGitHub(w io.Writer, _ Options) Printer { return &github{newStream(w)} }

func (g *github) File(r lint.FileResult) error {
	for _, f := range located(r) {
		g.out.print("::", githubCommand(f.Severity), " ", githubProperties(f), "::", githubData.Replace(githubMessage(f)), "\n")
	}
	return g.out.Flush()
}

func (g *github) Close(lint.Summary) error { return g.out.Flush() }

func githubCommand(s finding.Severity) string {
	switch s {
	case finding.Error:
		return "error"
	case finding.Warning:
		return "warning"
	}
	return "notice"
}

// githubProperties places the annotation. GitHub's end is inclusive, and it refuses columns that span lines.
func githubProperties(f finding.Finding) string {
	props := []string{"title=" + githubProperty.Replace(visible(f.Rule)), "file=" + githubProperty.Replace(visible(repoPath(f.File)))}
	if f.Line <= 0 {
		return strings.Join(props, ",")
	}
	props = append(props, fmt.Sprintf("line=%d", f.Line))
	last := lastLine(f)
	switch {
	case last > f.Line:
		props = append(props, fmt.Sprintf("endLine=%d", last))
	case f.Column > 0:
		props = append(props, fmt.Sprintf("endLine=%d", last), fmt.Sprintf("col=%d", f.Column), fmt.Sprintf("endColumn=%d", lastColumn(f)))
	}
	return strings.Join(props, ",")
}

// lastColumn is the column of a finding's last character, for one that stays on its line.
func lastColumn(f finding.Finding) int {
	if f.EndLine > f.Line {
		return f.Column
	}
	return max(f.EndColumn-1, f.Column)
}

func githubMessage(f finding.Finding) string {
	if f.Remediation == "" {
		return oneLine(f.Message)
	}
	return oneLine(f.Message) + "\n" + oneLine(f.Remediation)
}

// The escapes of the runner's ActionCommand and of @actions/core, for a command's message and its properties.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
