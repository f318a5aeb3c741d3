# METADATA
# title: A container does not rule out privilege escalation
# description: >-
#   Where allowPrivilegeEscalation is absent, set-user-ID files of the image work, as with true. The restricted Pod
#   Security Standard asks for an explicit false on every container.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: privilege
#   severity: info
#   needs: [kandev.unset.allowPrivilegeEscalation]
#   pss:
#     level: restricted
#     check: allowPrivilegeEscalation
#   remedy: >-
#     Set securityContext.allowPrivilegeEscalation: false.
#   false_positives: >-
#     A privileged container must leave it out or set it to true: the API server refuses false there.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             allowPrivilegeEscalation: false
package kandev.rules.privilege_escalation_unset

findings contains {
	"rule": "privilege-escalation-unset",
	"path": path,
	"container": name,
	"message": sprintf("container %q does not set allowPrivilegeEscalation to false", [name]),
	"remediation": remediation,
} if {
	input.kandev.windows == false
	some container in input.kandev.unset.allowPrivilegeEscalation
	path := container.contextPath
	name := container.name

	# The API server refuses the setting beside what it would contradict.
	remediation := {
		true: "remove privileged, then add allowPrivilegeEscalation: false",
		false: "add allowPrivilegeEscalation: false to the container's securityContext",
	}[container.privileged]
}
