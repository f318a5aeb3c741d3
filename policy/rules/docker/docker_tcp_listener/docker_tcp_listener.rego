# METADATA
# title: A Docker daemon listens on TCP
# description: >-
#   Whoever reaches the port commands a privileged daemon, and through it the node. A Pod has one network for all its
#   containers, so even a port on loopback is open to every companion, and 0.0.0.0 to every Pod that a network policy
#   lets through. dockerd-entrypoint.sh of the official images adds such a listener by itself when it gets no
#   arguments or when the first is a flag: port 2376 with TLS, as DOCKER_TLS_CERTDIR is /certs in the image, or port
#   2375 without any authentication where DOCKER_TLS_CERTDIR is empty or the certificates are missing. A --host of
#   one's own comes on top of it. Only a command that names dockerd itself listens where it is told and nowhere else.
#   A companion counts as a Docker engine when it is privileged and its image has dind in its name, its command names
#   dockerd, or it mounts a volume at /var/lib/docker.
# related_resources:
#   - ref: https://docs.docker.com/engine/security/protect-access/
#   - ref: https://github.com/docker-library/docker/blob/master/dockerd-entrypoint.sh
# custom:
#   group: docker
#   severity: warning
#   needs: [kandev.engines]
#   remedy: >-
#     Start the daemon with args: [dockerd, --host=unix:///run/docker/docker.sock], share /run/docker as an emptyDir
#     with the agent and set DOCKER_HOST: unix:///run/docker/docker.sock there.
#   false_positives: >-
#     A privileged companion with dind in its image's name whose entrypoint is not that of the official images. No
#     template of the public corpus runs a Docker engine, so none shows this rule.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           securityContext:
#             privileged: true
#           args: [--host=unix:///run/docker/docker.sock]
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           securityContext:
#             privileged: true
#           args: [dockerd, --host=unix:///run/docker/docker.sock]
package kandev.rules.docker_tcp_listener

import data.kandev.lib.docker

# The script adds --host=tcp://0.0.0.0:2375 or 2376 when nothing or a flag follows it.
findings contains {
	"rule": "docker-tcp-listener",
	"path": docker.place_of(engine.container.path, "dockerd-entrypoint.sh"),
	"container": name,
	"message": sprintf("dockerd-entrypoint.sh of container %q adds a listener on TCP port %s", [name, port(engine)]),
	"remediation": "make dockerd the first of args, with --host=unix:///run/docker/docker.sock",
} if {
	some engine in input.kandev.engines
	regex.match(`dockerd-entrypoint\.sh\s*([-;&|>]|$)`, engine.line)
	name := engine.container.name
}

findings contains {
	"rule": "docker-tcp-listener",
	"path": docker.place_of(engine.container.path, host),
	"container": name,
	"message": sprintf("the Docker daemon of container %q listens on %s", [name, host]),
	"remediation": "remove this host; a Unix socket in a shared emptyDir is enough",
} if {
	some engine in input.kandev.engines
	some host in engine.hosts
	tcp(host)
	name := engine.container.name
}

findings contains {
	"rule": "docker-tcp-listener",
	"path": path,
	"container": name,
	"message": sprintf("container %q reaches a Docker daemon over TCP, at %s", [name, host]),
	"remediation": "let the daemon listen on a Unix socket in a shared emptyDir, and name that",
} if {
	some client in input.kandev.clients
	host := client.host
	path := client.path
	name := client.container.name
}

port(engine) := "2375, without authentication" if {
	some empty in [{"value": ""}, {}]
	object.union({"name": "DOCKER_TLS_CERTDIR"}, empty) in input.kandev.specs[engine.container.path].env
} else := "2376"

tcp(host) if startswith(host, "tcp://")

# An address with a port and without a protocol is one of TCP.
tcp(host) if {
	not contains(host, "://")
	parts := split(host, ":")
	to_number(parts[count(parts) - 1]) > 0
}
