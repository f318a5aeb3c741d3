package kandev.rules.windows_host_process_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.windows_host_process as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"windowsOptions": {"hostProcess": true}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.windowsOptions.hostProcess")
}

test_pod_level if {
	found := rule.findings with input as review.of(fixtures.secured_pod({"windowsOptions": {"hostProcess": true}}))
	fixtures.paths(found) == {"template.spec.securityContext.windowsOptions.hostProcess"}
}

test_false if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured_pod({"windowsOptions": {"hostProcess": false}}))
}
