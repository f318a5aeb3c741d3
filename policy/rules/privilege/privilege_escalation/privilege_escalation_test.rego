package kandev.rules.privilege_escalation_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.privilege_escalation as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"allowPrivilegeEscalation": true}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.allowPrivilegeEscalation")
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"allowPrivilegeEscalation": false}))
	count(rule.findings) == 0 with input as review.of(fixtures.template({}))
}

test_windows_has_no_such_setting_from_1_25 if {
	template := fixtures.template({
		"os": {"name": "windows"},
		"containers": [{"name": "a", "securityContext": {"allowPrivilegeEscalation": true}}],
	})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.25", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.24", template))
}
