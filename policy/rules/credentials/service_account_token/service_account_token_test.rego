package kandev.rules.service_account_token_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.service_account_token as rule

test_true if {
	found := rule.findings with input as review.of(fixtures.template({"automountServiceAccountToken": true}))
	fixtures.paths(found) == {"template.spec.automountServiceAccountToken"}
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"automountServiceAccountToken": false}))
	count(rule.findings) == 0 with input as review.of(fixtures.template({}))
}

test_privileged_companions_are_named if {
	found := rule.findings with input as review.of(fixtures.template({"automountServiceAccountToken": true, "containers": [
		{"name": "kandev-agent", "securityContext": {"privileged": true}},
		{"name": "engine", "securityContext": {"privileged": true}},
	]}))
	{finding.message | some finding in found} == {`the Pod mounts its service account's token into every container, privileged "engine" too`}
}
