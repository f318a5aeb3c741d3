# METADATA
# title: A container adds a capability of the default set
# description: >-
#   The capability is one that container runtimes give by default, so adding it matters only beside drop: [ALL],
#   where it keeps a piece of root's power. The restricted Pod Security Standard allows NET_BIND_SERVICE alone.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: privilege
#   severity: info
#   needs: [kandev.adds]
#   pss:
#     level: restricted
#     check: capabilities_restricted
#   remedy: >-
#     Remove the capability from capabilities.add unless the program fails without it.
#   false_positives: >-
#     A program that starts as root and changes to another user needs SETUID and SETGID.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             capabilities:
#               drop: [ALL]
#               add: [CHOWN]
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             capabilities:
#               drop: [ALL]
#               add: [NET_BIND_SERVICE]
package kandev.rules.baseline_capability

import data.kandev.lib.capabilities

findings contains {
	"rule": "baseline-capability",
	"path": path,
	"container": name,
	"message": sprintf("container %q adds capability %s, which the restricted standard forbids", [name, capability]),
	"remediation": sprintf("remove %s from capabilities.add unless the program fails without it", [capability]),
} if {
	some add in input.kandev.adds
	input.kandev.windows == false
	capability := add.capability
	capability in capabilities.baseline
	capability != "NET_BIND_SERVICE"
	path := add.path
	name := add.container.name
}
