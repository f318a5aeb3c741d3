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

import data.kandev.lib.users

findings contains {
	"rule": "agent-not-confined",
	"path": path,
	"container": name,
	"message": sprintf("container %q runs what nobody reviewed without %s", [name, concat(", ", missing)]),
	"remediation": "set each of these in the container's securityContext",
} if {
	# What is not all that is asked for may be as good.
	agent := input.kandev.unconfined.agents[0]
	not agent.privileged
	missing := lacking
	count(missing) > 0
	path := agent.contextPath
	name := agent.name
}

lacking contains "runAsNonRoot: true" if not users.non_root(input.kandev.agents[0])

lacking contains "allowPrivilegeEscalation: false" if not context.allowPrivilegeEscalation == false

lacking contains "capabilities.drop: [ALL]" if not drops_all

lacking contains "seccompProfile.type: RuntimeDefault" if not profiled

context := input.kandev.specs[input.kandev.agents[0].path].securityContext

drops_all if context.capabilities.drop[_] == "ALL"

profiled if profile.type in {"RuntimeDefault", "Localhost"}

profile := context.seccompProfile if {
	context.seccompProfile != null
} else := input.kandev.spec.securityContext.seccompProfile
