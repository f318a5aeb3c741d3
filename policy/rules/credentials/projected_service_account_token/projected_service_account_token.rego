# METADATA
# title: A volume projects a service account token
# description: >-
#   A projected serviceAccountToken source mounts a token whatever automountServiceAccountToken says. Each container
#   that mounts the volume can speak as the service account to whoever accepts the token's audience, and a privileged
#   companion need not mount it: the kubelet's directory on the node holds it.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken
# custom:
#   group: credentials
#   severity: warning
#   needs: [projected]
#   remedy: >-
#     Remove the serviceAccountToken source, or mount the volume only where the token is used and give it a narrow
#     audience.
#   false_positives: >-
#     Workload identity of a cloud, where the audience is that cloud's and not the API server.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: token
#           projected:
#             sources:
#             - serviceAccountToken:
#                 path: token
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: settings
#           projected:
#             sources:
#             - configMap:
#                 name: settings
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.projected_service_account_token

findings contains {
	"rule": "projected-service-account-token",
	"path": sprintf("%s.volumes[%d].projected.sources[%d].serviceAccountToken", [input.kandev.path, index, position]),
	"container": "",
	"message": sprintf("volume %q holds a service account token for %s", [input.kandev.spec.volumes[index].name, audience(token)]),
	"remediation": "remove the serviceAccountToken source, or keep it for one narrow audience and say why",
} if {
	some index, position
	token := input.kandev.spec.volumes[index].projected.sources[position].serviceAccountToken
}

audience(token) := sprintf("audience %q", [token.audience]) if {
	token.audience != ""
} else := "the API server"
