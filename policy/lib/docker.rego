# METADATA
# title: Docker engines among the companions
# description: >-
#   What a companion that runs a Docker daemon is told by its command, or by dockerd-entrypoint.sh of Docker's own images
#   where it has none.
package kandev.lib.docker

import data.kandev.lib.hostpaths
import data.kandev.lib.paths
import data.kandev.lib.pod
import data.kandev.lib.variables

# The companions that run a Docker daemon: {path, name, spec, words}.
engines := [object.union(container, {"words": words(container)}) |
	some container in pod.containers
	container.name != pod.main_container
	runs_docker(container.spec)
]

# Those whose daemon needs root: all but Docker's rootless images.
root_engines := [engine | some engine in engines; not contains(object.get(engine.spec, "image", ""), "rootless")]

# docker:dind and its like, by the name or the tag.
runs_docker(container) if {
	contains(container.image, "dind")
	parts := split(container.image, "/")
	contains(parts[count(parts) - 1], "dind")
}

runs_docker(container) if contains(container[["command", "args"][_]][_], "dockerd")

# A reader of the node's containers, such as a log shipper, mounts the node's directory, and read-only.
runs_docker(container) if {
	some mount in container.volumeMounts
	mount.mountPath in {"/var/lib/docker", "/var/lib/docker/"}
	not mount.readOnly == true
}

# What the container runs, as words with the place of each, those of a shell script one by one, and ";" at the end.
words(container) := array.concat(entrypoint(container), array.concat(
	[{"path": sprintf("%s.%s[%d]", [container.path, list, index]), "text": word} |
		some list in ["command", "args"]
		some index, element in container.spec[list]
		some word in split(strings.replace_n(shell, variables.expand(element, container)), " ")
		word != ""
	],
	[{"path": container.path, "text": ";"}],
))

shell := {"\n": " ", "\t": " ", "\"": "", "'": "", ";": " ; ", "&": " ; ", "|": " ; ", ">": " ; "}

# What an image of Docker's starts where the container has no command.
entrypoint(container) := [] if {
	container.spec.command[0]
} else := [{"path": sprintf("%s.image", [container.path]), "text": "dockerd-entrypoint.sh"}]

# Where dockerd-entrypoint.sh adds --host=tcp://0.0.0.0:2375 or 2376: it does when nothing or a flag follows it.
default_listeners(engine) := [path |
	some index, word in engine.words
	endswith(word.text, "dockerd-entrypoint.sh")
	path := default_listener(engine.words, index)
]

default_listener(all, index) := all[index].path if {
	all[index + 1].text == ";"
} else := all[index + 1].path if {
	startswith(all[index + 1].text, "-")
}

# The values of a flag of dockerd and their places, in any of its spellings: --host=X, --host X, -H X, -H=X and -HX.
flags(engine, long, short) := [found |
	some index, _ in engine.words
	found := flag(engine.words, index, long, short)
]

flag(all, index, long, short) := {"path": all[index + 1].path, "value": all[index + 1].text} if {
	all[index].text in {long, short}
} else := {"path": all[index].path, "value": trim_prefix(all[index].text, concat("", [long, "="]))} if {
	startswith(all[index].text, concat("", [long, "="]))
} else := {"path": all[index].path, "value": trim_left(trim_prefix(all[index].text, short), "=")} if {
	startswith(all[index].text, short)
}

hosts(engine) := flags(engine, "--host", "-H")

# Where the daemon's Unix sockets are.
sockets(engine) := told if {
	told := {place(trim_prefix(host.value, "unix://")) | some host in hosts(engine); startswith(host.value, "unix://")}
	count(told) > 0
} else := {"/run/docker.sock/"}

# Where the daemon's data is.
data_root(engine) := place(given[0].value) if {
	given := flags(engine, "--data-root", "-g")
	count(given) > 0
} else := "/var/lib/docker/"

# A path as one can lie within another, /var/run as the link that it is.
place(path) := hostpaths.alias(paths.clean(path))

# The mounts of a container that hold a path: {path, name}.
mounts_at(container, path) := [{"path": sprintf("%s.volumeMounts[%d]", [container.path, index]), "name": mount.name} |
	some index, mount in container.spec.volumeMounts
	startswith(path, place(mount.mountPath))
]
