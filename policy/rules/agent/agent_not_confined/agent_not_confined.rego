# METADATA
# title: The agent is not confined
# description: >-
#   The agent runs commands that a model wrote and code that it downloaded, and nobody has reviewed either. Four
#   settings keep a mistake or an attack within the container: no capabilities, the runtime's seccomp profile, a user
#   other than root, and no way to gain privileges. Rules of the Pod Security Standards say the same of every
#   container as infos, as most public templates lack them; for the one container that runs unreviewed code it is a
#   warning all the same.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: agent
#   severity: warning
#   needs: [kandev.unconfined.agents]
#   remedy: >-
#     Give the main container runAsNonRoot: true with a runAsUser, allowPrivilegeEscalation: false, capabilities.drop:
#     [ALL] and seccompProfile.type: RuntimeDefault.
#   false_positives: >-
#     An agent that must use sudo, and one whose image sets a user other than root. A privileged agent is reported by
#     privileged-container.
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
#             runAsNonRoot: true
#             runAsUser: 1000
#             allowPrivilegeEscalation: false
#             capabilities:
#               drop: [ALL]
#             seccompProfile:
#               type: RuntimeDefault
package kandev.rules.agent_not_confined

findings contains {
	"rule": "agent-not-confined",
	"path": path,
	"container": name,
	"message": sprintf("container %q runs what nobody reviewed without %s", [name, concat(", ", lacks)]),
	"remediation": "set each of these in the container's securityContext",
} if {
	some agent in input.kandev.unconfined.agents
	agent.container.privileged == false
	lacks := agent.lacks
	path := agent.container.contextPath
	name := agent.container.name
}
