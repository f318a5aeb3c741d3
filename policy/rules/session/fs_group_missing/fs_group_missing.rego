# METADATA
# title: A container cannot write to the workspace without fsGroup
# description: >-
#   A new claim belongs to root and is closed to others, so that an agent that does not run as root cannot clone into
#   it, unless fsGroup gives the volume to a group of the Pod. And where a companion with a writable grant has another
#   user than the agent, neither can change what the other made there: fsGroup is the group that both have, though
#   each still writes new files with its own umask. What an existing claim holds is not known, and an emptyDir is open
#   to all users, so an agent on these is not reported.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: session
#   severity: warning
#   needs: [kandev.unset.fsGroup]
#   remedy: >-
#     Set securityContext.fsGroup on the Pod, to the agent's group ID.
#   false_positives: >-
#     A storage class that opens new volumes to every user, as some provisioners of node-local and network file
#     systems do.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 1000
#         - name: tools
#           image: registry.example/tools:2.1
#           securityContext:
#             runAsUser: 2000
#           volumeMounts:
#           - name: kandev-workspace
#             mountPath: /workspace
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         securityContext:
#           fsGroup: 1000
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsUser: 1000
#         - name: tools
#           image: registry.example/tools:2.1
#           securityContext:
#             runAsUser: 2000
#           volumeMounts:
#           - name: kandev-workspace
#             mountPath: /workspace
package kandev.rules.fs_group_missing

findings contains {
	"rule": "fs-group-missing",
	"path": path,
	"container": name,
	"message": sprintf("container %q is not root, and without fsGroup cannot write to a new workspace claim", [name]),
	"remediation": "set fsGroup in the Pod's securityContext",
} if {
	input.kandev.workspaceMode == "managed_pvc"
	some agent in input.kandev.agents
	agent.nonRoot == true
	some path in input.kandev.unset.fsGroup
	name := agent.name
}

findings contains {
	"rule": "fs-group-missing",
	"path": path,
	"container": name,
	"message": sprintf("container %q writes to the workspace as user %d, the agent as %d", [name, user, agent_user]),
	"remediation": "set fsGroup in the Pod's securityContext, or give both one runAsUser",
} if {
	some grant in input.kandev.grants
	input.kandev.unset.fsGroup[0]
	user := input.kandev.effective[grant.companion.path].runAsUser
	agent_user := input.kandev.effective[input.kandev.agents[_].path].runAsUser
	user != agent_user
	path := grant.path
	name := grant.companion.name
}
