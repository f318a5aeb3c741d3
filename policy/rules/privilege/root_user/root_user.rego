# METADATA
# title: A container or the Pod asks for the root user
# description: >-
#   runAsUser: 0 overrides whatever user the image names. Root in a container owns every file of the image and the
#   workspace, and is one kernel or runtime flaw away from root on the node, unless the Pod has a user namespace of
#   its own (hostUsers: false, which the restricted standard accepts from Kubernetes 1.35).
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: privilege
#   severity: warning
#   needs: [kandev.unconfined.runAsUser]
#   pss:
#     level: restricted
#     check: runAsUser
#   remedy: >-
#     Set runAsUser to a user ID other than 0, or leave it to the image and set runAsNonRoot: true.
#   false_positives: >-
#     A container engine's daemon runs as root by design; suppress the finding on that companion.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 0
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 1000
package kandev.rules.root_user

findings contains {
	"rule": "root-user",
	"path": sprintf("%s.securityContext.runAsUser", [path]),
	"container": name,
	"message": sprintf("%s runs as user 0, root", [scope.subject]),
	"remediation": "set runAsUser to a user ID other than 0",
} if {
	input.kandev.contained == false
	some scope in input.kandev.unconfined.runAsUser
	path := scope.path
	name := scope.name
}
