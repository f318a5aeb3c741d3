package kandev.rules.baseline_capability_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.baseline_capability as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"capabilities": {"add": ["CHOWN"]}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.capabilities.add[0]")
}

test_not_allowed_and_not_baseline if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"capabilities": {"add": ["NET_BIND_SERVICE", "SYS_ADMIN"]}}))
}

test_windows_has_no_such_setting_from_1_25 if {
	template := fixtures.template({
		"os": {"name": "windows"},
		"containers": [{"name": "a", "securityContext": {"capabilities": {"add": ["CHOWN"]}}}],
	})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.25", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.24", template))
}
