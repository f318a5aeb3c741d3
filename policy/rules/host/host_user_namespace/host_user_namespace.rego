# METADATA
# title: A powerful container uses the node's user namespace
# description: >-
#   In the node's user namespace root of a container is root of the node as soon as it gets out. With hostUsers:
#   false the Pod gets a range of user IDs of its own, and capabilities, privileged mode and root count inside that
#   range only.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/user-namespaces/
# custom:
#   group: host
#   severity: info
#   needs: [privileged, capabilities]
#   remedy: >-
#     Set hostUsers: false in the Pod's spec where nodes and volumes support user namespaces.
#   false_positives: >-
#     Nodes with an old kernel or runtime, volumes without ID-mapped mounts, and some nested container engines.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             privileged: true
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         hostUsers: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             privileged: true
package kandev.rules.host_user_namespace

import data.kandev.lib.capabilities
import data.kandev.lib.pod

findings contains {
	"rule": "host-user-namespace",
	"path": path,
	"container": scope.name,
	"message": sprintf("%s is powerful and the Pod uses the node's user namespace", [pod.subject(scope)]),
	"remediation": "set hostUsers: false in the Pod's spec",
} if {
	some place in powerful
	scope := pod.scopes[place]
	not pod.user_namespaced
}

path := sprintf("%s.hostUsers", [pod.path]) if {
	pod.spec.hostUsers == true
} else := pod.path

# Where there is power over the node unless a user namespace takes it from them.
powerful contains place if {
	some place
	pod.scopes[place].spec.securityContext.privileged == true
}

powerful contains place if {
	some place
	name := pod.scopes[place].spec.securityContext.capabilities.add[_]
	not name in capabilities.baseline
}
