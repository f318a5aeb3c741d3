package kandev.lib.docker_test

import data.kandev.lib.docker
import data.kandev.lib.fixtures

# The names of the engines among one companion.
found(companion) := [engine.name | some engine in engines(companion)]

engines(companion) := all if {
	all := docker.engines with input as fixtures.companion(companion)
}

engine(companion) := engines(object.union({"image": "docker:27-dind"}, companion))[0]

test_engines_by_image if {
	every image in ["docker:dind", "docker.io/library/docker:27-dind@sha256:00", "registry.example:5000/dind", "x/dind-rootless:1"] {
		found({"image": image}) == ["companion"]
	}
	every image in ["docker:27", "registry.example/dind/proxy:1", "registry.example/tools"] {
		found({"image": image}) == []
	}
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
	count(docker.engines) == 0 with input as fixtures.everywhere({"name": "kandev-agent", "image": "docker:dind"})
}

test_rootless_is_no_root_engine if {
	count(docker.root_engines) == 0 with input as fixtures.companion({"image": "docker:27-dind-rootless"})
	count(docker.root_engines) == 1 with input as fixtures.companion({"image": "docker:27-dind"})
	count(docker.root_engines) == 1 with input as fixtures.companion({"command": ["dockerd"]})
}

listening(companion) := docker.default_listeners(engine(companion))

test_default_listeners if {
	listening({}) == ["template.spec.containers[1].image"]
	listening({"args": ["--debug"]}) == ["template.spec.containers[1].args[0]"]
	listening({"command": ["tini", "--", "dockerd-entrypoint.sh"], "args": ["-D"]}) == ["template.spec.containers[1].args[0]"]
	listening({"command": ["sh", "-c", "/usr/local/bin/dockerd-entrypoint.sh & sleep 9"]}) == ["template.spec.containers[1].command[2]"]
}

test_no_default_listeners if {
	listening({"args": ["dockerd", "--debug"]}) == []
	listening({"command": ["dockerd"]}) == []
	listening({"command": ["dockerd-entrypoint.sh", "dockerd"], "args": ["-D"]}) == []
	listening({"args": ["sh", "-c", "exec dockerd-entrypoint.sh $FLAGS"]}) == []
}

test_hosts if {
	companion := engine({
		"args": ["dockerd", "-H", "unix:///a.sock", "--host=tcp://b", "-Htcp://c", "-H=:2375", "sh -c 'dockerd --host $(E)'"],
		"env": [{"name": "E", "value": "tcp://e"}],
	})
	[host.value | some host in docker.hosts(companion)] == ["unix:///a.sock", "tcp://b", "tcp://c", ":2375", "tcp://e"]
}

test_sockets if {
	docker.sockets(engine({"args": ["dockerd", "--host=unix:///var/run/d/docker.sock"]})) == {"/run/d/docker.sock/"}
	docker.sockets(engine({"args": ["--debug"]})) == {"/run/docker.sock/"}
}

test_data_root if {
	docker.data_root(engine({})) == "/var/lib/docker/"
	docker.data_root(engine({"args": ["dockerd", "--data-root", "/data//docker"]})) == "/data/docker/"
	docker.data_root(engine({"args": ["dockerd", "-g=/graph"]})) == "/graph/"
}

test_mounts_at if {
	container := {"path": "c", "spec": {"volumeMounts": [
		{"name": "run", "mountPath": "/var/run"},
		{"name": "data", "mountPath": "/data"},
	]}}
	docker.mounts_at(container, "/run/docker.sock/") == [{"path": "c.volumeMounts[0]", "name": "run"}]
}
