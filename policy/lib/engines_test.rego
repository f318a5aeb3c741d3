package kandev.lib.engines_test

import data.kandev.lib.fixtures
import data.kandev.lib.review

# The engines of a Pod with one companion.
engines(companion) := review.of(fixtures.engine(companion)).kandev.engines

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
	engines({"name": "kandev-agent"}) == []
}

test_rootless_needs_no_root if {
	not engine({"image": "docker:27-dind-rootless"}).root
	engine({}).root
	template := fixtures.template({"containers": [{"command": ["dockerd"], "securityContext": {"privileged": true}}]})
	review.of(template).kandev.engines[0].root
}

test_line if {
	engine({}).line == "dockerd-entrypoint.sh "
	engine({"args": ["dockerd", "-G", "$(GID)"], "env": [{"name": "GID", "value": "123"}]}).line == "dockerd-entrypoint.sh dockerd -G 123"
	engine({"command": ["sh", "-c", "dockerd\nsleep 9"]}).line == "sh -c dockerd\nsleep 9"
	engine({"command": [], "args": ["-H"]}).line == "dockerd-entrypoint.sh -H"
}

# Volumes at the sockets that are given to the daemon below, and that it has otherwise.
sockets := [{"name": "given", "mountPath": "/a.sock"}, {"name": "usual", "mountPath": "/var/run/docker.sock"}]

test_flags if {
	companion := engine({"volumeMounts": sockets, "args": ["dockerd", "-H", "unix:///a.sock", "--host=tcp://b", "-Htcp://c", "-H=:2375", "sh -c 'dockerd -H fd://;'", "--host", "\"d\""]})
	companion.hosts == ["tcp://b", "tcp://c", ":2375", "fd://", "d"]

	companion.socketMount.volume == "given"

	other := engine({"volumeMounts": sockets, "args": ["dockerd\n--group", "5\n-g /data"]})
	[other.group, other.data] == ["5", "/data"]
	[other.hosts, other.socketMount.volume] == [[], "usual"]

	silent := engine({"args": ["sh", "-c", "test 1 -ge 0 && dockerd"]})
	[silent.group, silent.data] == ["docker", "/var/lib/docker"]
}

# Whether a Pod with a security context puts each of its containers into the group that its engine names.
shared(context, group) := review.of(fixtures.template({
	"securityContext": context,
	"containers": [{"args": ["dockerd", "-G", group], "securityContext": {"privileged": true}}],
})).kandev.engines[0].groupShared

test_group_of_the_pod if {
	shared({"fsGroup": 1000}, "1000")
	shared({"fsGroup": 1, "supplementalGroups": [null, 5, 1000]}, "1000")
	not shared({"fsGroup": 1000.5, "supplementalGroups": {"a": 1000}}, "1000")
	not shared({"fsGroup": "1000"}, "1000")
	not shared({}, "docker")
}

# A Pod with a client of an engine, and another companion.
beside(companion) := review.of({"spec": {"containers": [
	{"name": "a", "env": [null, {"name": "DOCKER_HOST", "value": "tcp://x"}, {"name": "DOCKER_HOST", "value": "unix:///x"}, {"name": "DOCKER_HOST", "valueFrom": {}}]},
	{"env": {"name": "DOCKER_HOST", "value": "y"}},
	companion,
]}}).kandev

test_clients if {
	pod := beside({"args": ["dockerd"], "securityContext": {"privileged": true}})
	pod.clients == [{"container": pod.containers[0], "host": "tcp://x", "path": "spec.containers[0].env[1].value"}]
	beside({}).clients == []
}

test_mounts if {
	paths := ["/var", "/var/run/", "/var/runner", "/data/docker", "/dat"]
	mounts := array.concat([{"name": path, "mountPath": path} | some path in paths], [{"name": 7, "mountPath": "/"}, null])
	companion := engine({"args": ["dockerd", "-g/data"], "volumeMounts": mounts})
	companion.socketMount == {"path": "template.spec.containers[1].volumeMounts[1]", "volume": "/var/run/", "kind": "", "bounded": false}
	companion.dataMount == {}

	# The same directory twice is refused by the API server.
	twice := engine({"volumeMounts": [{"name": name, "mountPath": "/"} | some name in ["a", "b"]]})
	[twice.dataMount.volume, twice.socketMount.volume] == ["a", "a"]
}

# The mount of Docker's data where the Pod has a volume for it.
data_mount(volume) := object.remove(mount, ["path", "volume"]) if {
	mount := review.of({"spec": {
		"containers": [{"args": ["dockerd"], "securityContext": {"privileged": true}, "volumeMounts": [{"name": "a", "mountPath": "/var/lib/docker"}]}],
		"volumes": [object.union({"name": "a"}, volume)],
	}}).kandev.engines[0].dataMount
}

test_kinds if {
	data_mount({"emptyDir": {"sizeLimit": "1Gi"}}) == {"kind": "emptyDir", "bounded": true}
	data_mount({"emptyDir": {"sizeLimit": null}}) == {"kind": "emptyDir", "bounded": false}
	data_mount({"emptyDir": {"sizeLimit": "0"}}) == {"kind": "emptyDir", "bounded": false}
	data_mount({}) == {"kind": "emptyDir", "bounded": false}
	data_mount({"hostPath": {}, "nfs": null}) == {"kind": "hostPath", "bounded": false}
	data_mount({"nfs": {}, "ephemeral": {}}) == {"kind": "ephemeral", "bounded": false}
}
