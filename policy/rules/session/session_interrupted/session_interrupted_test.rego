package kandev.rules.session_interrupted_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.session_interrupted as rule

test_each if {
	found := rule.findings with input as review.of(fixtures.template({"activeDeadlineSeconds": 60, "schedulingGates": [{"name": "example/wait"}]}))
	fixtures.paths(found) == {"template.spec.activeDeadlineSeconds", "template.spec.schedulingGates"}
}

test_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"schedulingGates": []}))
}

test_gate_that_admission_added if {
	count(rule.findings) == 0 with input as review.of({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}})
}
