package kandev.rules.agent_not_confined_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.agent_not_confined as rule

confined := {
	"runAsNonRoot": true,
	"allowPrivilegeEscalation": false,
	"capabilities": {"drop": ["ALL"]},
	"seccompProfile": {"type": "RuntimeDefault"},
}

messages(context) := {finding.message | some finding in found} if {
	found := rule.findings with input as review.of(fixtures.secured(context))
}

test_nothing_set if {
	found := rule.findings with input as review.of(fixtures.companion({}))
	{[finding.path, finding.container, finding.message] | some finding in found} == {[
		"template.spec.containers[0]",
		"kandev-agent",
		concat("", [
			`container "kandev-agent" runs what nobody reviewed without allowPrivilegeEscalation: false, `,
			"capabilities.drop: [ALL], runAsNonRoot: true, seccompProfile.type: RuntimeDefault",
		]),
	]}
}

test_one_missing if {
	every key in object.keys(confined) {
		count(messages(object.remove(confined, [key]))) == 1
	}
	messages(confined) == set()
}

test_a_profile_of_one_s_own if {
	messages(object.union(confined, {"seccompProfile": {"type": "Localhost"}})) == set()
	count(messages(object.union(confined, {"seccompProfile": {"type": "Unconfined"}}))) == 1
}

# A Pod with a profile whose agent has none of its own.
profile_of_pod(type) := json.patch(
	fixtures.secured(object.remove(confined, ["seccompProfile"])),
	[{"op": "add", "path": "template/spec/securityContext", "value": {"seccompProfile": {"type": type}}}],
)

test_the_pod_s_profile if {
	count(rule.findings) == 0 with input as review.of(profile_of_pod("Localhost"))
	count(rule.findings) == 1 with input as review.of(profile_of_pod("Unconfined"))
}

test_user_instead_of_the_demand if {
	messages(object.union(object.remove(confined, ["runAsNonRoot"]), {"runAsUser": 1000})) == set()
}

test_privileged_is_another_rule_s if {
	messages({"privileged": true}) == set()
}
