# METADATA
# title: A volume has a name that the API server takes for its own
# description: >-
#   The API server's ServiceAccount plugin looks for a volume whose name starts with kube-api-access-. It takes the
#   template's volume for its token volume and mounts it into every other container at the token's place: what one
#   container writes there, the agent reads as its credentials for the API server, and the other way round.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
# custom:
#   group: credentials
#   severity: warning
#   needs: [name=kube-api-access-*]
#   remedy: >-
#     Give the volume another name.
#   false_positives: >-
#     A Pod read back from the API server, if it was created with automountServiceAccountToken: true, is not
#     reported.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: kube-api-access-x
#           emptyDir: {}
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         volumes:
#         - name: api-access
#           emptyDir: {}
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.kube_api_access_volume

findings contains {
	"rule": "kube-api-access-volume",
	"path": sprintf("%s.volumes[%d].name", [input.kandev.path, index]),
	"container": "",
	"message": sprintf("the API server would mount volume %q into other containers as their token volume", [name]),
	"remediation": "give the volume a name that does not start with kube-api-access-",
} if {
	some index
	name := input.kandev.spec.volumes[index].name
	startswith(name, "kube-api-access-")
	not added_by_api_server(input.kandev.spec.volumes[index])
}

# What the ServiceAccount plugin itself puts into a Pod at create.
added_by_api_server(volume) if {
	input.kandev.path == "spec"
	input.kandev.spec.automountServiceAccountToken == true
	some source in volume.projected.sources
	source.serviceAccountToken
}
