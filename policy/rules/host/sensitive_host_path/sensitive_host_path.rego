# METADATA
# title: A volume gives the node away
# description: >-
#   Some paths of a node are worth the node: its root, /etc, /proc, /sys, /dev, the kubelet's directory with every
#   Pod's volumes and tokens, and the container runtime's data and socket, through which any container can be
#   started. A companion that mounts the kubelet's or the runtime's directories reaches the agent's credentials too, the
#   memory-backed ones included. The path counts as the node resolves it, and so does a directory above such a path.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
# custom:
#   group: host
#   severity: warning
#   needs: [hostPath]
#   pss:
#     level: baseline
#     check: hostPathVolumes
#   remedy: >-
#     Remove the volume; for Docker run an engine in a companion with a Pod-scoped socket.
#   false_positives: >-
#     A single device such as /dev/kvm or /dev/fuse is less than all of /dev; suppress the finding with that reason.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: docker
#           hostPath:
#             path: /var/run/docker.sock
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: docker
#           emptyDir: {}
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.sensitive_host_path

import data.kandev.lib.hostpaths

findings contains {
	"rule": "sensitive-host-path",
	"path": sprintf("%s.volumes[%d].hostPath.path", [input.kandev.path, index]),
	"container": "",
	"message": sprintf("volume %q is %s of the node: %s", [object.get(volume, "name", ""), volume.hostPath.path, danger]),
	"remediation": "remove the volume and its mounts; a session needs nothing of its node",
} if {
	some index
	danger := hostpaths.danger(input.kandev.spec.volumes[index].hostPath.path)
	volume := input.kandev.spec.volumes[index]
}
