package kandev.rules.non_root_not_required_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.non_root_not_required as rule

test_nearest_parent if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"runAsUser": 1000}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext")

	without := rule.findings with input as review.of(fixtures.template({}))
	fixtures.paths(without) == {"template.spec.containers[0]"}
}

test_required_by_the_pod if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured_pod({"runAsNonRoot": true}))
}

test_required_by_the_container if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"runAsNonRoot": true}))
}

test_false_overrides_the_pod if {
	found := rule.findings with input as review.of(fixtures.template({
		"securityContext": {"runAsNonRoot": true},
		"containers": [{"name": "kandev-agent", "securityContext": {"runAsNonRoot": false}}],
	}))
	fixtures.paths(found) == {"template.spec.containers[0].securityContext.runAsNonRoot"}
}

test_one_finding_a_container if {
	count(rule.findings) == 1 with input as review.of(fixtures.secured({"runAsNonRoot": false}))
}

test_user_namespace_counts_from_1_35 if {
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.35", fixtures.template({"hostUsers": false})))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.34", fixtures.template({"hostUsers": false})))
}

test_remediation_for_user_0 if {
	own := rule.findings with input as review.of(fixtures.secured({"runAsUser": 0}))
	{finding.remediation | some finding in own} == {"set runAsUser to a user ID other than 0, and runAsNonRoot: true"}

	pods := rule.findings with input as review.of(fixtures.template({"securityContext": {"runAsUser": 0}}))
	{finding.remediation | some finding in pods} == {"set runAsUser to a user ID other than 0, and runAsNonRoot: true"}
}
