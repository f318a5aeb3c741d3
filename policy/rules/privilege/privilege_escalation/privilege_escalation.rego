# METADATA
# title: A container allows privilege escalation
# description: >-
#   With allowPrivilegeEscalation: true a program that is not root can become root through a set-user-ID file of its
#   image, such as sudo or su. Code that an agent runs is not trusted; it should not gain more than the agent has.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: privilege
#   severity: warning
#   needs: [kandev.unconfined.allowPrivilegeEscalation]
#   pss:
#     level: restricted
#     check: allowPrivilegeEscalation
#   remedy: >-
#     Set securityContext.allowPrivilegeEscalation: false.
#   false_positives: >-
#     An image whose work needs sudo; a privileged container always may escalate, so that the value changes nothing
#     there.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             allowPrivilegeEscalation: true
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
package kandev.rules.privilege_escalation

findings contains {
	"rule": "privilege-escalation",
	"path": sprintf("%s.securityContext.allowPrivilegeEscalation", [path]),
	"container": name,
	"message": sprintf("%s lets its programs gain more privileges than they start with", [scope.subject]),
	"remediation": "set allowPrivilegeEscalation: false",
} if {
	input.kandev.windows == false
	some scope in input.kandev.unconfined.allowPrivilegeEscalation
	path := scope.path
	name := scope.name
}
