package report

import (
	"io"
	"strconv"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// gitlab prints a Code Quality report: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
type gitlab struct {
	findingBuffer
	w io.Writer
}

type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
	Content     *gitlabContent `json:"content,omitempty"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

type gitlabContent struct {
	Body string `json:"body"`
}

func newGitLab(w io.Writer, _ Options) Printer { return &gitlab{w: w} }

func (g *gitlab) Close(lint.Summary) error {
	issues := make([]gitlabIssue, 0, len(g.findings))
	seen := map[string]int{}
	for _, f := range g.findings {
		issues = append(issues, newGitLabIssue(f, seen))
	}
	return writeJSON(g.w, issues)
}

func newGitLabIssue(f finding.Finding, seen map[string]int) gitlabIssue {
	line := max(f.Line, 1) // GitLab drops an issue without a line
	issue := gitlabIssue{
		Description: f.Message,
		CheckName:   f.Rule,
		Fingerprint: unique(f, seen),
		Severity:    gitlabSeverity(f.Severity),
		Location:    gitlabLocation{repoPath(f.File), gitlabLines{line, max(lastLine(f), line)}},
	}
	if f.Remediation != "" {
		issue.Content = &gitlabContent{f.Remediation}
	}
	return issue
}

// unique is a fingerprint that no earlier finding of the run has: GitLab merges issues that share one.
func unique(f finding.Finding, seen map[string]int) string {
	d := digest(fingerprint(f), f.File)
	seen[d]++
	if n := seen[d]; n > 1 {
		return digest(d, strconv.Itoa(n))
	}
	return d
}

func gitlabSeverity(s finding.Severity) string {
	switch s {
	case finding.Error:
		return "critical"
	case finding.Warning:
		return "minor"
	}
	return "info"
}
