# METADATA
# title: Docker engines among the companions
# description: >-
#   Which companions run a Docker daemon, and what their command, or the entrypoint of Docker's own images, tells it.
package kandev.lib.docker

# The companions that run a Docker daemon: {container, line, flags, hosts, socket}. An ordinary node lets only privileged
# ones.
engines := [engine |
	some place
	input.kandev.companions[place].context.privileged == true
	companion := input.kandev.companions[place]
	runs_docker(companion)
	said := line(companion)
	flags := regex.find_all_string_submatch_n(flag_pattern, said, -1)
	hosts := [flag[2] | some flag in flags; flag[1] in {"-H", "--host"}]
	unix := [trim_prefix(host, "unix://") | some host in hosts; startswith(host, "unix://")]
	socket := array.concat(unix, ["/var/run/docker.sock"])[0]
	engine := {"container": companion, "line": said, "flags": flags, "hosts": hosts, "socket": socket}
]

# The flags of a daemon that matter, with their values: --name=value, --name value, -n value or -nvalue.
flag_pattern := `\s(-[HGg]|--host|--group|--data-root)[\s=]*["']*([^\s"';&|)]*)`

# Those whose daemon needs root: all but Docker's rootless images.
root_engines := [engine | some engine in engines; not contains(object.get(engine.container.spec, "image", ""), "rootless")]

# docker:27-dind and its like.
runs_docker(container) if contains(container.spec.image, "dind")

runs_docker(container) if contains(container.commandLine, "dockerd")

# A reader of the node's containers, such as a log shipper, mounts the node's directory read-only.
runs_docker(container) if {
	some mount in container.spec.volumeMounts
	mount.mountPath == "/var/lib/docker"
	not mount.readOnly == true
}

# What a container runs; without a command, what an image of Docker's starts.
line(container) := container.commandLine if {
	count(container.spec.command) > 0
} else := sprintf("dockerd-entrypoint.sh %s", [container.commandLine])

# The paths of a container's mounts that a path lies within.
mounts_of(container, path) := [sprintf("%s.volumeMounts[%d]", [container.path, index]) |
	some index, mount in container.spec.volumeMounts
	startswith(path, mount.mountPath)
]

# Where an engine's command or args say something, or else the image that has it as its entrypoint.
place_of(container, text) := array.concat(
	[sprintf("%s.%s[%d]", [container.path, list, index]) |
		some list in ["command", "args"]
		contains(container.spec[list][index], text)
	],
	[sprintf("%s.image", [container.path])],
)[0]
