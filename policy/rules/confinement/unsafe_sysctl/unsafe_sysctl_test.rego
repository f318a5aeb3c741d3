package kandev.rules.unsafe_sysctl_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.unsafe_sysctl as rule

test_unsafe if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"sysctls": [
		{"name": "net.ipv4.tcp_syncookies", "value": "1"},
		{"name": "kernel.msgmax", "value": "65536"},
	]}))
	fixtures.paths(found) == {"template.spec.securityContext.sysctls[1].name"}
}

test_allowed_by_the_configuration if {
	template := fixtures.secured_pod({"sysctls": [
		{"name": "kernel.msgmax", "value": "65536"},
		{"name": "kernel.sem", "value": "1"},
	]})
	found := rule.findings with input as review.of(fixtures.told({"unsafe-sysctl": {"allowed": ["kernel.sem"]}}, template))
	fixtures.paths(found) == {"template.spec.securityContext.sysctls[0].name"}
}

test_no_name_is_not_safe if {
	every sysctl in [{"value": "1"}, {"name": null}, {"name": ""}] {
		found := rule.findings with input as review.of(fixtures.secured_pod({"sysctls": [sysctl]}))
		fixtures.paths(found) == {"template.spec.securityContext.sysctls[0].name"}
	}
}

test_safe_set_grows if {
	template := fixtures.secured_pod({"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "4096"}]})
	count(rule.findings) == 0 with input as review.of(template)
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.32", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.31", template))
}
