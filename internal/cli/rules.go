package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

func newRules() *cobra.Command {
	var format *choice
	c := &cobra.Command{
		Use:   "rules [RULE]",
		Short: "List the rules, or explain one",
		Long: `List the rules by group, with their severities and the Pod Security Standards level that they stand
for, or explain one RULE: why it is there, what to write instead, and how to suppress it. What must
hold, for Kandev or for the API server, is an error; what is risky is a warning or an info.`,
		Example: `  kandev-podlint rules
  kandev-podlint rules workspace-grant-shape`,
		Args: arguments(0, 1, "RULE"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return ruleNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			w := c.OutOrStdout()
			if len(args) == 0 {
				return unusable(listRules(w, format.value))
			}
			i := slices.IndexFunc(catalogue(), func(r finding.Rule) bool { return r.Name == args[0] })
			if i < 0 {
				return unusable(fmt.Errorf("no rule is named %q%s\nsee kandev-podlint rules", args[0], lint.DidYouMean(args[0])))
			}
			return unusable(explainRule(w, format.value, catalogue()[i]))
		},
	}
	format = choiceFlag(c, "format", "FORMAT", "text", []string{"text", "json"}, "output format")
	return c
}

// catalogue is every rule: those of linting, and those that only a comparison can break.
func catalogue() []finding.Rule {
	return append(lint.Rules(), admission.Rules()...)
}

func ruleNames() []string {
	rules := catalogue()
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.Name
	}
	return names
}

func listRules(w io.Writer, format string) error {
	if format == "json" {
		return encodeJSON(w, catalogue())
	}
	return report.Catalogue(w, catalogue())
}

func explainRule(w io.Writer, format string, r finding.Rule) error {
	if format == "json" {
		return encodeJSON(w, r)
	}
	return report.Explain(w, r)
}

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
