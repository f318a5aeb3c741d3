# METADATA
# title: Docker's data has no volume with a size of its own
# description: >-
#   Images, layers and nested containers fill whatever they are given. On the container's own file system they fill
#   the node's disk until the kubelet evicts Pods, this session among them; in the workspace they fill the checkout; on
#   a claim or a directory of the node a cache outlives the session and carries what one session built into the next. An
#   emptyDir with a sizeLimit ends with the Pod and evicts only the session that exceeds it; a sizeLimit of 0 is none.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
#   - ref: https://docs.docker.com/engine/daemon/#daemon-data-directory
# custom:
#   group: docker
#   severity: warning
#   needs: [kandev.engines]
#   remedy: >-
#     Mount an emptyDir with a sizeLimit at /var/lib/docker, or at the daemon's --data-root. Where a container of the
#     Pod has a limit for ephemeral-storage, the sum of all such limits has to hold it.
#   false_positives: >-
#     A daemon whose --data-root stands in a daemon.json of the image. A generic ephemeral volume is as good as an
#     emptyDir and not reported. No template of the public corpus runs a Docker engine, so none shows this rule.
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
#           args: [dockerd]
#           volumeMounts:
#           - name: docker-data
#             mountPath: /var/lib/docker
#         volumes:
#         - name: docker-data
#           emptyDir: {}
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
#           args: [dockerd]
#           volumeMounts:
#           - name: docker-data
#             mountPath: /var/lib/docker
#         volumes:
#         - name: docker-data
#           emptyDir:
#             sizeLimit: 20Gi
package kandev.rules.docker_data_volume

findings contains {
	"rule": "docker-data-volume",
	"path": object.get(engine.dataMount, "path", engine.container.path),
	"container": name,
	"message": sprintf("container %q keeps Docker's data at %s, where no emptyDir with a sizeLimit is mounted", [name, engine.data]),
	"remediation": sprintf("mount an emptyDir with a sizeLimit at %s", [engine.data]),
} if {
	some engine in input.kandev.engines
	engine.root == true

	# A volume that ends with the Pod, or has a bound of its own, holds the data.
	not engine.dataMount.bounded
	not engine.dataMount.kind == "ephemeral"
	name := engine.container.name
}
