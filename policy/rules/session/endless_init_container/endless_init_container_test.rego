package kandev.rules.endless_init_container_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.endless_init_container as rule

paths(container) := fixtures.paths(found) if {
	found := rule.findings with input as review.of(fixtures.template({"initContainers": [{"name": "first", "image": "x"}, container]}))
}

test_endless if {
	every container in [
		{"name": "a", "command": ["sleep", "infinity"]},
		{"command": ["sh", "-c"], "args": ["work; exec tail -f /dev/null"]},
		{"args": ["while true; do sleep 5; done"]},
		{"args": ["while :; do sleep 5; done"]},
	] {
		paths(container) == {"template.spec.initContainers[1]"}
	}
}

test_native_sidecar if {
	paths({"command": ["sleep", "infinity"], "restartPolicy": "Always"}) == set()
}

test_ends if {
	paths({"args": ["while true; do nc -z db 5432 && break; sleep 1; done"]}) == set()
	paths({"command": ["sleep", "5"]}) == set()
}
