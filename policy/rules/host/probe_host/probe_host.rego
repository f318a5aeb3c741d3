# METADATA
# title: A probe or lifecycle hook names a host
# description: >-
#   The kubelet makes the connections of probes and hooks, from the node. With a host it connects wherever the template
#   says, past the Pod's network policies, and tells by the container's state whether something answered. The baseline
#   standard forbids it from Kubernetes 1.34.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
# custom:
#   group: host
#   severity: warning
#   needs: [host]
#   pss:
#     level: baseline
#     check: hostProbesAndHostLifecycle
#   remedy: >-
#     Remove host: the kubelet then connects to the Pod. For a virtual host, set a Host header in httpHeaders.
#   false_positives: >-
#     127.0.0.1 is the node's own address, and in a Pod of the host's network the container's too; an exec probe does
#     the same in any Pod.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: cache
#           image: registry.example/cache:3
#           readinessProbe:
#             tcpSocket:
#               host: 10.0.0.1
#               port: 6379
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: cache
#           image: registry.example/cache:3
#           readinessProbe:
#             tcpSocket:
#               port: 6379
package kandev.rules.probe_host

findings contains {
	"rule": "probe-host",
	"path": sprintf("%s.%s.%s.host", [container.path, concat(".", handler), action]),
	"container": name,
	"message": sprintf("for the %s of container %q the node connects to %s", [handler[count(handler) - 1], name, host]),
	"remediation": "remove host, so that the kubelet connects to the Pod",
} if {
	input.kandev.minor >= 34
	some container in input.kandev.containers
	some handler in handlers
	some action in ["httpGet", "tcpSocket"]
	host := object.get(input.kandev.specs[container.path], array.concat(handler, [action, "host"]), "")
	host != ""
	name := container.name
}

handlers := [
	["livenessProbe"],
	["readinessProbe"],
	["startupProbe"],
	["lifecycle", "postStart"],
	["lifecycle", "preStop"],
]
