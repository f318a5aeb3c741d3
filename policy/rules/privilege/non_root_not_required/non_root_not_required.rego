# METADATA
# title: A container may run as root
# description: >-
#   Without runAsNonRoot: true the image alone decides whether the container runs as root, and a new build of the
#   image can change it unseen. With it, the kubelet refuses to start a container as root. In a Pod with a root
#   companion it belongs on the other containers and not on the Pod.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: privilege
#   severity: info
#   needs: [kandev.unset.runAsNonRoot, kandev.unconfined.runAsNonRoot]
#   pss:
#     level: restricted
#     check: runAsNonRoot
#   remedy: >-
#     Set securityContext.runAsNonRoot: true on each container that does not need root.
#   false_positives: >-
#     A container that sets a runAsUser other than 0 does not run as root today; the setting keeps it so. A
#     container engine's daemon needs root.
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
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsNonRoot: true
package kandev.rules.non_root_not_required

# At most one finding a container: where the Pod says true, only those that say false themselves.
findings contains {
	"rule": "non-root-not-required",
	"path": path,
	"container": name,
	"message": sprintf("container %q does not set runAsNonRoot to true", [name]),
	"remediation": remediation,
} if {
	input.kandev.contained == false
	some container in input.kandev.unset.runAsNonRoot
	path := container.contextPath
	name := container.name

	# The kubelet refuses to start user 0 beside it.
	remediation := {
		true: "set runAsUser to a user ID other than 0, and runAsNonRoot: true",
		false: "add runAsNonRoot: true to the container's securityContext",
	}[container.root]
}

findings contains {
	"rule": "non-root-not-required",
	"path": sprintf("%s.securityContext.runAsNonRoot", [path]),
	"container": name,
	"message": sprintf("%s sets runAsNonRoot to false", [scope.subject]),
	"remediation": "set runAsNonRoot: true, or remove it where root is needed and suppress this with the reason",
} if {
	some scope in input.kandev.unconfined.runAsNonRoot
	input.kandev.contained == false
	path := scope.path
	name := scope.name
}
