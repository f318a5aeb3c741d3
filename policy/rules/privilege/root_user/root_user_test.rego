package kandev.rules.root_user_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.root_user as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"runAsUser": 0}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.runAsUser")
}

test_pod_level if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"runAsUser": 0}))
	{[finding.path, finding.container] | some finding in found} == {["template.spec.securityContext.runAsUser", ""]}
}

test_other_users if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"runAsUser": 1000}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"runAsUser": null}))
}

test_user_namespace_counts_from_1_35 if {
	spec := {"hostUsers": false, "securityContext": {"runAsUser": 0}}
	count(rule.findings) == 0 with input as review.of(fixtures.template(spec))
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.35", fixtures.template(spec)))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.34", fixtures.template(spec)))
}
