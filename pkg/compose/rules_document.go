package compose

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

var goodTemplate = example(agent)

// documentRule fills in what the document rules share.
func documentRule(r finding.Rule) finding.Rule {
	r.Group, r.Source = "Document", finding.Document
	if r.Severity == "" {
		r.Severity = finding.Error
	}
	if r.Good == "" {
		r.Good = goodTemplate
	}
	return r
}

func documentRules() []finding.Rule {
	return []finding.Rule{
		documentRule(finding.Rule{
			Name:        RuleDocumentSize,
			Title:       "A template has at most 256 KiB",
			Description: "A template is stored with every session's launch snapshot and sent with every Pod. The bound keeps both within what the API server's own storage takes.",
			Remedy:      "Move large literal data out of the template, into the image or a ConfigMap.",
			Bad:         "# more than 262,144 bytes\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentEncoding,
			Title:       "A template is UTF-8 text",
			Description: "The API server and every other reader take UTF-8. Another encoding, or a binary file, would be read as something else than what its author saw. A byte order mark is accepted.",
			Remedy:      "Save the file as UTF-8.",
			Bad:         "apiVersion: v1\x00\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentEmpty,
			Title:       "A template file holds a document",
			Description: "An empty file, or one of comments alone, is most often the output of a command that failed. Passing it silently would hide that.",
			Remedy:      "Write a v1 PodTemplate; if a command produced the file, look at that command.",
			Bad:         "# nothing but a comment\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentMultiple,
			Title:       "A template file holds exactly one document",
			Description: "Readers differ in what they make of a second document: some take the first, some the last, some both. A template that means different things to its reviewer and to Kandev is refused.",
			Remedy:      "Move the second document to a file of its own.",
			Bad:         goodTemplate + "--- # and then\napiVersion: v1\nkind: ConfigMap\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentSyntax,
			Title:       "A template is well-formed YAML or JSON",
			Description: "What cannot be parsed cannot be checked.",
			Remedy:      "Correct the indentation, quotes or brackets at or just above the line.",
			Bad:         "apiVersion: v1\nkind: PodTemplate\ntemplate: {spec: [}\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentKey,
			Title:       "A key is a plain or quoted word",
			Description: "YAML allows lists, objects and null as keys. JSON, in which the API server reads the template, does not.",
			Remedy:      "Write the key as a plain or quoted word.",
			Bad:         "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  ? [a, b]\n  : c\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentDuplicateKey,
			Title:       "A key stands once in an object",
			Description: "With two values for one key, which one counts depends on the reader. `1` and `\"1\"` are the same key.",
			Remedy:      "Remove one of the two.",
			Bad:         example("    hostPID: false\n    hostPID: true\n" + agent),
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentMerge,
			Title:       "A merge key may not collide",
			Description: "Readers disagree on whether an explicit key or a merged one (`<<`) wins, and on which of two merges does. A merge without a collision is read.",
			Remedy:      "Keep the key in one of the two places.",
			Bad: example(`    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
        <<: {runAsUser: 0}
`),
			Good: example(`    containers:
    - name: kandev-agent
      image: registry.example/agent:1.4
      securityContext:
        runAsUser: 1000
        <<: {runAsGroup: 1000}
`),
			References: []string{"https://yaml.org/type/merge.html"},
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentAliases,
			Title:       "Aliases expand to a bounded document",
			Description: "A few lines of nested aliases can expand to gigabytes. An alias inside what it names never ends.",
			Remedy:      "Write the values out.",
			Bad:         "apiVersion: v1\nkind: PodTemplate\ntemplate: &t\n  spec: *t\n",
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentKind,
			Title:       "A template is a v1 PodTemplate",
			Description: "Kandev takes one kind of document. A near miss (another apiVersion, a miswritten kind, a bare template) would otherwise be skipped or half understood.",
			Remedy:      "Write apiVersion: v1 and kind: PodTemplate.",
			Bad:         "apiVersion: apps/v1\nkind: PodTemplate\ntemplate:\n  spec:\n" + agent,
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentUnknownField,
			Title:       "Every field is one that Kubernetes knows",
			Description: "An unknown or wrongly cased field is dropped by the API server, so that what it was meant to do does not happen, or is accepted by lax readers and means something there.",
			Remedy:      "Correct the field's name and place, or remove it.",
			Bad:         example("    HostNetwork: true\n" + agent),
			References:  []string{podDocs},
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentWrongType,
			Title:       "Every value has the type of its field",
			Description: "YAML guesses types: `8080`, `yes` and `1e3` are no strings. The API server refuses a value of another type than the field's.",
			Remedy:      "Quote what is meant as text; leave numbers and booleans unquoted.",
			Bad:         example(agent + "      env: [{name: A, value: 8080}]\n"),
			Good:        example(agent + "      env: [{name: A, value: \"8080\"}]\n"),
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentNullItem,
			Title:       "No list item is empty",
			Description: "A lone `-` is null. The API server reads it as an object without any field.",
			Remedy:      "Fill the item in, or remove its dash.",
			Bad:         example(agent + "    -\n"),
		}),
		documentRule(finding.Rule{
			Name:        RuleDocumentBoolean,
			Title:       "A boolean is written true or false",
			Severity:    finding.Warning,
			Description: "`on`, `yes` and `y` are booleans in YAML 1.1, which the API server reads, and strings in YAML 1.2, which most editors and reviewers' tools read.",
			Remedy:      "Write true or false.",
			Bad:         example("    hostPID: off\n" + agent),
			Good:        example("    hostPID: false\n" + agent),
		}),
		documentRule(finding.Rule{
			Name:        RuleProfile,
			Title:       "A profile's values are usable",
			Description: "The profile's main container, platform and workspace decide how a template is composed. A value that Kandev does not know would stop every session.",
			Remedy:      "Correct the value.",
			Bad:         "main_container: kandev-agent\nplatform: windows/amd64\npod_template_yaml: |\n  apiVersion: v1\n  kind: PodTemplate\n  template:\n    spec:\n      containers:\n      - name: kandev-agent\n        image: registry.example/agent:1.4\n",
			Good:        "main_container: kandev-agent\nplatform: linux/arm64\npod_template_yaml: |\n  apiVersion: v1\n  kind: PodTemplate\n  template:\n    spec:\n      containers:\n      - name: kandev-agent\n        image: registry.example/agent:1.4\n",
		}),
	}
}
