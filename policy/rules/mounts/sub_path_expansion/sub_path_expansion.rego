# METADATA
# title: A subPathExpr that the kubelet will refuse
# description: >-
#   The API server cannot see what subPathExpr expands to; the kubelet can, and refuses to start the container when
#   the result is absolute or steps back with "..". The session then hangs in CreateContainerConfigError.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#using-subpath-expanded-environment
# custom:
#   group: mounts
#   severity: warning
#   needs: [subPathExpr]
#   remedy: >-
#     Give the variable a relative value without "..", or write the path in subPath.
#   false_positives: >-
#     None known: only variables whose value stands in the template are expanded.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           env:
#           - name: P
#             value: ../../etc
#           volumeMounts:
#           - name: data
#             mountPath: /data
#             subPathExpr: $(P)
#         volumes:
#         - name: data
#           emptyDir: {}
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           env:
#           - name: P
#             value: team/a
#           volumeMounts:
#           - name: data
#             mountPath: /data
#             subPathExpr: $(P)
#         volumes:
#         - name: data
#           emptyDir: {}
package kandev.rules.sub_path_expansion

import data.kandev.lib.variables

findings contains {
	"rule": "sub-path-expansion",
	"path": sprintf("%s.volumeMounts[%d].subPathExpr", [container.path, index]),
	"container": name,
	"message": sprintf("the kubelet refuses the subPathExpr of container %q, which is %q", [name, expanded]),
	"remediation": "give the variable a relative value without \"..\", or write the path in subPath",
} if {
	some container in input.kandev.containers
	some index
	expression := input.kandev.specs[container.path].volumeMounts[index].subPathExpr
	expanded := variables.expand(expression, input.kandev.specs[container.path])
	refused(expanded)
	name := container.name
}

refused(path) if startswith(path, "/")

refused(path) if ".." in split(path, "/")
