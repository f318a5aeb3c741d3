package kandev.rules.privileged_workspace_grant_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.privileged_workspace_grant as rule

granted(mount, context) := fixtures.companion({
	"securityContext": context,
	"volumeMounts": [object.union({"name": "kandev-workspace", "mountPath": "/workspace"}, mount)],
})

test_writable if {
	found := rule.findings with input as review.of(granted({}, {"privileged": true}))
	{[finding.path, finding.container] | some finding in found} == {["template.spec.containers[1].volumeMounts[0]", "companion"]}
}

test_others if {
	count(rule.findings) == 0 with input as review.of(granted({"readOnly": true}, {"privileged": true}))
	count(rule.findings) == 0 with input as review.of(granted({"name": "scratch"}, {"privileged": true}))
	count(rule.findings) == 0 with input as review.of(granted({}, {"privileged": false}))
}
