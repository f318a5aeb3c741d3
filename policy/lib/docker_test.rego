package kandev.lib.docker_test

import data.kandev.lib.docker
import data.kandev.lib.fixtures
import data.kandev.lib.review

# The engines of a Pod with one companion.
engines(companion) := all if {
	all := docker.engines with input as review.of(fixtures.engine(companion))
}

found(companion) := [engine.container.name | some engine in engines(companion)]

engine(companion) := engines(companion)[0]

test_engines_by_image if {
	every image in ["docker:dind", "docker.io/library/docker:27-dind@sha256:00", "registry.example:5000/dind"] {
		found({"image": image}) == ["companion"]
	}
	found({"image": "docker:27"}) == []
	found({"securityContext": {"privileged": false}}) == []
}

test_engines_by_command if {
	found({"image": "x", "command": ["dockerd"]}) == ["companion"]
	found({"image": "x", "args": ["sh", "-c", "exec dockerd-entrypoint.sh --debug"]}) == ["companion"]
	found({"image": "x", "args": ["docker", "info"]}) == []
}

test_engines_by_data if {
	found({"image": "x", "volumeMounts": [{"name": "data", "mountPath": "/var/lib/docker"}]}) == ["companion"]
	found({"image": "x", "volumeMounts": [{"name": "data", "mountPath": "/var/lib/docker", "readOnly": true}]}) == []
	found({"image": "x", "volumeMounts": [{"name": "data", "mountPath": "/var/lib/docker/containers"}]}) == []
}

test_main_container_is_none if {
	count(docker.engines) == 0 with input as review.of(fixtures.engine({"name": "kandev-agent"}))
}

test_rootless_is_no_root_engine if {
	count(docker.root_engines) == 0 with input as review.of(fixtures.engine({"image": "docker:27-dind-rootless"}))
	count(docker.root_engines) == 1 with input as review.of(fixtures.engine({}))
	count(docker.root_engines) == 1 with input as review.of(fixtures.template({"containers": [{"command": ["dockerd"], "securityContext": {"privileged": true}}]}))
}

test_line if {
	engine({}).line == "dockerd-entrypoint.sh "
	engine({"args": ["dockerd", "-G", "$(GID)"], "env": [{"name": "GID", "value": "123"}]}).line == "dockerd-entrypoint.sh dockerd -G 123"
	engine({"command": ["sh", "-c", "dockerd\nsleep 9"]}).line == "sh -c dockerd\nsleep 9"
	engine({"command": [], "args": ["-H"]}).line == "dockerd-entrypoint.sh -H"
}

test_flags if {
	companion := engine({"args": ["dockerd", "-H", "unix:///a.sock", "--host=tcp://b", "-Htcp://c", "-H=:2375", "sh -c 'dockerd -H fd://;'", "--host", "\"d\""]})
	companion.hosts == ["unix:///a.sock", "tcp://b", "tcp://c", ":2375", "fd://", "d"]

	companion.socket == "/a.sock"

	other := engine({"args": ["dockerd\n--group", "5\n-g /data"]})
	[[flag[1], flag[2]] | some flag in other.flags] == [["--group", "5"], ["-g", "/data"]]
	other.hosts == []
	other.socket == "/var/run/docker.sock"
}

test_mounts_of if {
	companion := engine({"volumeMounts": [{"name": "run", "mountPath": "/var/run/"}, {"name": "data", "mountPath": "/data/docker"}]})
	docker.mounts_of(companion.container, "/var/run/docker.sock") == ["template.spec.containers[1].volumeMounts[0]"]
	docker.mounts_of(companion.container, "/data/") == []
}

test_place_of if {
	companion := engine({"command": ["tini", "--", "dockerd"], "args": ["-H", "tcp://b"]})
	docker.place_of(companion.container, "tcp://b") == "template.spec.containers[1].args[1]"
	docker.place_of(companion.container, "dockerd-entrypoint.sh") == "template.spec.containers[1].image"
}
