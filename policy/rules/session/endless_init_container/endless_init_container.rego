# METADATA
# title: An init container never ends
# description: >-
#   The kubelet starts the agent only when each init container has ended. One that sleeps for ever or loops without a
#   way out keeps the session in Init for ever. A native sidecar, an init container with restartPolicy: Always, is
#   meant to run on.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/init-containers/
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
# custom:
#   group: session
#   severity: warning
#   needs: [initContainers]
#   remedy: >-
#     Let the command end, or set restartPolicy: Always on the init container to make it a native sidecar.
#   false_positives: >-
#     A script that ends its own endless loop or sleep by a signal. A loop with break, exit or return is not reported.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         initContainers:
#         - name: proxy
#           image: registry.example/proxy:1
#           command: [sh, -c, "start-proxy & sleep infinity"]
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         initContainers:
#         - name: proxy
#           image: registry.example/proxy:1
#           command: [sh, -c, "start-proxy & sleep infinity"]
#           restartPolicy: Always
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.endless_init_container

findings contains {
	"rule": "endless-init-container",
	"path": path,
	"container": name,
	"message": sprintf("init container %q never ends, so the agent never starts", [name]),
	"remediation": "let its command end, or set restartPolicy: Always to make it a native sidecar",
} if {
	some container in input.kandev.initContainers
	command := container.commandLine
	some sign in ["sleep infinity", "tail -f /dev/null", "while true", "while :"]
	contains(command, sign)
	not left(sign, command)
	path := container.path
	not input.kandev.specs[path].restartPolicy == "Always"
	name := container.name
}

# A loop that a command may leave.
left(sign, command) if {
	startswith(sign, "while")
	some way_out in ["break", "exit", "return"]
	contains(command, way_out)
}
