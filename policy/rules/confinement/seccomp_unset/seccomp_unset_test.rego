package kandev.rules.seccomp_unset_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.seccomp_unset as rule

test_nearest_parent if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"runAsUser": 1000}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext")
}

test_pod_s_profile_is_everyone_s if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured_pod({"seccompProfile": {"type": "RuntimeDefault"}}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured_pod({"seccompProfile": {"type": "Localhost"}}))

	found := rule.findings with input as review.of(fixtures.secured_pod({"seccompProfile": {"type": "Unconfined"}}))
	fixtures.paths(found) == {"template.spec.securityContext.seccompProfile.type", "template.spec.containers[0]"}
}

test_other_types_are_none if {
	every profile in [{"type": "Unconfined"}, {}, {"type": null}] {
		found := rule.findings with input as review.of(fixtures.template({
			"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
			"containers": [{"name": "a", "securityContext": {"seccompProfile": profile}}],
		}))
		fixtures.paths(found) == {"template.spec.containers[0].securityContext.seccompProfile.type"}
	}
}

test_null_is_no_profile if {
	found := rule.findings with input as review.of(fixtures.secured({"seccompProfile": null}))
	fixtures.paths(found) == {"template.spec.containers[0].securityContext"}
}

test_container_s_own if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"seccompProfile": {"type": "RuntimeDefault"}}))
}

test_windows_has_no_such_setting_from_1_25 if {
	template := fixtures.template({
		"os": {"name": "windows"},
		"securityContext": {"seccompProfile": {"type": "Unconfined"}},
	})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.25", template))
	count(rule.findings) == 2 with input as review.of(fixtures.on("1.24", template))
}
