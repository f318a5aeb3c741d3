# METADATA
# title: A privileged companion can write to the workspace
# description: >-
#   What a privileged companion writes, the agent runs: hooks, build scripts, binaries with the set-user-ID bit,
#   device files. A flaw in the companion, or an image that it pulled, so reaches the agent and its credentials, and
#   through the companion's privilege the node. A read-only grant keeps its own programs and nested containers from
#   writing by accident; it is no barrier against a companion that is taken over, since a privileged one can mount the
#   workspace anew.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/concepts/security/linux-kernel-security-constraints/#privileged-containers
# custom:
#   group: companion
#   severity: warning
#   needs: [kandev.grants]
#   remedy: >-
#     Grant the workspace with readOnly: true, or to a companion that is not privileged.
#   false_positives: >-
#     A Docker engine whose nested containers build in the workspace; suppress the finding there with that reason. No
#     template of the public corpus has a workspace grant, so none shows this rule.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: tools
#           image: registry.example/tools:2.1
#           securityContext:
#             privileged: true
#           volumeMounts:
#           - name: kandev-workspace
#             mountPath: /workspace
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: tools
#           image: registry.example/tools:2.1
#           securityContext:
#             privileged: true
#           volumeMounts:
#           - name: kandev-workspace
#             mountPath: /workspace
#             readOnly: true
package kandev.rules.privileged_workspace_grant

findings contains {
	"rule": "privileged-workspace-grant",
	"path": path,
	"container": name,
	"message": sprintf("privileged container %q can write to the workspace, whose files the agent runs", [name]),
	"remediation": "set readOnly: true, or suppress this with the reason why the companion must write",
} if {
	some grant in input.kandev.grants
	grant.companion.privileged == true
	name := grant.companion.name
	path := grant.path
}
