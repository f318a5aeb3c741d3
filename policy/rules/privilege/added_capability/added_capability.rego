# METADATA
# title: A container adds a capability beyond the baseline
# description: >-
#   Capabilities such as SYS_ADMIN, SYS_PTRACE, NET_ADMIN or BPF are parts of root's power over the node and over
#   the other containers. The baseline Pod Security Standard lets a container add only a short list, in which
#   even NET_RAW, a default of most runtimes, is missing. A companion with SYS_PTRACE reads the agent's memory and
#   credentials wherever it sees the agent's process (shareProcessNamespace, hostPID); one with SYS_ADMIN mounts what it
#   likes and is close to privileged. Names count in any case and with or without CAP_, because runtimes read them so;
#   ALL is all of them.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://man7.org/linux/man-pages/man7/capabilities.7.html
# custom:
#   group: privilege
#   severity: warning
#   needs: [kandev.adds]
#   pss:
#     level: baseline
#     check: capabilities_baseline
#   remedy: >-
#     Remove the capability, or replace ALL by the few capabilities that the program needs.
#   false_positives: >-
#     A debugger needs SYS_PTRACE and a VPN NET_ADMIN; suppress the finding there with that
#     reason, or allow the capability everywhere with the parameter.
#   parameters:
#   - name: allowed
#     description: Capabilities that containers may add, such as NET_ADMIN.
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
#               add: [SYS_PTRACE]
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
package kandev.rules.added_capability

import data.kandev.lib.capabilities
import data.kandev.lib.parameters

findings contains {
	"rule": "added-capability",
	"path": path,
	"container": name,
	"message": sprintf("container %q adds capability %s, %s", [name, capability, reason(capability)]),
	"remediation": remediation(capability),
} if {
	some add in input.kandev.adds
	capability := add.capability
	not capability in capabilities.baseline
	not capabilities.canonical(capability) in allowed
	path := add.path
	name := add.container.name
}

allowed := {capabilities.canonical(name) | some name in parameters.strings("added-capability", "allowed")}

reason(name) := "every one there is" if {
	capabilities.canonical(name) == "ALL"
} else := "which the baseline standard knows only in upper case and without CAP_" if {
	capabilities.canonical(name) in capabilities.baseline
} else := "which the baseline standard does not allow"

remediation(name) := "replace ALL by the few capabilities that the program needs" if {
	capabilities.canonical(name) == "ALL"
} else := sprintf("write %s, or remove it: runtimes give it by default", [capabilities.canonical(name)]) if {
	capabilities.canonical(name) in capabilities.baseline
} else := sprintf("remove %s from capabilities.add", [name])
