package kandev.rules.host_user_namespace_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.host_user_namespace as rule

test_privileged if {
	found := rule.findings with input as review.of(fixtures.secured({"privileged": true}))
	{[finding.path, finding.container] | some finding in found} == {["template.spec", "kandev-agent"]}
}

test_capability if {
	count(rule.findings) == 1 with input as review.of(fixtures.secured({"capabilities": {"add": ["SYS_ADMIN", "BPF"]}}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"capabilities": {"add": ["CHOWN"]}}))
}

test_names_the_key_where_there_is_one if {
	found := rule.findings with input as review.of(fixtures.template({
		"hostUsers": true,
		"containers": [{"name": "dind", "securityContext": {"privileged": true}}],
	}))
	fixtures.paths(found) == {"template.spec.hostUsers"}
}

test_own_namespace if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({
		"hostUsers": false,
		"containers": [{"name": "dind", "securityContext": {"privileged": true}}],
	}))
}

test_no_power if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"hostUsers": true}))
}
