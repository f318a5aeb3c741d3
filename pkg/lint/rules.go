package lint

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/policy"
)

// Names of the rules that this package checks.
const (
	RuleUnreadable           = "document-unreadable"
	RuleMissing              = "document-missing"
	RuleSuppressionReason    = "suppression-reason"
	RuleSuppressionUnknown   = "suppression-unknown-rule"
	RuleSuppressionForbidden = "suppression-forbidden"
	RuleSuppressionUnused    = "suppression-unused"
	RuleExcludeExpired       = "exclude-expired"
	RuleConfig               = "configuration"
	RulePolicyFailed         = "policy-failed"
)

// docsBase is where each rule's page stands.
const docsBase = "https://github.com/kandev/kandev-podlint/blob/main/docs/rules/"

// DocsURL returns the address of a rule's page.
func DocsURL(rule string) string { return docsBase + rule + ".md" }

// Rules returns the catalogue of every rule that linting knows, sorted by group, then name.
func Rules() []finding.Rule {
	rules := slices.Concat(compose.Rules(), ownRules(), policy.Catalogue())
	slices.SortFunc(rules, func(a, b finding.Rule) int {
		return cmp.Or(
			cmp.Compare(groupOrder(a), groupOrder(b)),
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return rules
}

// groupOrder puts what must hold before what is advice.
func groupOrder(r finding.Rule) int {
	return slices.Index([]finding.Source{
		finding.Document, finding.Ownership, finding.Grant, finding.API, finding.Deployment, finding.Policy, finding.Config,
	}, r.Source)
}

var rulesByName = sync.OnceValue(func() map[string]finding.Rule {
	m := map[string]finding.Rule{}
	for _, r := range Rules() {
		m[r.Name] = r
	}
	return m
})

// Rule returns the catalogue's entry of a rule.
func Rule(name string) (finding.Rule, bool) {
	r, ok := rulesByName()[name]
	return r, ok
}

// suppressionExample is a template with one suppression comment above its container's name.
func suppressionExample(comment string) string {
	return `apiVersion: v1
kind: PodTemplate
template:
  spec:
    ` + comment + `
    hostPID: true
    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
`
}

const goodSuppression = "# kandev-podlint:ignore host-namespace the profiler needs the node's processes"

// exampleConfig is a configuration with one exclude.
func exampleConfig(expires string) string {
	return `# .kandev-podlint.yaml
exclude:
- rules: [host-namespace]
  files: ["tools/**"]
  reason: the profiler needs the node's processes
  expires: ` + expires + "\n"
}

func ownRule(r finding.Rule) finding.Rule {
	if r.Source == "" {
		r.Source, r.Group = finding.Config, "Suppressions and configuration"
	}
	if r.Good == "" {
		r.Good = suppressionExample(goodSuppression)
	}
	return r
}

func ownRules() []finding.Rule {
	return []finding.Rule{
		ownRule(finding.Rule{
			Name: RuleUnreadable, Title: "A file can be read",
			Source: finding.Document, Group: "Document", Severity: finding.Error,
			Description: "A file that cannot be read was not checked. Saying nothing about it would look like a pass.",
			Remedy:      "Correct the path or the file's permissions.",
			Bad:         "# a file without read permission\n",
		}),
		ownRule(finding.Rule{
			Name: RuleMissing, Title: "A named file holds a template",
			Source: finding.Document, Group: "Document", Severity: finding.Error,
			Description: "A file named on the command line that holds neither a PodTemplate nor a profile was named by mistake, or is not what its author thinks. In a directory such files are skipped and counted.",
			Remedy:      "Name a file that holds a v1 PodTemplate or a profile with pod_template_yaml.",
			Bad:         "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n",
		}),
		ownRule(finding.Rule{
			Name: RuleSuppressionReason, Title: "A suppression has a reason", Severity: finding.Error,
			Description: "A suppression without a reason cannot be reviewed. It has no effect.",
			Remedy:      "Write the reason after the rule's name.",
			Bad:         suppressionExample("# kandev-podlint:ignore host-namespace"),
		}),
		ownRule(finding.Rule{
			Name: RuleSuppressionUnknown, Title: "A suppression names rules that exist", Severity: finding.Error,
			Description: "A misspelt rule suppresses nothing, and nobody notices until the real finding is ignored too.",
			Remedy:      "Correct the rule's name; kandev-podlint rules lists them.",
			Bad:         suppressionExample("# kandev-podlint:ignore host-namespaces the profiler needs it"),
		}),
		ownRule(finding.Rule{
			Name: RuleSuppressionForbidden, Title: "Kandev's invariants cannot be suppressed", Severity: finding.Error,
			Description: "Errors about ownership, the workspace grant and the document itself are what keeps credentials and work safe, whoever writes the template. No comment, exclude or baseline takes them out.",
			Remedy:      "Remove the suppression and mend the template.",
			Bad:         suppressionExample("# kandev-podlint:ignore reserved-env our tools need it"),
		}),
		ownRule(finding.Rule{
			Name: RuleSuppressionUnused, Title: "A suppression suppresses something", Severity: finding.Warning,
			Description: "A suppression whose finding is gone, or that stands at the wrong line, would silently take out the next finding there.",
			Remedy:      "Remove it, or move it to the finding's line or the line above.",
			Bad:         suppressionExample("# kandev-podlint:ignore privileged-container left over"),
		}),
		ownRule(finding.Rule{
			Name: RuleExcludeExpired, Title: "An exclude has not expired", Severity: finding.Warning,
			Description: "An exclude with an expiry was meant for a time. Past it, what it took out is reported again.",
			Remedy:      "Mend the template, or renew the exclude with a new date and reason.",
			Bad:         exampleConfig("2020-01-31"),
			Good:        exampleConfig("2099-12-31"),
		}),
		ownRule(finding.Rule{
			Name: RuleConfig, Title: "The configuration can be used", Severity: finding.Error,
			Description: "A configuration that says something else than its author meant would hide findings or invent them. The files below it are not checked until it is right.",
			Remedy:      "Correct the configuration file.",
			Bad:         "# .kandev-podlint.yaml\nrules:\n  root-user: critical\n",
			Good:        "# .kandev-podlint.yaml\nrules:\n  root-user: error\n",
		}),
		ownRule(finding.Rule{
			Name: RulePolicyFailed, Title: "Policies can judge every template", Severity: finding.Error,
			Description: "A policy that fails on a template has not judged it. Saying nothing about it would look like a pass.",
			Remedy:      "Correct the policy; kandev-podlint policy test runs its unit tests.",
			Bad:         "# two rules of a policy that give one name two values for the same template\n",
		}),
	}
}
