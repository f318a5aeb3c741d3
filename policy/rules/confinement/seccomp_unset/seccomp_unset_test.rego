package kandev.rules.seccomp_unset_test

import data.kandev.lib.fixtures
import data.kandev.rules.seccomp_unset as rule

test_nearest_parent if {
	found := rule.findings with input as fixtures.everywhere({"securityContext": {"runAsUser": 1000}})
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext")
}

test_pod_s_profile_is_everyone_s if {
	count(rule.findings) == 0 with input as fixtures.secured_pod({"seccompProfile": {"type": "RuntimeDefault"}})
	count(rule.findings) == 1 with input as fixtures.secured_pod({"seccompProfile": {"type": "Unconfined"}})
}

test_container_s_own if {
	count(rule.findings) == 0 with input as fixtures.secured({"seccompProfile": {"type": "RuntimeDefault"}})
}

test_windows_has_no_such_setting if {
	count(rule.findings) == 0 with input as fixtures.template({"os": {"name": "windows"}})
}
