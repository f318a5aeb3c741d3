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
#   needs: [kandev.engines]
#   remedy: >-
#     Share an emptyDir at /run/docker between daemon and agent, start the daemon with --group=GID and set the Pod's
#     fsGroup to that GID.
#   false_positives: >-
#     A client whose image puts its user into the socket's group, by its primary group or in /etc/group. A directory
#     of the node is reported by host-path or sensitive-host-path. No template of the public corpus runs a Docker
#     engine, so none shows this rule.
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
#           securityContext:
#             privileged: true
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
#           securityContext:
#             privileged: true
#           args: [dockerd, --host=unix:///run/docker/docker.sock, --group=1000]
#           volumeMounts:
#           - name: docker-socket
#             mountPath: /run/docker
#         volumes:
#         - name: docker-socket
#           emptyDir: {}
package kandev.rules.docker_socket

findings contains {
	"rule": "docker-socket",
	"path": path,
	"container": name,
	"message": sprintf("volume %q with the Docker socket of container %q is no emptyDir", [volume, name]),
	"remediation": "put the socket into an emptyDir that only the daemon and its client mount",
} if {
	some engine in input.kandev.engines
	engine.root == true

	# The rules about hostPath report a directory of the node.
	not engine.socketMount.kind in {"emptyDir", "hostPath"}
	volume := engine.socketMount.volume
	path := engine.socketMount.path
	name := engine.container.name
}

findings contains {
	"rule": "docker-socket",
	"path": sprintf("%s.volumeMounts[%d]", [client.path, index]),
	"container": name,
	"message": sprintf("container %q is not root and not known to be in group %s of the Docker socket", [name, engine.group]),
	"remediation": "start the daemon with --group=GID and set the Pod's fsGroup to that GID",
} if {
	some engine in input.kandev.engines
	engine.root == true
	not engine.groupShared
	some client in input.kandev.containers
	some index
	input.kandev.specs[client.path].volumeMounts[index].name == engine.socketMount.volume
	client.path != engine.container.path
	client.nonRoot == true
	not primary(client, engine.group)
	name := client.name
}

primary(container, group) if format_int(input.kandev.effective[container.path].runAsGroup, 10) == group
