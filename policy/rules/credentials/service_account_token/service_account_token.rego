# METADATA
# title: The Pod mounts a service account token
# description: >-
#   Kandev turns token automount off unless the template turns it on. With it, every container, the companions too,
#   can talk to the API server as the service account. What gets out of a nested container of a privileged companion
#   finds the token there.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
# custom:
#   group: credentials
#   severity: warning
#   needs: [automountServiceAccountToken=true]
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

findings contains {
	"rule": "service-account-token",
	"path": sprintf("%s.automountServiceAccountToken", [input.kandev.path]),
	"container": "",
	"message": sprintf("the Pod mounts its service account's token into every container%s", [privileged]),
	"remediation": "remove automountServiceAccountToken; Kandev then sets false",
} if {
	input.kandev.spec.automountServiceAccountToken == true
}

# The companions that make a token worth more, for the end of the message.
privileged := sprintf(", privileged %s too", [concat(" and ", names)]) if {
	names := [sprintf("%q", [companion.name]) |
		some companion in input.kandev.privileged
		companion.name != input.kandev.mainContainer
	]
	count(names) > 0
} else := ""
