# METADATA
# title: Containers see each other's processes
# description: >-
#   With shareProcessNamespace a companion with the agent's user ID reads the agent's credentials, memory-backed
#   files included, through /proc/PID/root, although it mounts none of them; a privileged one needs no user ID. A
#   container's own process namespace is what keeps /run/kandev to the agent.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/share-process-namespace/
# custom:
#   group: credentials
#   severity: warning
#   needs: [shareProcessNamespace=true]
#   remedy: >-
#     Remove shareProcessNamespace.
#   false_positives: >-
#     A Pod whose only container is the agent, as long as admission adds no other.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         shareProcessNamespace: true
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         shareProcessNamespace: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.shared_process_namespace

findings contains {
	"rule": "shared-process-namespace",
	"path": sprintf("%s.shareProcessNamespace", [input.kandev.path]),
	"container": "",
	"message": "the Pod shares one process namespace: other containers can read the agent's credentials through /proc",
	"remediation": "remove shareProcessNamespace",
} if {
	input.kandev.spec.shareProcessNamespace == true
}
