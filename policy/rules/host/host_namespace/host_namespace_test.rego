package kandev.rules.host_namespace_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.host_namespace as rule

test_each if {
	found := rule.findings with input as review.of(fixtures.template({"hostNetwork": true, "hostPID": true, "hostIPC": true}))
	fixtures.paths(found) == {"template.spec.hostNetwork", "template.spec.hostPID", "template.spec.hostIPC"}
}

test_false_and_other_fields if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"hostNetwork": false, "hostUsers": true}))
}
