package kandev.rules.privileged_container_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.privileged_container as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"privileged": true}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.privileged")
}

test_pod if {
	found := rule.findings with input as review.of({"spec": {"containers": [{"name": "dind", "securityContext": {"privileged": true}}]}})
	fixtures.paths(found) == {"spec.containers[0].securityContext.privileged"}
}

test_agent_gets_its_own_remedy if {
	agent := rule.findings with input as review.of(fixtures.secured({"privileged": true}))
	other := rule.findings with input as review.of(fixtures.secured({"privileged": true})) with input.kandev.mainContainer as "agent"
	{finding.remediation | some finding in agent} != {finding.remediation | some finding in other}
}

# The API server knows no such field of a Pod, and drops it.
test_not_of_the_pod if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured_pod({"privileged": true}))
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"privileged": false}))
	count(rule.findings) == 0 with input as review.of(fixtures.template({}))
}
