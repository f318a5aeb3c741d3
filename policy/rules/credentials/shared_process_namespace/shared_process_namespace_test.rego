package kandev.rules.shared_process_namespace_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.shared_process_namespace as rule

test_true if {
	found := rule.findings with input as review.of(fixtures.template({"shareProcessNamespace": true}))
	fixtures.paths(found) == {"template.spec.shareProcessNamespace"}
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"shareProcessNamespace": false}))
	count(rule.findings) == 0 with input as review.of(fixtures.template({}))
}
