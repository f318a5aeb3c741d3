# METADATA
# title: A container takes a port of the node
# description: >-
#   A hostPort opens the container to everything that reaches the node, past network policies in many clusters, and
#   two sessions with the same one cannot run on one node. The agent is reached by a port-forward and needs none.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: host
#   severity: warning
#   needs: [hostPort]
#   pss:
#     level: baseline
#     check: hostPorts
#   remedy: >-
#     Remove hostPort; containers of the Pod reach each other through localhost.
#   false_positives: >-
#     With hostNetwork the API server copies every containerPort to hostPort.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           ports:
#           - containerPort: 3000
#             hostPort: 3000
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           ports:
#           - containerPort: 3000
package kandev.rules.host_port

findings contains {
	"rule": "host-port",
	"path": sprintf("%s.ports[%d].hostPort", [container.path, index]),
	"container": name,
	"message": sprintf("container %q takes port %v of the node", [name, port]),
	"remediation": "remove hostPort",
} if {
	some container in input.kandev.containers
	some index
	port := input.kandev.specs[container.path].ports[index].hostPort
	port != 0
	name := container.name
}
