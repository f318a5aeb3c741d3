package kandev.lib.docker_test

import data.kandev.lib.docker

test_place_of if {
	container := {"path": "spec.containers[1]", "spec": {"command": ["tini", "--", "dockerd"], "args": ["-H", "tcp://b"]}}
	docker.place_of(container, "tcp://b") == "spec.containers[1].args[1]"
	docker.place_of(container, "dockerd-entrypoint.sh") == "spec.containers[1].image"
}
