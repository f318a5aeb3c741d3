# METADATA
# title: The Pod under review
# description: >-
#   One reading of the input for every rule: a v1 PodTemplate or a v1 Pod, its containers of all three lists and its
#   security contexts. Each is built once an evaluation, so that rules may iterate over them freely.
package kandev.lib.pod

import data.kandev.lib.kubernetes

# The Pod itself: the template of a PodTemplate, or the whole document.
root := input.template if {
	is_object(input.template)
} else := input

# Where root.spec and root.metadata stand in the document.
path := "template.spec" if {
	is_object(input.template)
} else := "spec"

metadata_path := "template.metadata" if {
	is_object(input.template)
} else := "metadata"

spec := root.spec

annotations := root.metadata.annotations

default main_container := "kandev-agent"

main_container := input.kandev.mainContainer

container_lists := ["initContainers", "containers", "ephemeralContainers"]

# Every container of the Pod: {path, name, spec}.
containers := [container |
	some list in container_lists
	some index, fields in spec[list]
	container := {
		"path": sprintf("%s.%s[%d]", [path, list, index]),
		"name": object.get(fields, "name", ""),
		"spec": fields,
	}
]

# The agent's container: one, unless the document is broken.
agents := [container | some container in containers; container.name == main_container]

# Each mount that lets a companion write to the workspace: {path, container}.
writable_grants := [{"path": sprintf("%s.volumeMounts[%d]", [container.path, index]), "container": container} |
	some container in containers
	container.spec.volumeMounts[index].name == "kandev-workspace"
	container.name != main_container
	not container.spec.volumeMounts[index].readOnly == true
]

# Everything that can have a securityContext: the Pod, whose name is empty, and every container. Where a setting matters
# at either, a rule asks for scopes[place].spec.securityContext.SETTING, which is one expression and costs next to
# nothing where none sets it.
scopes := array.concat([{"path": path, "name": "", "spec": spec}], containers)

# What a scope is, for the beginning of a message.
subject(scope) := "the Pod" if {
	scope.name == ""
} else := sprintf("container %q", [scope.name])

# The nearest place that exists for a field missing from a container's security context.
security_context_path(container) := sprintf("%s.securityContext", [container.path]) if {
	is_object(container.spec.securityContext)
} else := container.path

# A setting of a container's security context, or of the Pod's where the container has none.
setting(container, name) := value if {
	value := container.spec.securityContext[name]
	value != null
} else := spec.securityContext[name]

# The container cannot run as root, or is told not to. Nothing is known where the image alone decides.
non_root(container) if setting(container, "runAsNonRoot") == true

non_root(container) if setting(container, "runAsUser") > 0

# The Pod has a user namespace of its own: its root is nobody on the node.
user_namespaced if spec.hostUsers == false

# The Pod Security Standards trust that namespace from Kubernetes 1.35.
contained if {
	user_namespaced
	kubernetes.minor >= 35
}

# Linux settings mean nothing to a Windows Pod, as the Pod Security Standards know from Kubernetes 1.25.
windows if {
	spec.os.name == "windows"
	kubernetes.minor >= 25
}
