# METADATA
# title: A container chooses its own SELinux label
# description: >-
#   An SELinux user, role or a type other than those for containers can take a container out of the node's policy;
#   spc_t, for one, is confined by nothing. The level alone separates Pods and is free to choose.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: confinement
#   severity: warning
#   needs: [seLinuxOptions]
#   pss:
#     level: baseline
#     check: seLinuxOptions
#   remedy: >-
#     Remove user, role and type from seLinuxOptions.
#   false_positives: >-
#     A node with policy modules of its own, whose types the standard does not know.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             seLinuxOptions:
#               type: spc_t
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             seLinuxOptions:
#               level: s0:c123,c456
package kandev.rules.selinux_options

findings contains {
	"rule": "selinux-options",
	"path": sprintf("%s.securityContext.seLinuxOptions.%s", [path, field]),
	"container": name,
	"message": sprintf("%s sets SELinux %s %s", [scope.subject, field, value]),
	"remediation": sprintf("remove %s from seLinuxOptions", [field]),
} if {
	some path, field
	value := input.kandev.specs[path].securityContext.seLinuxOptions[field]
	not allowed(field, value)
	scope := input.kandev.scopes[path]
	name := scope.name
}

allowed(_, "")

allowed("level", _)

allowed("type", type) if type in {"container_t", "container_init_t", "container_kvm_t"}

allowed("type", "container_engine_t") if input.kandev.minor >= 31
