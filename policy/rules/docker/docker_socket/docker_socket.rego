# METADATA
# title: A Docker socket reaches too far, or not to its client
# description: >-
#   Whoever opens the socket commands the daemon. In an emptyDir it ends with the Pod and is nobody else's; on a claim
#   it is in reach of every Pod that mounts the claim, and in the workspace of all that works there. dockerd gives the
#   socket to root and to one group, with mode 0660: the group that --group names, or else the image's group docker,
#   whose number differs between images. A client that does not run as root must be in it, which fsGroup makes sure of
#   for every container of the Pod.
# related_resources:
#   - ref: https://docs.docker.com/reference/cli/dockerd/#daemon-socket-option
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: docker
#   severity: warning
#   needs: [volumeMounts]
#   remedy: >-
#     Share an emptyDir at /run/docker between daemon and agent, start the daemon with --group=GID and set the Pod's
#     fsGroup to that GID.
#   false_positives: >-
#     A client whose image puts its user into the socket's group, by its primary group or in /etc/group. A directory of
#     the node is reported by host-path or sensitive-host-path. No template of the public corpus runs a Docker engine, so
#     none shows this rule.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 1000
#           volumeMounts:
#           - name: docker-socket
#             mountPath: /run/docker
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           args: [dockerd, --host=unix:///run/docker/docker.sock]
#           volumeMounts:
#           - name: docker-socket
#             mountPath: /run/docker
#         volumes:
#         - name: docker-socket
#           emptyDir: {}
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         securityContext:
#           fsGroup: 1000
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 1000
#           volumeMounts:
#           - name: docker-socket
#             mountPath: /run/docker
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           args: [dockerd, --host=unix:///run/docker/docker.sock, --group=1000]
#           volumeMounts:
#           - name: docker-socket
#             mountPath: /run/docker
#         volumes:
#         - name: docker-socket
#           emptyDir: {}
package kandev.rules.docker_socket

import data.kandev.lib.docker
import data.kandev.lib.pod

findings contains {
	"rule": "docker-socket",
	"path": shared.path,
	"container": shared.engine.name,
	"message": sprintf("volume %q with the Docker socket of container %q is no emptyDir", [shared.name, shared.engine.name]),
	"remediation": "put the socket into an emptyDir that only the daemon and its client mount",
} if {
	some shared in sockets
	every volume in pod.spec.volumes {
		not reported_elsewhere(volume, shared.name)
	}
}

findings contains {
	"rule": "docker-socket",
	"path": shared.client_path,
	"container": shared.client.name,
	"message": sprintf("container %q is not root and not known to be in group %s of the Docker socket", [shared.client.name, group]),
	"remediation": "start the daemon with --group=GID and set the Pod's fsGroup to that GID",
} if {
	some shared in sockets
	pod.non_root(shared.client)
	group := socket_group(shared.engine)
	not group in groups(shared.client)
}

# Each volume with a socket that a daemon shares with a client: {path, name, engine, client, client_path}.
sockets contains object.union(mount, {"engine": engine, "client": client, "client_path": client_mount.path}) if {
	some engine in docker.root_engines
	some socket in docker.sockets(engine)
	some mount in docker.mounts_at(engine, socket)
	some client in pod.containers
	client.path != engine.path
	some index, of_client in client.spec.volumeMounts
	of_client.name == mount.name
	client_mount := {"path": sprintf("%s.volumeMounts[%d]", [client.path, index])}
}

# An emptyDir is right, and the host's rules report a directory of the node.
reported_elsewhere(volume, name) if {
	volume.name == name
	some source in ["emptyDir", "hostPath"]
	volume[source]
}

socket_group(engine) := docker.flags(engine, "--group", "-G")[0].value if {
	docker.flags(engine, "--group", "-G")[0]
} else := "docker"

# The groups that the Pod gives a container, as --group would name them.
groups(container) := {sprintf("%v", [group]) |
	some group in array.concat(
		[pod.setting(container, name) | some name in ["runAsGroup", "fsGroup"]],
		object.get(pod.spec, ["securityContext", "supplementalGroups"], []),
	)
}
