# METADATA
# title: A seccomp annotation has no effect
# description: >-
#   Kubernetes reads the seccomp annotations no more since 1.27; only the field seccompProfile counts. A template
#   that relies on them runs without the profile that its author meant.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/labels-annotations-taints/#seccomp-security-alpha-kubernetes-io-pod
# custom:
#   group: confinement
#   severity: warning
#   needs: [seccomp.security.alpha.kubernetes.io/, container.seccomp.security.alpha.kubernetes.io/]
#   remedy: >-
#     Remove the annotation and set securityContext.seccompProfile.
#   false_positives: >-
#     A template that is also used on clusters older than 1.27 and sets the field too.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       metadata:
#         annotations:
#           seccomp.security.alpha.kubernetes.io/pod: runtime/default
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
package kandev.rules.seccomp_annotation

findings contains {
	"rule": "seccomp-annotation",
	"path": sprintf("%s.annotations[%s]", [input.kandev.metadataPath, key]),
	"container": "",
	"message": sprintf("annotation %s has no effect", [key]),
	"remediation": "remove the annotation and set securityContext.seccompProfile",
} if {
	some key, _ in input.kandev.annotations
	startswith(trim_prefix(key, "container."), "seccomp.security.alpha.kubernetes.io/")
}
