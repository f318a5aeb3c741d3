# METADATA
# title: Nothing bounds what a session takes of its node
# description: >-
#   The agent's home is in memory, and so is everything that it installs or caches there: without a memory limit it
#   can take the node's, and other Pods die for it. What it writes elsewhere outside the workspace fills the node's
#   disk until the kubelet evicts Pods, unless ephemeral-storage has a limit; mind that the Pod's disk-backed
#   emptyDirs count against the sum of its containers' limits. An emptyDir in memory without a sizeLimit counts
#   against the memory of the containers that write to it. Nested containers are bounded by the memory limit of their
#   Docker engine at most, so one without is a warning. The kubelet takes a limit or a sizeLimit of 0 for none.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
# custom:
#   group: session
#   severity: info
#   remedy: >-
#     Set resources.limits for memory and ephemeral-storage on the agent, for memory on a Docker engine, and a
#     sizeLimit on memory-backed volumes.
#   false_positives: >-
#     A namespace whose LimitRange sets the limits at admission, and nodes that run one session each.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           resources:
#             requests: {memory: 2Gi}
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           resources:
#             requests: {memory: 2Gi}
#             limits: {memory: 8Gi, ephemeral-storage: 10Gi}
package kandev.rules.session_unbounded

findings contains {
	"rule": "session-unbounded",
	"path": sprintf("%s.resources", [path]),
	"container": name,
	"message": sprintf("container %q has no limit for %s", [name, concat(" and ", unlimited)]),
	"remediation": "set it in resources.limits",
} if {
	some agent in input.kandev.agents
	unlimited := agent.unlimited
	unlimited != []
	path := agent.path
	name := agent.name
}

findings contains {
	"rule": "session-unbounded",
	"severity": "warning",
	"path": sprintf("%s.resources", [engine.container.path]),
	"container": name,
	"message": sprintf("container %q has no limit for memory", [name]),
	"remediation": "set it in resources.limits",
} if {
	some engine in input.kandev.engines
	"memory" in engine.unlimited
	name := engine.container.name
}

findings contains {
	"rule": "session-unbounded",
	"path": path,
	"container": "",
	"message": sprintf("volume %q is kept in memory and has no sizeLimit", [name]),
	"remediation": "set a sizeLimit",
} if {
	some volume in input.kandev.unset.sizeLimit
	path := volume.path
	name := volume.name
}
