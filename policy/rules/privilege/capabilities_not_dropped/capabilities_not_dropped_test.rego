package kandev.rules.capabilities_not_dropped_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.capabilities_not_dropped as rule

dropping(names) := {"securityContext": {"capabilities": {"drop": names}}}

test_nearest_parent if {
	found := rule.findings with input as review.of(fixtures.everywhere(dropping(["NET_RAW"])))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext")

	without := rule.findings with input as review.of(fixtures.template({}))
	fixtures.paths(without) == {"template.spec.containers[0]"}
}

test_nothing_dropped if {
	every names in [[], null, ["all"], ["CAP_ALL"]] {
		count(rule.findings) == 3 with input as review.of(fixtures.everywhere(dropping(names)))
	}
	count(rule.findings) == 1 with input as review.of(fixtures.secured({"capabilities": null}))
}

test_dropped if {
	count(rule.findings) == 0 with input as review.of(fixtures.everywhere(dropping(["NET_RAW", "ALL"])))
}

test_taken_back if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"capabilities": {"drop": ["ALL"], "add": ["CHOWN", "SYS_ADMIN"]}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.capabilities.add[1]")
}

test_added_without_a_drop_is_one_finding if {
	found := rule.findings with input as review.of(fixtures.secured({"capabilities": {"add": ["SYS_ADMIN"]}}))
	fixtures.paths(found) == {"template.spec.containers[0].securityContext"}
}

test_remediation_beside_privileged if {
	found := rule.findings with input as review.of(fixtures.secured({"privileged": true}))
	{finding.remediation | some finding in found} == {"remove privileged, then add capabilities.drop: [ALL]"}
}

test_windows_has_no_such_setting_from_1_25 if {
	template := fixtures.template({"os": {"name": "windows"}, "containers": [
		{"name": "a"},
		{"name": "b", "securityContext": {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}},
	]})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.25", template))
	count(rule.findings) == 2 with input as review.of(fixtures.on("1.24", template))
}
