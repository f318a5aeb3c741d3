# METADATA
# title: A Docker engine may not run as root
# description: >-
#   dockerd refuses to start as another user, and where runAsNonRoot is true the kubelet refuses to start its image as
#   root: the companion crashes or waits for ever, and the session with it. Set for the whole Pod, a non-root user is
#   the engine's too. Only Docker's rootless images run without root.
# related_resources:
#   - ref: https://docs.docker.com/engine/security/rootless/
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
# custom:
#   group: docker
#   severity: warning
#   needs: [kandev.engines]
#   remedy: >-
#     Move runAsNonRoot and runAsUser from the Pod to the agent, and give the engine runAsUser: 0.
#   false_positives: >-
#     A rootless engine whose image does not say rootless in its name or tag. No template of the public corpus runs a
#     Docker engine, so none shows this rule.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         securityContext:
#           runAsNonRoot: true
#           runAsUser: 1000
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           securityContext:
#             privileged: true
#           args: [dockerd]
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#           securityContext:
#             runAsNonRoot: true
#             runAsUser: 1000
#         - name: docker-engine
#           image: registry.example/docker:27-dind
#           securityContext:
#             privileged: true
#           args: [dockerd]
package kandev.rules.docker_engine_user

findings contains {
	"rule": "docker-engine-user",
	"path": sprintf("%s.securityContext.%s", [scope.path, setting]),
	"container": name,
	"message": sprintf("the Docker daemon of container %q needs root, and %s sets %s: %v", [name, scope.subject, setting, value]),
	"remediation": "set the agent's user on the agent alone, and runAsUser: 0 and runAsNonRoot: false on the engine",
} if {
	some place
	input.kandev.engines[place].root == true
	engine := input.kandev.engines[place].container
	some setting in ["runAsNonRoot", "runAsUser"]
	value := input.kandev.effective[engine.path][setting]
	not value in {0, false}
	scope := setter(engine, setting)
	name := engine.name
}

setter(engine, name) := engine if {
	input.kandev.specs[engine.path].securityContext[name]
} else := input.kandev.scopes[input.kandev.path]
