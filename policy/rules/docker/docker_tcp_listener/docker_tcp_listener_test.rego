package kandev.rules.docker_tcp_listener_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.docker_tcp_listener as rule

of(companion) := found if {
	found := rule.findings with input as review.of(fixtures.engine(companion))
}

test_the_entrypoint_s_default if {
	{[finding.path, finding.message] | some finding in of({})} == {[
		"template.spec.containers[1].image",
		`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2376`,
	]}
}

certificates(variable) := {finding.message |
	some finding in of({"env": [object.union({"name": "DOCKER_TLS_CERTDIR"}, variable)]})
}

test_certificates if {
	certificates({"value": ""}) == {`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2375, without authentication`}
	certificates({}) == certificates({"value": ""})
	certificates({"value": "/tls"}) == {`dockerd-entrypoint.sh of container "companion" adds a listener on TCP port 2376`}
	certificates({"valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}) == certificates({"value": "/tls"})
}

test_flags if {
	found := of({"image": "x", "command": ["dockerd", "-H", "tcp://0.0.0.0:2375", "--host=:2376", "--host", "unix:///a", "-H", "fd://", "--host-gateway-ip=10.0.0.1"]})
	fixtures.paths(found) == {"template.spec.containers[1].command[2]", "template.spec.containers[1].command[3]"}
}

test_dockerd_alone if {
	count(of({"args": ["dockerd", "--log-opt", "syslog-address=tcp://logs:514"]})) == 0
}

# The agent with a variable, beside a daemon or another companion.
client(name, value, companion) := {finding.path | some finding in found} if {
	found := rule.findings with input as review.of(fixtures.template({"containers": [
		{"name": "kandev-agent", "env": [{"name": "A", "value": "tcp://a"}, {"name": name, "value": value}]},
		companion,
	]}))
}

test_client if {
	daemon := {"name": "engine", "args": ["dockerd"], "securityContext": {"privileged": true}}
	client("DOCKER_HOST", "tcp://localhost:2375", daemon) == {"template.spec.containers[0].env[1].value"}
	client("DOCKER_HOST", "unix:///run/docker/docker.sock", daemon) == set()
	client("DOCKER_HOST", "tcp://docker.example:2376", {"name": "tools"}) == set()
}
