package kandev.rules.fs_group_missing_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.fs_group_missing as rule

on_claim(context) := object.union(fixtures.secured(context), {"kandev": {"workspaceMode": "managed_pvc"}})

test_new_claim if {
	found := rule.findings with input as review.of(on_claim({"runAsUser": 1000}))
	{[finding.path, finding.container] | some finding in found} == {["template.spec", "kandev-agent"]}
	count(rule.findings) == 0 with input as review.of(on_claim({"runAsUser": 0}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"runAsUser": 1000}))
	count(rule.findings) == 0 with input as review.of(object.union(on_claim({"runAsUser": 1000}), {"template": {"spec": {"securityContext": {"fsGroup": 1000}}}}))
}

sharing(user, of_pod) := fixtures.template({"securityContext": of_pod, "containers": [
	{"name": "kandev-agent", "securityContext": {"runAsUser": 1000}},
	{"name": "tools", "securityContext": {"runAsUser": user}, "volumeMounts": [{"name": "kandev-workspace", "mountPath": "/workspace"}]},
]})

test_grant_to_another_user if {
	found := rule.findings with input as review.of(sharing(0, {}))
	{[finding.path, finding.message] | some finding in found} == {[
		"template.spec.containers[1].volumeMounts[0]",
		`container "tools" writes to the workspace as user 0, the agent as 1000`,
	]}
	count(rule.findings) == 0 with input as review.of(sharing(1000, {}))
	count(rule.findings) == 0 with input as review.of(sharing(0, {"fsGroup": 1000}))
	count(rule.findings) == 1 with input as review.of(sharing(0, {"fsGroup": null}))
}
