# METADATA
# title: Docker engines among the companions
# description: >-
#   Which companions run a Docker daemon, and what their command, or the entrypoint of Docker's own images, tells it.
package kandev.lib.docker

import data.kandev.lib.pod
import data.kandev.lib.variables

# The companions that run a Docker daemon: {path, name, spec, line, hosts}. An ordinary node lets only privileged ones.
engines := [{"path": container.path, "name": container.name, "spec": container.spec, "line": said, "hosts": values(said, " --host")} |
	some container in pod.containers
	container.spec.securityContext.privileged == true
	container.name != pod.main_container
	runs_docker(container.spec)
	said := line(container)
]

# Those whose daemon needs root: all but Docker's rootless images.
root_engines := [engine | some engine in engines; not contains(object.get(engine.spec, "image", ""), "rootless")]

# docker:27-dind and its like.
runs_docker(container) if contains(container.image, "dind")

runs_docker(container) if contains(container[["command", "args"][_]][_], "dockerd")

# A reader of the node's containers, such as a log shipper, mounts the node's directory read-only.
runs_docker(container) if {
	some mount in container.volumeMounts
	mount.mountPath == "/var/lib/docker"
	not mount.readOnly == true
}

# What a container runs, in one line with flags in one spelling; without a command, what an image of Docker's starts.
line(container) := strings.replace_n(object.union(variables.values(container), spellings), concat(" ", words)) if {
	command := object.get(container.spec, "command", ["dockerd-entrypoint.sh"])
	words := ["", concat(" ", command), concat(" ", object.get(container.spec, "args", [])), ";"]
}

spellings := {"\n": " ", " -G": " --group", " -H": " --host", " -g": " --data-root"}

# The values that a line gives a flag, as --flag=value or --flag value.
values(command_line, flag) := [trim(split(trim_left(part, " ="), " ")[0], "\"';&|)") |
	some index, part in split(command_line, flag)
	index > 0
]

# The mounts of an engine that a path lies within: {path, name}.
mounts_of(engine, path) := [{"path": sprintf("%s.volumeMounts[%d]", [engine.path, index]), "name": mount.name} |
	some index, mount in engine.spec.volumeMounts
	startswith(path, mount.mountPath)
]

# Where an engine's command or args say something, or else the image that has it as its entrypoint.
place_of(engine, text) := array.concat(
	[sprintf("%s.%s[%d]", [engine.path, list, index]) |
		some list in ["command", "args"]
		contains(engine.spec[list][index], text)
	],
	[sprintf("%s.image", [engine.path])],
)[0]
