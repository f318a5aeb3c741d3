package kandev.rules.privilege_escalation_unset_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.privilege_escalation_unset as rule

test_nearest_parent if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"runAsUser": 1000}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext")

	without := rule.findings with input as review.of(fixtures.template({}))
	fixtures.paths(without) == {"template.spec.containers[0]"}
}

test_null_is_absent if {
	count(rule.findings) == 1 with input as review.of(fixtures.secured({"allowPrivilegeEscalation": null}))
	count(rule.findings) == 1 with input as review.of(fixtures.secured(null))
}

test_set if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"allowPrivilegeEscalation": false}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"allowPrivilegeEscalation": true}))
}

test_windows_has_no_such_setting_from_1_25 if {
	template := fixtures.template({"os": {"name": "windows"}})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.25", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.24", template))
}

test_remediation_beside_privileged if {
	found := rule.findings with input as review.of(fixtures.secured({"privileged": true}))
	{finding.remediation | some finding in found} == {"remove privileged, then add allowPrivilegeEscalation: false"}
}
