# METADATA
# title: Docker engines among the companions
# description: >-
#   Which companions run a Docker daemon, and what their command, or the entrypoint of Docker's own images, tells it. A part of
#   the reading that review.rego makes: the evaluator has its own.
package kandev.lib.engines

# Of the companions, those that run a Docker daemon; an ordinary node lets only privileged ones. container; root, whether the
# daemon needs root: all do but Docker's rootless images; line, what the container runs; hosts, what the daemon is told to
# listen on; socket, the path of its Unix socket, and group, whose it is; data, its data directory; socketMount and dataMount,
# the mounts of volumes that these lie in.
of(companions, specs) := [engine |
	some companion in companions
	companion.privileged
	spec := specs[companion.path]
	runs_docker(companion, spec)
	said := line(companion, spec)
	flags := regex.find_all_string_submatch_n(flag_pattern, said, -1)
	hosts := values(flags, {"-H", "--host"})
	socket := array.concat([trim_prefix(host, "unix://") | some host in hosts; startswith(host, "unix://")], ["/var/run/docker.sock"])[0]
	roots := [root | some root in values(flags, {"-g", "--data-root"}); startswith(root, "/")] # a shell's -ge is no -g
	kept := array.concat(roots, ["/var/lib/docker"])[0]
	engine := {
		"container": companion,
		"root": needs_root(spec),
		"line": said,
		"hosts": hosts,
		"socket": socket,
		"socketMount": mount_of(companion.path, spec, socket),
		"group": array.concat(values(flags, {"-G", "--group"}), ["docker"])[0],
		"data": kept,
		"dataMount": mount_of(companion.path, spec, kept),
	}
]

# The flags of a daemon that matter, with their values: --name=value, --name value, -n value or -nvalue.
flag_pattern := `\s(-[HGg]|--host|--group|--data-root)[\s=]*["']*([^\s"';&|)]*)`

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

# The deepest mount of a volume that a path lies in, {path, volume}; {} where there is none.
mount_of(container, spec, path) := {"path": sprintf("%s.volumeMounts[%d]", [container, index]), "volume": volume} if {
	is_array(spec.volumeMounts)
	[_, before] := max([[count(directory), 0 - index] |
		some index, mount in spec.volumeMounts
		is_string(mount.name)
		directory := sprintf("%s/", [trim_right(mount.mountPath, "/")])
		startswith(sprintf("%s/", [path]), directory)
	])
	index := 0 - before
	volume := spec.volumeMounts[index].name
} else := {}
