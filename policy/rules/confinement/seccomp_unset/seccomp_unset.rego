# METADATA
# title: A container has no seccomp profile
# description: >-
#   Where neither the container nor the Pod names a profile, containers run without one on every node whose kubelet
#   does not set seccompDefault. The restricted Pod Security Standard asks for one, RuntimeDefault or Localhost, and
#   does not take Unconfined from the Pod even where each container has its own.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tutorials/security/seccomp/
# custom:
#   group: confinement
#   severity: info
#   needs: [kandev.unset.seccompProfile, kandev.unconfined.seccompProfile]
#   pss:
#     level: restricted
#     check: seccompProfile_restricted
#   remedy: >-
#     Set securityContext.seccompProfile.type: RuntimeDefault on the Pod.
#   false_positives: >-
#     Nodes with seccompDefault apply the profile anyhow; a privileged container runs without one whatever is set.
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
#         securityContext:
#           seccompProfile:
#             type: RuntimeDefault
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.seccomp_unset

findings contains {
	"rule": "seccomp-unset",
	"path": path,
	"container": name,
	"message": sprintf("container %q has no seccomp profile, nor has the Pod", [name]),
	"remediation": "set seccompProfile.type: RuntimeDefault in the Pod's securityContext",
} if {
	input.kandev.windows == false
	some container in input.kandev.unset.seccompProfile
	path := container.contextPath
	name := container.name
}

findings contains {
	"rule": "seccomp-unset",
	"path": sprintf("%s.securityContext.seccompProfile.type", [path]),
	"container": name,
	"message": sprintf("%s has seccomp profile %v, which the restricted standard does not allow", [subject, object.get(profile, "type", "without a type")]),
	"remediation": "set seccompProfile.type to RuntimeDefault",
} if {
	some scope in input.kandev.unconfined.seccompProfile
	input.kandev.windows == false
	path := scope.path
	profile := input.kandev.specs[path].securityContext.seccompProfile
	subject := scope.subject
	name := scope.name
}
