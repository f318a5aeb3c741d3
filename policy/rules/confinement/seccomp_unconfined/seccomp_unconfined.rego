# METADATA
# title: Seccomp is turned off
# description: >-
#   The runtime's default seccomp profile blocks system calls that containers do not need and exploits do.
#   Unconfined turns it off even on nodes that apply it by default.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tutorials/security/seccomp/
# custom:
#   group: confinement
#   severity: warning
#   needs: [kandev.unconfined.seccompProfile]
#   pss:
#     level: baseline
#     check: seccompProfile_baseline
#   remedy: >-
#     Set seccompProfile.type to RuntimeDefault, or to Localhost with a profile of your own.
#   false_positives: >-
#     Debuggers and nested container engines that a default profile stops; a Localhost profile is narrower.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             seccompProfile:
#               type: Unconfined
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             seccompProfile:
#               type: RuntimeDefault
package kandev.rules.seccomp_unconfined

findings contains {
	"rule": "seccomp-unconfined",
	"path": sprintf("%s.securityContext.seccompProfile.type", [path]),
	"container": name,
	"message": sprintf("%s uses seccomp profile %v", [subject, object.get(profile, "type", "without a type")]),
	"remediation": "set seccompProfile.type to RuntimeDefault",
} if {
	some scope in input.kandev.unconfined.seccompProfile
	path := scope.path
	profile := input.kandev.specs[path].securityContext.seccompProfile
	subject := scope.subject
	name := scope.name
}
