# METADATA
# title: AppArmor is turned off
# description: >-
#   The runtime's AppArmor profile keeps a container from mounting file systems and from writing to sensitive files
#   of /proc and /sys. Unconfined turns it off, as a field or as the older annotation.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tutorials/security/apparmor/
# custom:
#   group: confinement
#   severity: warning
#   needs: [kandev.unconfined.appArmorProfile, container.apparmor.security.beta.kubernetes.io/]
#   pss:
#     level: baseline
#     check: appArmorProfile
#   remedy: >-
#     Set appArmorProfile.type to RuntimeDefault, or to Localhost with a profile of your own.
#   false_positives: >-
#     Nested container engines that the default profile stops.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             appArmorProfile:
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
#             appArmorProfile:
#               type: RuntimeDefault
package kandev.rules.apparmor_unconfined

findings contains {
	"rule": "apparmor-unconfined",
	"path": sprintf("%s.securityContext.appArmorProfile.type", [path]),
	"container": name,
	"message": sprintf("%s uses AppArmor profile %v", [subject, object.get(profile, "type", "without a type")]),
	"remediation": "set appArmorProfile.type to RuntimeDefault",
} if {
	some scope in input.kandev.unconfined.appArmorProfile
	path := scope.path
	profile := input.kandev.specs[path].securityContext.appArmorProfile
	subject := scope.subject
	name := scope.name
}

findings contains {
	"rule": "apparmor-unconfined",
	"path": sprintf("%s.annotations[%s]", [input.kandev.metadataPath, key]),
	"container": name,
	"message": sprintf("container %q uses AppArmor profile %v by annotation", [name, profile]),
	"remediation": "remove the annotation and set securityContext.appArmorProfile.type to RuntimeDefault",
} if {
	some key, profile in input.kandev.annotations
	startswith(key, prefix)
	not profile in {"", "runtime/default"}
	not startswith(profile, "localhost/")
	name := trim_prefix(key, prefix)
}

prefix := "container.apparmor.security.beta.kubernetes.io/"
