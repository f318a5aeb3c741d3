package policy

import (
	"slices"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

//go:generate go test . -run TestCatalogue -update

// Catalogue describes every rule of the pack, ordered by group and name. The caller may change what it gets.
func Catalogue() []finding.Rule {
	rules := slices.Clone(catalogue)
	for i := range rules {
		rules[i].References = slices.Clone(rules[i].References)
		rules[i].Parameters = slices.Clone(rules[i].Parameters)
		if rules[i].PSS != nil {
			pss := *rules[i].PSS
			rules[i].PSS = &pss
		}
	}
	return rules
}

// ruleName gives the name, in kebab case, of the rule that a Rego package or rule holds.
func ruleName(rego string) string { return strings.ReplaceAll(rego, "_", "-") }
