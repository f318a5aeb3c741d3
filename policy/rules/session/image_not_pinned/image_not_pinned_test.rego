package kandev.rules.image_not_pinned_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.image_not_pinned as rule

messages(image) := {finding.message | some finding in found} if {
	found := rule.findings with input as review.of(fixtures.template({"containers": [{"name": "a", "image": image}]}))
}

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"image": "x:1"}))
	fixtures.paths(found) == fixtures.everywhere_paths("image")
	{finding.severity | some finding in found} == {"info"}
}

test_tags if {
	messages("x:1") == {`container "a" runs x:1, which names no digest`}
	messages("registry.example:5000/x") == {`container "a" runs registry.example:5000/x, which names no digest`}
}

test_digest if {
	messages("x@sha256:00") == set()
	messages("x:latest@sha256:00") == set()
	messages("") == set()
}

test_privileged_is_a_warning if {
	found := rule.findings with input as review.of(fixtures.companion({"image": "x:1", "securityContext": {"privileged": true}}))
	{finding.severity | some finding in found} == {"warning"}
}
