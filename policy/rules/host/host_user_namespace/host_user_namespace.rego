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
#   needs: [kandev.privileged, kandev.adds]
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

findings contains {
	"rule": "host-user-namespace",
	"path": path,
	"container": name,
	"message": sprintf("%s is powerful and the Pod uses the node's user namespace", [subject]),
	"remediation": "set hostUsers: false in the Pod's spec",
} if {
	not input.kandev.spec.hostUsers == false
	some container in input.kandev.privileged
	subject := container.subject
	name := container.name
	path := place
}

findings contains {
	"rule": "host-user-namespace",
	"path": path,
	"container": name,
	"message": sprintf("%s is powerful and the Pod uses the node's user namespace", [subject]),
	"remediation": "set hostUsers: false in the Pod's spec",
} if {
	some add in input.kandev.adds
	not input.kandev.spec.hostUsers == false
	not add.capability in capabilities.baseline
	subject := add.container.subject
	name := add.container.name
	path := place
}

place := sprintf("%s.hostUsers", [input.kandev.path]) if {
	input.kandev.spec.hostUsers == true
} else := input.kandev.path
