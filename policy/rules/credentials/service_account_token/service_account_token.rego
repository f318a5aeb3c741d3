# METADATA
# title: The Pod mounts a service account token
# description: >-
#   Kandev turns token automount off unless the template turns it on. With it, every container, the companions too,
#   can talk to the API server as the service account.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
# custom:
#   group: credentials
#   severity: warning
#   needs: [automountServiceAccountToken]
#   remedy: >-
#     Remove automountServiceAccountToken, or bind the service account to the few permissions that the session
#     needs.
#   false_positives: >-
#     A session whose work is the cluster itself.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         automountServiceAccountToken: true
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         automountServiceAccountToken: false
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.service_account_token

import data.kandev.lib.pod

findings contains {
	"rule": "service-account-token",
	"path": sprintf("%s.automountServiceAccountToken", [pod.path]),
	"container": "",
	"message": "the Pod mounts its service account's token into every container",
	"remediation": "remove automountServiceAccountToken; Kandev then sets false",
} if {
	pod.spec.automountServiceAccountToken == true
}
