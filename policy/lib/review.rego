# METADATA
# title: The document under review
# description: >-
#   What a rule finds under input.kandev, for unit tests and for programs that evaluate the pack themselves. The evaluator
#   adds the same to its input, at a tenth of the cost; a test holds the two against each other.
package kandev.lib.review

import data.kandev.lib.engines
import data.kandev.lib.variables

# A v1 PodTemplate or a v1 Pod without nulls, and one reading of it for every rule. By the path of a container stand in specs its
# own fields, and in effective its security context over the Pod's; specs and scopes have the Pod too.
of(given) := object.union(document, {"kandev": object.union(session, reading)}) if {
	document := without_nulls(object.remove(given, ["kandev"]))
	session := object.union({"mainContainer": "kandev-agent"}, object_at(given, ["kandev"]))
	prefix := prefix_of(document)
	spec := object_at(pod_of(document), ["spec"])
	places := places_of(sprintf("%sspec", [prefix]), spec)
	specs := object.union({sprintf("%sspec", [prefix]): spec}, {place.path: place.spec | some place in places})
	effective := {place.path: over(object_at(spec, ["securityContext"]), object_at(place.spec, ["securityContext"])) | some place in places}
	containers := [container_of(place.path, place.spec, spec, effective[place.path], session.mainContainer) | some place in places]
	scopes := array.concat([scope_of_pod(sprintf("%sspec", [prefix]), spec)], containers)
	companions := [container | some container in containers; container.name != session.mainContainer]
	volumes := by_name(list_at(spec, "volumes"))
	told := engines.of(companions, specs, spec, volumes)
	minor := minor_of(object.get(session, "kubeVersion", ""))
	reading := {
		"path": sprintf("%sspec", [prefix]),
		"metadataPath": sprintf("%smetadata", [prefix]),
		"spec": spec,
		"annotations": object_at(pod_of(document), ["metadata", "annotations"]),
		"volumes": volumes,
		"scopes": {scope.path: scope | some scope in scopes},
		"containers": containers,
		"agents": [container | some container in containers; container.name == session.mainContainer],
		"companions": companions,
		"engines": told,
		"clients": engines.clients(told, containers, specs),
		"grants": grants(companions, specs),
		"adds": adds(containers, specs),
		"initContainers": [container | some container in containers; contains(container.path, ".initContainers[")],
		"privileged": [container | some container in containers; container.privileged],
		"specs": specs,
		"effective": effective,
		"unset": object.union(unset_in_pod(sprintf("%sspec", [prefix]), spec), unset(spec, containers, specs)),
		"unconfined": {
			"agents": [{"container": container, "lacks": lacks} |
				some container in containers
				container.name == session.mainContainer
				lacks := lacking(container, specs[container.path], effective[container.path])
				count(lacks) > 0
			],
			"allowPrivilegeEscalation": saying(scopes, specs, "allowPrivilegeEscalation", true),
			"appArmorProfile": unprofiled(scopes, specs, "appArmorProfile"),
			"runAsNonRoot": saying(scopes, specs, "runAsNonRoot", false),
			"runAsUser": saying(scopes, specs, "runAsUser", 0),
			"seccompProfile": unprofiled(scopes, specs, "seccompProfile"),
		},
		"minor": minor,
		"windows": windows(spec, minor),
		"contained": contained(spec, minor),
	}
}

# A document without its fields that are null: the API server leaves them out when it decodes one. Elements of lists stay, null
# or not, since they have places.
without_nulls(document) := json.remove(document, [steps |
	walk(document, [path, null])
	is_string(path[count(path) - 1])
	steps := [sprintf("%v", [step]) | some step in path] # json.remove knows places in a list as strings
])

# A PodTemplate has its Pod below template.
pod_of(document) := document.template if {
	is_object(document.template)
} else := document

prefix_of(document) := "template." if {
	is_object(document.template)
} else := ""

# The Pod itself: what it shares with its containers of path, name, subject and contextPath.
scope_of_pod(path, spec) := scope if {
	scope := {
		"path": path,
		"name": "",
		"subject": "the Pod",
		"contextPath": context_path(path, spec),
	}
}

# Every container of the three lists, and where it stands.
places_of(path, spec) := [{"path": sprintf("%s.%s[%d]", [path, list, index]), "spec": fields} |
	some list in ["initContainers", "containers", "ephemeralContainers"]
	some index, fields in list_at(spec, list)
	is_object(fields)
]

# What there is to know of a container: path; name; subject, for the beginning of a message; contextPath, the nearest place that
# exists for a field missing from its securityContext; privileged, whether it is; root and nonRoot, whether it is known to run as
# root, or not to; of an agent unlimited, which of memory and ephemeral storage neither it nor the Pod limits; and of a companion
# commandLine.
container_of(path, fields, spec, effective, main) := object.union_n([known, of_agent, of_companion]) if {
	of_agent := {"unlimited": unlimited(fields, spec) | name_of(fields) == main}
	of_companion := {"commandLine": command_line(fields) | name_of(fields) != main}
	known := {
		"path": path,
		"name": name_of(fields),
		"subject": sprintf("container %q", [name_of(fields)]),
		"contextPath": context_path(path, fields),
		"privileged": privileged(fields),
		"root": is_root(effective),
		"nonRoot": is_non_root(effective),
	}
}

