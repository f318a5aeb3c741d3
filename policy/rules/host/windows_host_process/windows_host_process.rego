# METADATA
# title: A Windows HostProcess container
# description: >-
#   A HostProcess container runs directly on a Windows node with its accounts, files and network. Kandev's sessions
#   are Linux Pods, which the API server lets set no Windows options.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
# custom:
#   group: host
#   severity: warning
#   needs: [windowsOptions]
#   pss:
#     level: baseline
#     check: windowsHostProcess
#   remedy: >-
#     Remove windowsOptions.
#   false_positives: >-
#     None known.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             windowsOptions:
#               hostProcess: true
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext: {}
package kandev.rules.windows_host_process

findings contains {
	"rule": "windows-host-process",
	"path": sprintf("%s.securityContext.windowsOptions.hostProcess", [path]),
	"container": name,
	"message": sprintf("%s asks to run as a process of a Windows node", [scope.subject]),
	"remediation": "remove windowsOptions",
} if {
	some path
	input.kandev.specs[path].securityContext.windowsOptions.hostProcess == true
	scope := input.kandev.scopes[path]
	name := scope.name
}
