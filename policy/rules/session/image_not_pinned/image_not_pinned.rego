# METADATA
# title: An image can change without the template
# description: >-
#   A tag can be pushed again. A session that is replaced later, or on another node, may then run something else than
#   the one that was reviewed; a privileged container runs it with the power of the node, for which this is a warning.
#   A digest names one image for ever, beside a tag too. Without a digest and with the tag latest or none, the image
#   changes with every release.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/#image-names
# custom:
#   group: session
#   severity: info
#   needs: [kandev.unset.digest]
#   remedy: >-
#     Write the image as NAME:TAG@sha256:DIGEST.
#   false_positives: >-
#     A registry that does not let a tag be pushed twice, and an image that is rewritten to a digest by admission.
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
#           image: registry.example/agent:1.4@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70
package kandev.rules.image_not_pinned

findings contains {
	"rule": "image-not-pinned",
	"severity": severity,
	"path": sprintf("%s.image", [path]),
	"container": name,
	"message": sprintf("container %q runs %s, which names no digest", [name, image]),
	"remediation": "add the image's digest: NAME:TAG@sha256:DIGEST",
} if {
	some container in input.kandev.unset.digest
	path := container.path
	name := container.name
	image := input.kandev.specs[path].image
	severity := {true: "warning", false: "info"}[container.privileged]
}
