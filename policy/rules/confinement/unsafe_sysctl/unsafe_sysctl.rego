# METADATA
# title: The Pod sets a sysctl that is not known to be safe
# description: >-
#   A sysctl that is not separate for each Pod changes the node for every other Pod on it. The kubelet refuses those
#   that its node does not allow by name, and the Pod fails to start.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
# custom:
#   group: confinement
#   severity: warning
#   needs: [sysctls]
#   pss:
#     level: baseline
#     check: sysctls
#   remedy: >-
#     Remove the sysctl, or use one of the safe set.
#   false_positives: >-
#     Nodes whose kubelet allows the sysctl with --allowed-unsafe-sysctls.
#   parameters:
#   - name: allowed
#     description: Names of sysctls that the kubelets allow with --allowed-unsafe-sysctls.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         securityContext:
#           sysctls:
#           - name: kernel.msgmax
#             value: "65536"
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         securityContext:
#           sysctls:
#           - name: net.ipv4.ip_unprivileged_port_start
#             value: "0"
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.unsafe_sysctl

import data.kandev.lib.parameters

findings contains {
	"rule": "unsafe-sysctl",
	"path": sprintf("%s.securityContext.sysctls[%d].name", [input.kandev.path, index]),
	"container": "",
	"message": sprintf("the Pod sets sysctl %s, which is not in the safe set", [name]),
	"remediation": "remove the sysctl, or have it allowed on the nodes and name it in the parameter allowed",
} if {
	some index, sysctl in input.kandev.spec.securityContext.sysctls
	name := object.get(sysctl, "name", "")
	not safe(name)
	not name in parameters.strings("unsafe-sysctl", "allowed")
}

safe(name) if input.kandev.minor >= safe_since[name]

# The minor version from which the baseline standard allows each; 0 is always.
safe_since := {
	"kernel.shm_rmid_forced": 0,
	"net.ipv4.ip_local_port_range": 0,
	"net.ipv4.ip_local_reserved_ports": 27,
	"net.ipv4.ip_unprivileged_port_start": 0,
	"net.ipv4.ping_group_range": 0,
	"net.ipv4.tcp_fin_timeout": 29,
	"net.ipv4.tcp_keepalive_intvl": 29,
	"net.ipv4.tcp_keepalive_probes": 29,
	"net.ipv4.tcp_keepalive_time": 29,
	"net.ipv4.tcp_notsent_lowat": 37,
	"net.ipv4.tcp_rmem": 32,
	"net.ipv4.tcp_slow_start_after_idle": 37,
	"net.ipv4.tcp_syncookies": 0,
	"net.ipv4.tcp_wmem": 32,
}
