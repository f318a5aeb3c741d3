package kandev.rules.docker_tcp_listener_test

import data.kandev.lib.fixtures
import data.kandev.rules.docker_tcp_listener as rule

of(companion) := found if {
	found := rule.findings with input as fixtures.companion(companion)
}

test_the_entrypoint_s_default if {
	{[finding.path, finding.message] | some finding in of({"image": "docker:27-dind"})} == {[
		"template.spec.containers[1].image",
		`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2376`,
	]}
}

certificates(variable) := {finding.message |
	some finding in of({"image": "docker:dind", "env": [object.union({"name": "DOCKER_TLS_CERTDIR"}, variable)]})
}

test_certificates if {
	certificates({"value": ""}) == {`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2375, without authentication`}
	certificates({}) == certificates({"value": ""})
	certificates({"value": "/tls"}) == {`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2376`}
	certificates({"valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}) == certificates({"value": "/tls"})
}

test_flags if {
	found := of({"image": "x", "command": ["dockerd", "-H", "tcp://0.0.0.0:2375", "--host=:2375", "--host", "unix:///a", "-H", "fd://"]})
	fixtures.paths(found) == {"template.spec.containers[1].command[2]", "template.spec.containers[1].command[3]"}
}

test_dockerd_alone if {
	count(of({"image": "docker:dind", "args": ["dockerd", "--log-opt", "syslog-address=tcp://logs:514"]})) == 0
}

test_client if {
	found := of({"image": "x", "env": [
		{"name": "A", "value": "tcp://a"},
		{"name": "DOCKER_HOST", "value": "tcp://localhost:2375"},
	]})
	fixtures.paths(found) == {"template.spec.containers[1].env[1].value"}
	count(of({"image": "x", "env": [{"name": "DOCKER_HOST", "value": "unix:///run/docker/docker.sock"}]})) == 0
}
