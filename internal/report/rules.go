package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Catalogue prints a line for each rule, group by group.
func Catalogue(w io.Writer, rules []finding.Rule) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	for _, r := range rules {
		if r.Group != group {
			if group != "" {
				fmt.Fprintln(t) //nolint:errcheck // Flush returns the writer's error
			}
			group = r.Group
			fmt.Fprintln(t, group) //nolint:errcheck // likewise
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", r.Name, r.Severity, pssName(r.PSS), r.Title) //nolint:errcheck // likewise
	}
	return t.Flush()
}

// pssName names a Pod Security Standards control, "" where there is none.
func pssName(p *finding.PSS) string {
	if p == nil {
		return ""
	}
	return p.Level
}

// Explain prints all there is to know about a rule, for a terminal.
func Explain(w io.Writer, r finding.Rule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Name, r.Title)
	fmt.Fprintf(&b, "%s, source %s, group %s%s\n", r.Severity, r.Source, r.Group, pssSentence(r.PSS))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", title, indent(text))
		}
	}
	section("Why", r.Description)
	section("Avoid", r.Bad)
	section("Prefer", r.Good)
	section("How to fix", r.Remedy)
	section("Known false positives", r.FalsePositives)
	section("How to suppress", suppression(r))
	section("References", strings.Join(r.References, "\n"))
	_, err := io.WriteString(w, b.String())
	return err
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "    " + line
		}
	}
	return strings.Join(lines, "\n")
}

func pssSentence(p *finding.PSS) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", Pod Security Standards %s (%s)", p.Level, p.Check)
}

// suppression says how a rule's finding is taken out, or why it cannot be.
func suppression(r finding.Rule) string {
	if r.Source == finding.Config || r.Severity == finding.Error && r.Source != finding.API && r.Source != finding.Policy {
		return "It cannot be suppressed: it is one of Kandev's invariants."
	}
	return fmt.Sprintf("# kandev-podlint:ignore %s the reason, on the finding's line or the line above", r.Name)
}

// Page returns a rule's page in Markdown.
func Page(r finding.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Name, r.Title)
	fmt.Fprintf(&b, "| severity | source | group | Pod Security Standards |\n|---|---|---|---|\n| %s | %s | %s | %s |\n",
		r.Severity, r.Source, r.Group, pssCell(r.PSS))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", title, strings.TrimRight(text, "\n"))
		}
	}
	section("Why", r.Description)
	section("Avoid", fenced(r.Bad))
	section("Prefer", fenced(r.Good))
	section("How to fix", r.Remedy)
	section("Known false positives", r.FalsePositives)
	section("How to suppress", suppressionPage(r))
	section("References", bullets(r.References))
	return b.String()
}

func pssCell(p *finding.PSS) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", p.Level, p.Check)
}

func fenced(text string) string {
	if text == "" {
		return ""
	}
	return "```yaml\n" + strings.TrimRight(strings.ReplaceAll(text, "\x00", "␀"), "\n") + "\n```"
}

func suppressionPage(r finding.Rule) string {
	text := suppression(r)
	if strings.HasPrefix(text, "#") {
		return fenced(fmt.Sprintf("# kandev-podlint:ignore %s the reason", r.Name)) +
			"\n\nThe comment stands on the finding's line or on the line above."
	}
	return text
}

func bullets(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}

// Index returns the page that lists every rule, in Markdown.
func Index(rules []finding.Rule) string {
	var b strings.Builder
	b.WriteString("# Rules\n\nEvery rule of kandev-podlint. `kandev-podlint rules NAME` explains one offline.\n")
	group := ""
	for _, r := range rules {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | Pod Security Standards | |\n|---|---|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", r.Name, r.Name, r.Severity, pssName(r.PSS), r.Title)
	}
	return b.String()
}
