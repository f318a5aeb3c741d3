# METADATA
# title: A container has no seccomp profile
# description: >-
#   Where neither the container nor the Pod names a profile, containers run without one on every node whose kubelet
#   does not set seccompDefault. The restricted Pod Security Standard asks for one.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tutorials/security/seccomp/
# custom:
#   group: confinement
#   severity: info
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

import data.kandev.lib.pod

findings contains {
	"rule": "seccomp-unset",
	"path": pod.security_context_path(container),
	"container": container.name,
	"message": sprintf("container %q has no seccomp profile, nor has the Pod", [container.name]),
	"remediation": "set seccompProfile.type: RuntimeDefault in the Pod's securityContext",
} if {
	not set_for_pod
	some container in pod.containers
	not container.spec.securityContext.seccompProfile.type
	not pod.windows
}

set_for_pod if pod.spec.securityContext.seccompProfile.type in {"RuntimeDefault", "Localhost"}