unlimited(container, spec) := [resource |
	some resource in ["ephemeral-storage", "memory"]
	not bounds(object.get(container, ["resources", "limits", resource], ""))
	not bounds(object.get(spec, ["resources", "limits", resource], ""))
]

# A quantity above zero, which the kubelet takes for no limit, has a digit other than 0 before its unit.
bounds(quantity) if regex.match(`^\+?[0.]*[1-9]`, sprintf("%v", [quantity]))

# The containers whose security context does not say, or not in the type that it must have, where the Pod's does not say well
# for all; or whose image has no digest.
unset(pod, containers, specs) := {
	"allowPrivilegeEscalation": [container | some container in containers; not says(specs[container.path], "allowPrivilegeEscalation")],
	"digest": [container | some container in containers; unpinned(specs[container.path])],
	"dropAll": [container | some container in containers; not drops_all(specs[container.path])],
	"runAsNonRoot": [container | some container in containers; not pod.securityContext.runAsNonRoot == true; not says(specs[container.path], "runAsNonRoot")],
	"seccompProfile": [container | some container in containers; not confines(pod, "seccompProfile"); not profiled(specs[container.path], "seccompProfile")],
}

# Where the Pod has no fsGroup; and its volumes in memory that no sizeLimit bounds, but for Kandev's own: path, and name.
unset_in_pod(path, spec) := {
	"fsGroup": [path | not is_number_at(spec, ["securityContext", "fsGroup"])],
	"sizeLimit": [{"name": volume.name, "path": sprintf("%s.volumes[%d].emptyDir", [path, index])} |
		some index, volume in list_at(spec, "volumes")
		volume.emptyDir.medium == "Memory"
		not bounds(object.get(volume, ["emptyDir", "sizeLimit"], ""))
		volume.name != "kandev-auth"
		is_string(volume.name)
	],
}

is_number_at(fields, path) if is_number(object.get(fields, path, null))

unpinned(container) if {
	is_string(container.image)
	container.image != ""
	not contains(container.image, "@")
}

says(container, setting) if is_boolean(container.securityContext[setting])

# What an agent lacks of the settings that confine it, or of others as good.
lacking(container, fields, effective) := array.concat(
	array.concat(
		["allowPrivilegeEscalation: false" | not fields.securityContext.allowPrivilegeEscalation == false],
		["capabilities.drop: [ALL]" | not drops_all(fields)],
	),
	array.concat(
		["runAsNonRoot: true" | not container.nonRoot],
		["seccompProfile.type: RuntimeDefault" | not confines({"securityContext": effective}, "seccompProfile")],
	),
)

# The Pod and the containers that say something of a setting.
saying(scopes, specs, setting, value) := [scope | some scope in scopes; specs[scope.path].securityContext[setting] == value]

# The Pod and the containers with a profile of a kind that is neither the runtime's nor a file of the node.
unprofiled(scopes, specs, kind) := [scope |
	some scope in scopes
	profiled(specs[scope.path], kind)
	not confines(specs[scope.path], kind)
]

profiled(scope, kind) if is_object(scope.securityContext[kind])

confines(scope, kind) if scope.securityContext[kind].type in {"RuntimeDefault", "Localhost"}

# The capabilities that containers add: capability, its path, and the container.
adds(containers, specs) := [add |
	some container in containers
	some index, capability in list_at(object_at(specs[container.path], ["securityContext", "capabilities"]), "add")
	add := {
		"capability": capability,
		"path": sprintf("%s.securityContext.capabilities.add[%d]", [container.path, index]),
		"container": container,
	}
]

# The mounts through which companions can write to the workspace: path, and the companion.
grants(companions, specs) := [grant |
	some companion in companions
	some index, mount in list_at(specs[companion.path], "volumeMounts")
	mount.name == "kandev-workspace"
	not mount.readOnly == true
	grant := {"path": sprintf("%s.volumeMounts[%d]", [companion.path, index]), "companion": companion}
]

# The standards take ALL in upper case alone.
drops_all(container) if "ALL" in container.securityContext.capabilities.drop

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

is_root(effective) if {
	effective.runAsUser == 0
} else := false

# The container cannot run as root, or is told not to. Nothing is known where the image alone decides.
is_non_root(effective) if {
	effective.runAsNonRoot == true
} else if {
	is_number(effective.runAsUser)
	effective.runAsUser > 0
} else := false

# A container's setting takes the place of the whole of the Pod's.
over(of_pod, of_container) := object.union(object.remove(of_pod, object.keys(of_container)), of_container)

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
