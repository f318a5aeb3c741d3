package kandev.rules.selinux_options_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.selinux_options as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.seLinuxOptions.type")
}

test_each_field if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"seLinuxOptions": {"user": "system_u", "role": "system_r", "type": "x_t", "level": "s0"}}))
	fixtures.paths(found) == {
		"template.spec.securityContext.seLinuxOptions.role",
		"template.spec.securityContext.seLinuxOptions.type",
		"template.spec.securityContext.seLinuxOptions.user",
	}
}

test_allowed if {
	every type in ["container_t", "container_init_t", "container_kvm_t", "container_engine_t", "", null] {
		count(rule.findings) == 0 with input as review.of(fixtures.secured({"seLinuxOptions": {"type": type, "user": "", "level": "s0"}}))
	}
}

test_engine_type_counts_from_1_31 if {
	template := fixtures.secured({"seLinuxOptions": {"type": "container_engine_t"}})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.31", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.30", template))
}
