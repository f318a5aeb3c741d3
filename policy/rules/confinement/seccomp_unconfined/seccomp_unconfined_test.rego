package kandev.rules.seccomp_unconfined_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.seccomp_unconfined as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.seccompProfile.type")
}

test_pod_level if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"seccompProfile": {"type": "Unconfined"}}))
	fixtures.paths(found) == {"template.spec.securityContext.seccompProfile.type"}
}

test_type_is_needed if {
	every profile in [{}, {"type": null}, {"type": ""}, {"type": "runtime/default"}] {
		count(rule.findings) == 1 with input as review.of(fixtures.secured({"seccompProfile": profile}))
	}
}

test_null_is_no_profile if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"seccompProfile": null}))
}

test_confined if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"seccompProfile": {"type": "RuntimeDefault"}}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"seccompProfile": {"type": "Localhost", "localhostProfile": "x.json"}}))
}
