# METADATA
# title: The findings of every rule
# description: >-
#   What `opa eval -d policy -i template.yaml data.kandev.findings` prints: each rule's findings, with the severity of the
#   rule where the finding states none.
package kandev

import data.kandev.lib.review

findings contains object.union({"severity": severities[finding.rule]}, finding) if {
	some rule
	found := data.kandev.rules[rule].findings with input as reviewed
	some finding in found
}

reviewed := review.of(input)
