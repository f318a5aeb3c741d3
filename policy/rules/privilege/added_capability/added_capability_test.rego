package kandev.rules.added_capability_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.added_capability as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.capabilities.add[0]")
}

test_each_spelling if {
	every name in ["SYS_ADMIN", "CAP_SYS_ADMIN", "sys_admin", "cap_sys_admin", "ALL", "all", "CAP_CHOWN", "chown"] {
		count(rule.findings) == 1 with input as review.of(fixtures.secured({"capabilities": {"add": [name]}}))
	}
}

test_remedy_names_the_way_out if {
	found := rule.findings with input as review.of(fixtures.secured({"capabilities": {"add": ["ALL", "CAP_KILL", "BPF"]}}))
	{[finding.path, finding.remediation] | some finding in found} == {
		["template.spec.containers[0].securityContext.capabilities.add[0]", "replace ALL by the few capabilities that the program needs"],
		["template.spec.containers[0].securityContext.capabilities.add[1]", "write KILL, or remove it: runtimes give it by default"],
		["template.spec.containers[0].securityContext.capabilities.add[2]", "remove BPF from capabilities.add"],
	}
}

test_no_name if {
	every name in ["", null] {
		count(rule.findings) == 1 with input as review.of(fixtures.secured({"capabilities": {"add": [name]}}))
	}
}

test_baseline_and_dropped if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"capabilities": {"add": ["CHOWN", "KILL"], "drop": ["ALL"]}}))
}

test_allowed_by_the_configuration if {
	template := fixtures.secured({"capabilities": {"add": ["NET_ADMIN", "CAP_NET_ADMIN", "SYS_ADMIN", "ALL"]}})
	found := rule.findings with input as review.of(fixtures.told({"added-capability": {"allowed": ["net_admin"]}}, template))
	fixtures.paths(found) == {
		"template.spec.containers[0].securityContext.capabilities.add[2]",
		"template.spec.containers[0].securityContext.capabilities.add[3]",
	}
}
