package kandev.rules.apparmor_unconfined_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.apparmor_unconfined as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.appArmorProfile.type")
}

test_pod_level if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"appArmorProfile": {"type": "Unconfined"}}))
	fixtures.paths(found) == {"template.spec.securityContext.appArmorProfile.type"}
}

test_type_is_needed if {
	every profile in [{}, {"type": null}, {"type": ""}, {"type": "runtime/default"}] {
		count(rule.findings) == 1 with input as review.of(fixtures.secured({"appArmorProfile": profile}))
	}
}

test_null_is_no_profile if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"appArmorProfile": null}))
}

test_confined if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"appArmorProfile": {"type": "RuntimeDefault"}}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}}))
}

test_annotation if {
	found := rule.findings with input as review.of(fixtures.annotated({
		"container.apparmor.security.beta.kubernetes.io/kandev-agent": "unconfined",
		"container.apparmor.security.beta.kubernetes.io/a": "runtime/default",
		"container.apparmor.security.beta.kubernetes.io/b": "localhost/x",
		"container.apparmor.security.beta.kubernetes.io/c": "",
		"container.apparmor.security.beta.kubernetes.io/d": null,
		"example.com/apparmor": "unconfined",
	}))
	{[finding.path, finding.container] | some finding in found} == {[
		"template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/kandev-agent]",
		"kandev-agent",
	]}
}
