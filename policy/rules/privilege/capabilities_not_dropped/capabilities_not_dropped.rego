# METADATA
# title: A container keeps Linux capabilities
# description: >-
#   A container that does not drop ALL keeps some fourteen pieces of root's power that the runtime gives by default, such
#   as making packets of any kind or changing the owner of any file, for whatever process comes to run as root in it. The
#   restricted Pod Security Standard asks every container to drop ALL.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: privilege
#   severity: info
#   needs: [kandev.unset.dropAll, kandev.adds]
#   pss:
#     level: restricted
#     check: capabilities_restricted
#   remedy: >-
#     Set securityContext.capabilities.drop: [ALL] on each container, and add back only what its program fails without.
#   false_positives: >-
#     A privileged container has every capability whatever it drops. A program that starts as root and changes to
#     another user needs some.
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
#               drop: [NET_RAW]
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
package kandev.rules.capabilities_not_dropped

import data.kandev.lib.capabilities

findings contains {
	"rule": "capabilities-not-dropped",
	"path": path,
	"container": name,
	"message": sprintf("container %q does not drop ALL capabilities", [name]),
	"remediation": remediation,
} if {
	input.kandev.windows == false
	some container in input.kandev.unset.dropAll
	path := container.contextPath
	name := container.name

	# Dropping changes nothing where privileged gives everything.
	remediation := {
		true: "remove privileged, then add capabilities.drop: [ALL]",
		false: "add capabilities.drop: [ALL] to the container's securityContext",
	}[container.privileged]
}

# What the baseline standard lets it add is baseline-capability's.
findings contains {
	"rule": "capabilities-not-dropped",
	"path": path,
	"container": name,
	"message": sprintf("container %q drops ALL capabilities and takes %s back", [name, capability]),
	"remediation": sprintf("remove %s from capabilities.add", [capability]),
} if {
	some add in input.kandev.adds
	input.kandev.windows == false
	capability := add.capability
	not capability in capabilities.baseline
	"ALL" in input.kandev.specs[add.container.path].securityContext.capabilities.drop
	path := add.path
	name := add.container.name
}
