package kandev.rules.privilege_escalation_test

import data.kandev.lib.fixtures
import data.kandev.rules.privilege_escalation as rule

test_every_list if {
	found := rule.findings with input as fixtures.everywhere({"securityContext": {"allowPrivilegeEscalation": true}})
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.allowPrivilegeEscalation")
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as fixtures.secured({"allowPrivilegeEscalation": false})
	count(rule.findings) == 0 with input as fixtures.template({})
}
