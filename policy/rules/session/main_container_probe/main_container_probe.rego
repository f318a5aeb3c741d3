# METADATA
# title: A probe restarts the agent for what it cannot do
# description: >-
#   Kandev replaces the main container's command: until the upload is complete it waits and listens on nothing, and
#   afterwards the agent listens on loopback, where the kubelet does not reach it. A livenessProbe or startupProbe
#   over the network therefore fails, and after failureThreshold failures the kubelet restarts the container, again
#   and again. What an exec probe asks is not known, so it is not reported; it too runs while the container waits for
#   its upload.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/probes/
# custom:
#   group: session
#   severity: warning
#   needs: [livenessProbe, startupProbe]
#   remedy: >-
#     Remove the probe; Kandev watches the agent through its control port.
#   false_positives: >-
#     A probe of a port that a companion serves: all containers of a Pod share its address. It belongs on the companion.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           livenessProbe:
#             httpGet:
#               path: /healthz
#               port: 3000
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
#           livenessProbe:
#             tcpSocket:
#               port: 6379
package kandev.rules.main_container_probe

findings contains {
	"rule": "main-container-probe",
	"path": sprintf("%s.%s", [container.path, probe]),
	"container": name,
	"message": sprintf("the %s of %q finds nothing that listens, so the kubelet restarts the agent", [probe, name]),
	"remediation": sprintf("remove the %s", [probe]),
} if {
	some container in input.kandev.agents
	some probe in ["livenessProbe", "startupProbe"]
	some handler in ["httpGet", "tcpSocket", "grpc"]
	input.kandev.specs[container.path][probe][handler]
	name := container.name
}
