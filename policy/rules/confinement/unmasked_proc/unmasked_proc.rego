# METADATA
# title: A container sees /proc unmasked
# description: >-
#   procMount: Unmasked shows the parts of /proc that runtimes hide or make read-only, such as /proc/kcore and
#   /proc/sys. The API server accepts it only beside hostUsers: false, and the baseline standard allows that from
#   Kubernetes 1.35.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: confinement
#   severity: warning
#   needs: [procMount]
#   pss:
#     level: baseline
#     check: procMount
#   remedy: >-
#     Remove procMount, or set hostUsers: false on Kubernetes 1.35 and newer.
#   false_positives: >-
#     Nested containers without privileged mode need it, in a user namespace.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
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
#             procMount: Unmasked
package kandev.rules.unmasked_proc

findings contains {
	"rule": "unmasked-proc",
	"path": sprintf("%s.securityContext.procMount", [path]),
	"container": name,
	"message": sprintf("%s sees /proc with procMount %v instead of Default", [scope.subject, type]),
	"remediation": "remove procMount; nested containers also need hostUsers: false",
} if {
	input.kandev.contained == false
	some path
	type := input.kandev.specs[path].securityContext.procMount
	type != "Default"
	scope := input.kandev.scopes[path]
	name := scope.name
}
