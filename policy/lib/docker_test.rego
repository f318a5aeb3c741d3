package kandev.lib.docker_test

import data.kandev.lib.docker
import data.kandev.lib.review

test_place_of if {
	document := review.of({"spec": {"containers": [{"command": ["tini", "--", "dockerd"], "args": ["-H", "tcp://b"]}]}})
	docker.place_of("spec.containers[0]", "tcp://b") == "spec.containers[0].args[1]" with input as document
	docker.place_of("spec.containers[0]", "dockerd-entrypoint.sh") == "spec.containers[0].image" with input as document
}
