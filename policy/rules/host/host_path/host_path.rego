# METADATA
# title: A volume is a directory of the node
# description: >-
#   A hostPath volume outlives the session, is shared with every other Pod on the node that names it, and makes the
#   session depend on one node's contents. The workspace, caches and sockets of a session belong in Pod-scoped
#   volumes.
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
#     Use an emptyDir, a claim, a ConfigMap or an image volume instead of hostPath.
#   false_positives: >-
#     A node prepared with a read-only data set or a read-only cache of images.
#   parameters:
#   - name: allowed
#     description: Directories of the node that are prepared for sessions; what lies below one is allowed too.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: cache
#           hostPath:
#             path: /data/cache
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: cache
#           emptyDir: {}
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.host_path

import data.kandev.lib.hostpaths
import data.kandev.lib.parameters
import data.kandev.lib.paths

findings contains {
	"rule": "host-path",
	"path": sprintf("%s.volumes[%d].hostPath", [input.kandev.path, index]),
	"container": "",
	"message": sprintf("volume %q is %s of the node", [object.get(volume, "name", ""), object.get(volume.hostPath, "path", "a path")]),
	"remediation": "use an emptyDir or a claim",
} if {
	some index
	input.kandev.spec.volumes[index].hostPath != null
	volume := input.kandev.spec.volumes[index]
	not sensitive(volume.hostPath)
	not allowed(volume.hostPath)
}

# sensitive-host-path has those; a source without a path is none.
sensitive(source) if hostpaths.danger(source.path)

allowed(source) if {
	some directory in parameters.strings("host-path", "allowed")
	startswith(paths.clean(source.path), paths.clean(directory))
}
