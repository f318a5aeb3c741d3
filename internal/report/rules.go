package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/clipperhouse/displaywidth"

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
			fmt.Fprintln(t, groupName(r)) //nolint:errcheck // likewise
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
	fmt.Fprintf(&b, "%s, source %s, group %s%s\n", r.Severity, r.Source, groupName(r), pssSentence(r.PSS))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", title, indent(text))
		}
	}
	section("Why", wrap(r.Description))
	section("Avoid", visibleNUL(r.Bad))
	section("Prefer", r.Good)
	section("How to fix", wrap(r.Remedy))
	section("Known false positives", wrap(r.FalsePositives))
	section("Parameters", parameters(r, func(p finding.Parameter) string { return p.Name + "\n" + indent(wrap(p.Description)) }))
	section("How to suppress", wrap(suppression(r)))
	section("References", strings.Join(r.References, "\n"))
	_, err := io.WriteString(w, b.String())
	return err
}

// groupName is a rule's group as a heading.
func groupName(r finding.Rule) string {
	return strings.ToUpper(r.Group[:1]) + r.Group[1:]
}

// visibleNUL shows the one control character that an example holds.
func visibleNUL(text string) string { return strings.ReplaceAll(text, "\x00", "␀") }

// proseWidth is how wide a line of prose may be: a terminal of 100 columns less the indent.
const proseWidth = 96

// wrap breaks prose into lines, between words.
func wrap(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		w := displaywidth.String(word)
		switch {
		case width == 0:
		case width+1+w > proseWidth:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += w
	}
	return b.String()
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
	if why := always(r); why != "" {
		return why
	}
	return fmt.Sprintf("# kandev-podlint:ignore %s the reason, on the finding's line or the line above", r.Name)
}

// always says why a rule's findings always stay, "" where they can be taken out.
func always(r finding.Rule) string {
	invariant := r.Source == finding.Document || r.Source == finding.Ownership || r.Source == finding.Grant
	switch {
	case r.Group == "Admission":
		return "It cannot be suppressed: kandev-podlint diff reports every violation."
	case r.Source == finding.Config:
		return "It cannot be suppressed: it is about suppressions, the configuration or policies themselves."
	case r.Source == finding.Deployment:
		return "It cannot be suppressed: only lint --deployable asks it, to learn whether the template can be deployed."
	case r.Severity == finding.Error && invariant:
		return "It cannot be suppressed: it is one of Kandev's invariants."
	}
	return ""
}

// Page returns a rule's page in Markdown.
func Page(r finding.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Name, r.Title)
	fmt.Fprintf(&b, "| severity | source | group | Pod Security Standards |\n|---|---|---|---|\n| %s | %s | %s | %s |\n",
		r.Severity, r.Source, groupName(r), pssCell(r.PSS))
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
	section("Parameters", parametersPage(r))
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
	return "```yaml\n" + strings.TrimRight(visibleNUL(text), "\n") + "\n```"
}

func suppressionPage(r finding.Rule) string {
	if why := always(r); why != "" {
		return why
	}
	return fenced(fmt.Sprintf("# kandev-podlint:ignore %s the reason", r.Name)) +
		"\n\nThe comment stands on the finding's line or on the line above. See [suppressions](../suppressions.md)."
}

// parameters writes a rule's parameters, each as told.
func parameters(r finding.Rule, write func(finding.Parameter) string) string {
	written := make([]string, len(r.Parameters))
	for i, p := range r.Parameters {
		written[i] = write(p)
	}
	return strings.Join(written, "\n")
}

func parametersPage(r finding.Rule) string {
	if len(r.Parameters) == 0 {
		return ""
	}
	return parameters(r, func(p finding.Parameter) string { return "- `" + p.Name + "`: " + p.Description }) +
		"\n\nThe [configuration](../configuration.md#parameters) gives each as a list of strings, under `parameters`, `" + r.Name + "`."
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
	b.WriteString("# Rules\n\nEvery rule of kandev-podlint. `kandev-podlint rules NAME` explains one offline.\n\n" +
		"An error keeps a template from being used. A warning or an info is advice. The [configuration](../configuration.md) can\n" +
		"change the severity of the policy pack's rules. The column Pod Security Standards names the level that a rule is a part of.\n")
	group := ""
	for _, r := range rules {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | Pod Security Standards | title |\n|---|---|---|---|\n", groupName(r))
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", r.Name, r.Name, r.Severity, pssName(r.PSS), r.Title)
	}
	return b.String()
}
