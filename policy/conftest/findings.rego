# METADATA
# title: The findings of every rule
# description: >-
#   What `opa eval -d policy -i template.yaml data.kandev.findings` prints: each rule's findings, with the severity of the
#   rule where the finding states none.
package kandev

findings contains object.union({"severity": severities[finding.rule]}, finding) if {
	some rule
	some finding in data.kandev.rules[rule].findings
}
