# METADATA
# title: The Pod shares a namespace of the node
# description: >-
#   hostNetwork puts the agent's control port on the node's own loopback, where every process of the node reaches
#   it; the API server makes it host port 8765 as well, so that two sessions cannot share a node. hostPID shows every
#   process of the node to every container: a companion with the agent's user ID reads the agent's memory, and through
#   /proc/PID/root its credentials, and a privileged one those of the whole node. hostIPC shares the node's shared
#   memory.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: host
#   severity: warning
#   needs: [hostNetwork=true, hostPID=true, hostIPC=true]
#   pss:
#     level: baseline
#     check: hostNamespaces
#   remedy: >-
#     Remove hostNetwork, hostPID and hostIPC.
#   false_positives: >-
#     None known: an agent session needs no namespace of its node.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         hostPID: true
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         hostPID: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.host_namespace

findings contains {
	"rule": "host-namespace",
	"path": sprintf("%s.%s", [input.kandev.path, field]),
	"container": "",
	"message": sprintf("the Pod sets %s: %s", [field, effect]),
	"remediation": sprintf("remove %s", [field]),
} if {
	some field, effect in effects
	input.kandev.spec[field] == true
}

effects := {
	"hostIPC": "its containers reach the node's shared memory",
	"hostNetwork": "the agent's control port listens on the node's own loopback, and no second session fits on the node",
	"hostPID": "its containers see every process of the node and, through /proc, the agent's memory and files",
}
