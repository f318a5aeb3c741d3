# METADATA
# title: Docker engines among the companions
# description: >-
#   Which companions run a Docker daemon, and what their command, or the entrypoint of Docker's own images, tells it. A part of
#   the reading that review.rego makes: the evaluator has its own.
package kandev.lib.engines

import data.kandev.lib.review

# Of the companions, those that run a Docker daemon; an ordinary node lets only privileged ones. container; root, whether the
# daemon needs root: all do but Docker's rootless images; line, what the container runs; hosts, what the daemon is told to
# listen on besides Unix sockets; group, whose its Unix socket is, and groupShared, whether the Pod puts each of its containers
# into that group; data, its data directory; socketMount and dataMount, the mounts of volumes that the socket and the data lie
# in; unlimited, as an agent has it.
of(companions, specs, pod, volumes) := [engine |
	some companion in companions
	companion.privileged
	spec := specs[companion.path]
	runs_docker(companion, spec)
	said := line(companion, spec)
	flags := regex.find_all_string_submatch_n(flag_pattern, said, -1)
	hosts := values(flags, {"-H", "--host"})
	sockets := [trim_prefix(host, "unix://") | some host in hosts; startswith(host, "unix://")]
	socket := array.concat(sockets, ["/var/run/docker.sock"])[0]
	group := array.concat(values(flags, {"-G", "--group"}), ["docker"])[0]
	roots := [root | some root in values(flags, {"-g", "--data-root"}); startswith(root, "/")] # a shell's -ge is no -g
	kept := array.concat(roots, ["/var/lib/docker"])[0]
	engine := {
		"container": companion,
		"root": needs_root(spec),
		"line": said,
		"hosts": [host | some host in hosts; not startswith(host, "unix://")],
		"socketMount": mount_of(companion.path, spec, volumes, socket),
		"group": group,
		"groupShared": gives_group(object.get(pod, "securityContext", {}), group),
		"data": kept,
		"dataMount": mount_of(companion.path, spec, volumes, kept),
		"unlimited": review.unlimited(spec, pod),
	}
]

# Where there is an engine: whom DOCKER_HOST tells to reach a daemon over TCP. container; host, what it says; and the path of that.
clients(of_pod, containers, specs) := [client |
	count(of_pod) > 0
	some container in containers
	is_array(specs[container.path].env)
	some index, variable in specs[container.path].env
	variable.name == "DOCKER_HOST"
	startswith(variable.value, "tcp://")
	client := {
		"container": container,
		"host": variable.value,
		"path": sprintf("%s.env[%d].value", [container.path, index]),
	}
]

# The flags of a daemon that matter, with their values: --name=value, --name value, -n value or -nvalue.
flag_pattern := `\s(-[HGg]|--host|--group|--data-root)[\s=]*["']*([^\s"';&|)]*)`

# A group is named by its number.
gives_group(context, group) if {
	is_whole(context.fsGroup)
	format_int(context.fsGroup, 10) == group
} else if {
	is_array(context.supplementalGroups)
	some given in context.supplementalGroups
	is_whole(given)
	format_int(given, 10) == group
} else := false

is_whole(number) if round(number) == number

values(flags, names) := [flag[2] | some flag in flags; flag[1] in names]

# docker:27-dind and its like.
runs_docker(_, spec) if contains(spec.image, "dind")

runs_docker(container, _) if contains(container.commandLine, "dockerd")

# A reader of the node's containers, such as a log shipper, mounts the node's directory read-only.
runs_docker(_, spec) if {
	is_array(spec.volumeMounts)
	some mount in spec.volumeMounts
	mount.mountPath == "/var/lib/docker"
	not mount.readOnly == true
}

needs_root(spec) := false if {
	contains(spec.image, "rootless")
} else := true

# What a container runs; without a command, what an image of Docker's starts.
line(container, spec) := container.commandLine if {
	count(spec.command) > 0
} else := sprintf("dockerd-entrypoint.sh %s", [container.commandLine])

# The deepest mount of a volume that a path lies in: its path; the volume's name and kind; and bounded, whether it is an emptyDir
# that a sizeLimit bounds. {} where there is none.
mount_of(container, spec, volumes, path) := mount if {
	is_array(spec.volumeMounts)
	[_, before] := max([[count(directory), 0 - index] |
		some index, mount in spec.volumeMounts
		is_string(mount.name)
		directory := sprintf("%s/", [trim_right(mount.mountPath, "/")])
		startswith(sprintf("%s/", [path]), directory)
	])
	index := 0 - before
	name := spec.volumeMounts[index].name
	mount := {
		"path": sprintf("%s.volumeMounts[%d]", [container, index]),
		"volume": name,
		"kind": kind_of(name, volumes),
		"bounded": bounded(name, volumes),
	}
} else := {}

bounded(name, volumes) if {
	review.bounds(volumes[name].emptyDir.sizeLimit)
} else := false

# The API server makes an emptyDir of a volume that is nothing else.
kind_of(name, volumes) := array.concat(kinds, ["emptyDir"])[0] if {
	kinds := sort([kind | some kind, _ in volumes[name]; kind != "name"])
	volumes[name]
} else := ""
