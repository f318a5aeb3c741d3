# METADATA
# title: The pack as conftest reads it
# description: >-
#   `conftest test --policy policy` reports each finding of severity error as a failure and of warning as a warning.
#   Findings of severity info are data.kandev.findings' alone, since conftest has no such kind.
package main

import data.kandev

deny contains object.union({"msg": kandev_message(finding)}, finding) if {
	some finding in kandev.findings
	finding.severity == "error"
}

warn contains object.union({"msg": kandev_message(finding)}, finding) if {
	some finding in kandev.findings
	finding.severity == "warning"
}

kandev_message(finding) := sprintf("%s: %s [%s]", [finding.path, finding.message, finding.rule])
