# METADATA
# title: The template lets a session die or wait without end
# description: >-
#   A session lives until it is deleted. activeDeadlineSeconds makes the kubelet kill the Pod at a time of its own,
#   whatever the agent is doing, and a Pod that it killed is not started again. A scheduling gate keeps the Pod
#   pending until somebody removes the gate, which Kandev does not. Gates that admission adds, such as those of a
#   queue, are removed by what added them and are not reported.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/
# custom:
#   group: session
#   severity: warning
#   needs: [activeDeadlineSeconds, schedulingGates]
#   remedy: >-
#     Remove activeDeadlineSeconds and schedulingGates.
#   false_positives: >-
#     A deadline that is meant as the last bound on cost; a gate that a controller of the cluster removes. Public Pods
#     leave deadlines to Jobs and gates to queues: no template of the public corpus shows this rule.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         activeDeadlineSeconds: 3600
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         terminationGracePeriodSeconds: 60
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
package kandev.rules.session_interrupted

findings contains {
	"rule": "session-interrupted",
	"path": sprintf("template.spec.%s", [field]),
	"container": "",
	"message": sprintf("the Pod sets %s: %s", [field, effect]),
	"remediation": sprintf("remove %s", [field]),
} if {
	some field, effect in effects
	value := input.template.spec[field]
	value != []
}

effects := {
	"activeDeadlineSeconds": "the kubelet then kills the session in the middle of its work",
	"schedulingGates": "the session waits until something other than Kandev removes its gates",
}
