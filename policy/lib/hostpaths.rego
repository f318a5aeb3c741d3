# METADATA
# title: What a path of the node is worth
package kandev.lib.hostpaths

import data.kandev.lib.paths

# What a hostPath gives away, in words; undefined for a path that is not known to matter. A directory above a place
# gives the place away too.
danger(path) := reasons[0] if {
	cleaned := alias(paths.clean(path))
	not cleaned in harmless
	reasons := [reason | some place, reason in places; related(cleaned, place)]
}

# /var/run is a link to /run on every node in use.
alias(path) := trim_prefix(path, "/var") if {
	startswith(path, "/var/run/")
} else := path

related(path, place) if startswith(path, place)

related(path, place) if startswith(place, path)

# Files that are mounted for their contents alone and hold no secret.
harmless := {"/etc/localtime/", "/etc/timezone/"}

places := {
	"/boot/": "the node's kernel and boot loader",
	"/dev/": "the node's devices",
	"/etc/": "the node's configuration, users and keys",
	"/proc/": "the node's processes and kernel settings",
	"/root/": "the home of the node's administrator",
	"/run/containerd/": "the container runtime's socket and state",
	"/run/cri-dockerd.sock/": "the container runtime's socket",
	"/run/crio/": "the container runtime's socket and state",
	"/run/docker/": "the container runtime's state",
	"/run/docker.sock/": "the container runtime's socket",
	"/run/dockershim.sock/": "the container runtime's socket",
	"/run/k3s/": "the container runtime's socket and state",
	"/run/podman/": "the container runtime's socket",
	"/run/secrets/": "secrets of the node",
	"/sys/": "the node's kernel settings and control groups",
	"/var/lib/containerd/": "the container runtime's images and containers",
	"/var/lib/containers/": "the container runtime's images and containers",
	"/var/lib/crio/": "the container runtime's data",
	"/var/lib/docker/": "the container runtime's images and containers",
	"/var/lib/etcd/": "the cluster's database",
	"/var/lib/kubelet/": "every Pod's volumes and tokens",
	"/var/lib/rancher/": "the cluster's keys and the container runtime's data",
	"/var/log/": "the node's logs, through which links reach any file",
}
