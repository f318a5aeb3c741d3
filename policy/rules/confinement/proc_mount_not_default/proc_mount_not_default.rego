# METADATA
# title: A container's procMount is not Default
# description: >-
#   The baseline standard allows procMount: Unmasked in a Pod with a user namespace of its own from Kubernetes 1.35; the
#   restricted standard goes on to forbid it. The parts of /proc that it shows belong to the whole node.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: confinement
#   severity: info
#   needs: [procMount]
#   pss:
#     level: restricted
#     check: procMount_restricted
#   remedy: >-
#     Remove procMount.
#   false_positives: >-
#     Nested containers without privileged mode need it, in a user namespace.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         hostUsers: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             procMount: Unmasked
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         hostUsers: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             procMount: Default
package kandev.rules.proc_mount_not_default

findings contains {
	"rule": "proc-mount-not-default",
	"path": sprintf("%s.securityContext.procMount", [container.path]),
	"container": name,
	"message": sprintf("container %q has procMount %v, which the restricted standard does not allow", [name, type]),
	"remediation": "remove procMount",
} if {
	input.kandev.minor >= 35
	some container in input.kandev.containers
	type := input.kandev.specs[container.path].securityContext.procMount
	type != "Default"
	name := container.name
}
