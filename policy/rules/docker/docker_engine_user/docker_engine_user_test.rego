package kandev.rules.docker_engine_user_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.docker_engine_user as rule

# A Pod with a security context, and a daemon with one.
pair(of_pod, of_engine) := fixtures.template({"securityContext": of_pod, "containers": [
	{"name": "kandev-agent"},
	{"name": "engine", "args": ["dockerd"], "securityContext": object.union({"privileged": true}, of_engine)},
]})

messages(of_pod, of_engine) := {[finding.path, finding.message] | some finding in found} if {
	found := rule.findings with input as review.of(pair(of_pod, of_engine))
}

test_pod_wide if {
	messages({"runAsNonRoot": true, "runAsUser": 1000}, {"runAsUser": 0}) == {[
		"template.spec.securityContext.runAsNonRoot",
		`the Docker daemon of container "engine" needs root, and the Pod sets runAsNonRoot: true`,
	]}
}

test_own if {
	messages({}, {"runAsUser": 1000}) == {[
		"template.spec.containers[1].securityContext.runAsUser",
		`the Docker daemon of container "engine" needs root, and container "engine" sets runAsUser: 1000`,
	]}
}

test_root if {
	messages({}, {}) == set()
	messages({"runAsNonRoot": true, "runAsUser": 1000}, {"runAsNonRoot": false, "runAsUser": 0}) == set()
}
