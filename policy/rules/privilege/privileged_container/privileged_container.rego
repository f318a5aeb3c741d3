# METADATA
# title: A container runs privileged
# description: >-
#   A privileged container has every capability and every device of the node, and no seccomp, AppArmor or SELinux
#   confinement: whoever controls it controls the node and, in an agent session, can read the agent's credentials.
#   It is the one setting that a Docker-in-Docker companion cannot do without, and no other container should have
#   it.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: privilege
#   severity: warning
#   needs: [kandev.privileged]
#   pss:
#     level: baseline
#     check: privileged
#   remedy: >-
#     Remove privileged, or keep it on the one companion that runs a container engine and give the session nodes of
#     its own.
#   false_positives: >-
#     A Docker-in-Docker companion needs it; suppress the finding there with that reason.
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
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             privileged: false
package kandev.rules.privileged_container

findings contains {
	"rule": "privileged-container",
	"path": sprintf("%s.privileged", [context]),
	"container": name,
	"message": sprintf("container %q runs privileged, with every capability and device of the node", [name]),
	"remediation": remediation,
} if {
	some container in input.kandev.privileged
	context := container.contextPath
	name := container.name
	remediation := {
		true: "remove privileged from the agent; put the engine that needs it into a companion",
		false: "remove privileged, or suppress this with the reason why the companion needs it",
	}[name == input.kandev.mainContainer]
}
