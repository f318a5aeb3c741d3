# METADATA
# title: The document under review
# description: >-
#   What a rule finds under input.kandev, for unit tests and for programs that evaluate the pack themselves. The evaluator
#   adds the same to its input, at a tenth of the cost; a test holds the two against each other.
package kandev.lib.review

import data.kandev.lib.engines
import data.kandev.lib.variables

# A v1 PodTemplate or a v1 Pod with one reading of it for every rule.
of(document) := object.union(document, {"kandev": object.union(session, reading)}) if {
	session := object.union({"mainContainer": "kandev-agent"}, object_at(document, ["kandev"]))
	prefix := prefix_of(document)
	spec := object_at(pod_of(document), ["spec"])
	places := places_of(sprintf("%sspec", [prefix]), spec)
	specs := {place.path: place.spec | some place in places}
	containers := [container_of(place.path, place.spec, spec, session.mainContainer) | some place in places]
	companions := [container | some container in containers; container.name != session.mainContainer]
	minor := minor_of(object.get(session, "kubeVersion", ""))
	reading := {
		"path": sprintf("%sspec", [prefix]),
		"metadataPath": sprintf("%smetadata", [prefix]),
		"spec": spec,
		"annotations": object_at(pod_of(document), ["metadata", "annotations"]),
		"volumes": by_name(list_at(spec, "volumes")),
		"scopes": array.concat([scope_of_pod(sprintf("%sspec", [prefix]), spec)], containers),
		"containers": containers,
		"agents": [container | some container in containers; container.name == session.mainContainer],
		"companions": companions,
		"engines": engines.of(companions, specs),
		"initContainers": [container | some container in containers; contains(container.path, ".initContainers[")],
		"privileged": [container | some container in containers; container.privileged],
		"specs": specs,
		"unset": unset(containers, specs),
		"minor": minor,
		"windows": windows(spec, minor),
		"contained": contained(spec, minor),
	}
}

# A PodTemplate has its Pod below template.
pod_of(document) := document.template if {
	is_object(document.template)
} else := document

prefix_of(document) := "template." if {
	is_object(document.template)
} else := ""

# The Pod itself: what it shares with its containers of path, name, subject, context and contextPath.
scope_of_pod(path, spec) := scope if {
	scope := {
		"path": path,
		"name": "",
		"subject": "the Pod",
		"context": object_at(spec, ["securityContext"]),
		"contextPath": context_path(path, spec),
	}
}

# Every container of the three lists, and where it stands.
places_of(path, spec) := [{"path": sprintf("%s.%s[%d]", [path, list, index]), "spec": fields} |
	some list in ["initContainers", "containers", "ephemeralContainers"]
	some index, fields in list_at(spec, list)
	is_object(fields)
]

# What there is to know of a container: path; name; subject, for the beginning of a message; context, its securityContext;
# contextPath, the nearest place that exists for a field missing from that; privileged, whether it is; effective, its context
# over the Pod's; and of a companion commandLine. A container's own fields are in specs, by its path.
container_of(path, fields, spec, main) := object.union(known, of_companion) if {
	of_companion := {"commandLine": command_line(fields) | name_of(fields) != main}
	known := {
		"path": path,
		"name": name_of(fields),
		"subject": sprintf("container %q", [name_of(fields)]),
		"context": object_at(fields, ["securityContext"]),
		"contextPath": context_path(path, fields),
		"privileged": privileged(fields),
		"effective": over(settings(spec), settings(fields)),
	}
}

# The containers whose security context does not say, or not in the type that it must have; or whose image has no digest.
unset(containers, specs) := {
	"allowPrivilegeEscalation": [container | some container in containers; not says(container.context, "allowPrivilegeEscalation")],
	"digest": [container | some container in containers; unpinned(specs[container.path])],
	"dropAll": [container | some container in containers; not drops_all(container.context)],
	"runAsNonRoot": [container | some container in containers; not says(container.context, "runAsNonRoot")],
	"seccompProfile": [container | some container in containers; not profiled(container.context)],
}

unpinned(container) if {
	is_string(container.image)
	container.image != ""
	not contains(container.image, "@")
}

says(context, setting) if is_boolean(context[setting])

profiled(context) if is_object(context.seccompProfile)

# The standards take ALL in upper case alone.
drops_all(context) if "ALL" in context.capabilities.drop

name_of(container) := container.name if {
	is_string(container.name)
} else := ""

# What a container's command and args say, with the variables replaced that they name.
command_line(container) := variables.expand(concat(" ", words), container) if {
	words := array.concat(words_at(container, "command"), words_at(container, "args"))
}

words_at(container, field) := [word | some word in list_at(container, field); is_string(word)]

context_path(path, spec) := sprintf("%s.securityContext", [path]) if {
	is_object(spec.securityContext)
} else := path

privileged(container) if {
	container.securityContext.privileged == true
} else := false

# A container's setting takes the place of the whole of the Pod's.
over(of_pod, of_container) := object.union(object.remove(of_pod, object.keys(of_container)), of_container)

# The settings of a security context that are not null.
settings(spec) := {key: value | some key, value in object_at(spec, ["securityContext"]); value != null}

object_at(fields, path) := value if {
	value := object.get(fields, path, {})
	is_object(value)
} else := {}

list_at(fields, key) := fields[key] if {
	is_array(fields[key])
} else := []

# Volumes by their names; the last of two equal ones counts.
by_name(volumes) := object.union_n([{volume.name: volume} | some volume in volumes; is_string(volume.name)])

# The minor version; when none is asked for, a number above every version that a rule tells apart.
minor_of(version) := to_number(split(version, ".")[1]) if {
	regex.match(`^v?[0-9]+\.[0-9]{1,4}(\.|$)`, version)
} else := 1000

# Linux settings mean nothing to a Windows Pod, as the Pod Security Standards know from Kubernetes 1.25.
windows(spec, minor) if {
	spec.os.name == "windows"
	minor >= 25
} else := false

# The Pod has a user namespace of its own: its root is nobody on the node. The Pod Security Standards trust it from
# Kubernetes 1.35.
contained(spec, minor) if {
	spec.hostUsers == false
	minor >= 35
} else := false
