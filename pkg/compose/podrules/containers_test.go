package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestContainers(t *testing.T) {
	run(t, []row{
		{"a container", inContainer("imagePullPolicy: Never, terminationMessagePolicy: File"), nil},
		{"no container", "{spec: {}}", field.ErrorList{
			required("spec.containers", ""),
		}},
		{"no name, no image", "{spec: {containers: [{}]}}", field.ErrorList{
			required("spec.containers[0].name", ""),
			required("spec.containers[0].image", ""),
		}},
		{"name in capitals, padded image", `{spec: {containers: [{name: A, image: " i"}]}}`, field.ErrorList{
			invalid("spec.containers[0].name", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			invalid("spec.containers[0].image", "must not have leading or trailing whitespace"),
		}},
		{"name with a dot", "{spec: {containers: [{name: a.b, image: i}]}}", field.ErrorList{
			invalid("spec.containers[0].name", "must not contain dots"),
		}},
		{"name too long", "{spec: {containers: [{name: " + strings.Repeat("l", 64) + ", image: i}]}}", field.ErrorList{
			invalid("spec.containers[0].name", "must be no more than 63 characters"),
		}},
		{"two of one name", "{spec: {containers: [{name: a, image: i}, {name: a, image: i}]}}", field.ErrorList{
			duplicate("spec.containers[1].name"),
		}},
		{"init container of the same name", `{spec: {containers: [{name: a, image: i}], initContainers: [{name: a, image: i}, {name: b, image: "i "}, {name: b, image: i}]}}`, field.ErrorList{
			duplicate("spec.initContainers[0].name"),
			duplicate("spec.initContainers[2].name"),
			invalid("spec.initContainers[1].image", "must not have leading or trailing whitespace"),
		}},
		{"unknown policies", inContainer("imagePullPolicy: Sometimes, terminationMessagePolicy: Socket"), field.ErrorList{
			notSupported("spec.containers[0].terminationMessagePolicy", `supported values: "File", "FallbackToLogsOnError"`),
			notSupported("spec.containers[0].imagePullPolicy", `supported values: "Always", "IfNotPresent", "Never"`),
		}},
		{"resize policies", inContainer("resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: memory, restartPolicy: RestartContainer}]"), nil},
		{"bad resize policies", inContainer("resizePolicy: [{resourceName: cpu, restartPolicy: Maybe}, {resourceName: cpu}, {resourceName: disk, restartPolicy: NotRequired}, {restartPolicy: NotRequired}]"), field.ErrorList{
			notSupported("spec.containers[0].resizePolicy", `supported values: "NotRequired", "RestartContainer"`),
			duplicate("spec.containers[0].resizePolicy[1]"),
			required("spec.containers[0].resizePolicy", ""),
			notSupported("spec.containers[0].resizePolicy", `supported values: "cpu", "memory"`),
			required("spec.containers[0].resizePolicy", ""),
		}},
		{"resize with a restart in a Pod without", "{spec: {restartPolicy: Never, containers: [{name: a, image: i, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]}}", field.ErrorList{
			invalid("spec.containers[0].resizePolicy", "must be 'NotRequired' when pod `restartPolicy` is 'Never'"),
		}},
		{"restart rules", inContainer("restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]"), nil},
		{"restart rules without a policy", inContainer("restartPolicyRules: [{action: Restart, exitCodes: {operator: In}}]"), field.ErrorList{
			required("spec.containers[0].restartPolicy", "must specify restartPolicy when restart rules are used"),
		}},
		{"bad restart rules", inContainer("restartPolicy: Maybe, restartPolicyRules: [{action: Stop, exitCodes: {operator: Like}}, {action: Restart}]"), field.ErrorList{
			notSupported("spec.containers[0].restartPolicy", `supported values: "Always", "Never", "OnFailure"`),
			notSupported("spec.containers[0].restartPolicyRules[0].action", `supported values: "Restart", "RestartAllContainers"`),
			notSupported("spec.containers[0].restartPolicyRules[0].exitCodes.operator", `supported values: "In", "NotIn"`),
			required("spec.containers[0].restartPolicyRules[1].exitCodes", "must be specified"),
		}},
		{"too many restart rules", inContainer("restartPolicy: Never, restartPolicyRules: [" + list(21, "{action: Restart, exitCodes: {operator: In}}") + "]"), field.ErrorList{
			tooMany("spec.containers[0].restartPolicyRules", "must have at most 20 items"),
		}},
		{"too many exit codes", inContainer("restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [" + list(256, "1") + "]}}]"), field.ErrorList{
			tooMany("spec.containers[0].restartPolicyRules[0].exitCodes.values", "must have at most 255 items"),
		}},
		{"init container with what only sidecars have", inInitContainer("lifecycle: {}, livenessProbe: {exec: {command: [a]}}, readinessProbe: {exec: {command: [a]}}, startupProbe: {exec: {command: [a]}}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]"), field.ErrorList{
			forbidden("spec.initContainers[0].lifecycle", "may not be set for init containers without restartPolicy=Always"),
			forbidden("spec.initContainers[0].livenessProbe", "may not be set for init containers without restartPolicy=Always"),
			forbidden("spec.initContainers[0].readinessProbe", "may not be set for init containers without restartPolicy=Always"),
			forbidden("spec.initContainers[0].startupProbe", "may not be set for init containers without restartPolicy=Always"),
			invalid("spec.initContainers[0].resizePolicy[0].restartPolicy", "must not be set to 'RestartContainer' for non-sidecar initContainers"),
		}},
		{"sidecar with all of it", inInitContainer("restartPolicy: Always, lifecycle: {}, livenessProbe: {exec: {command: [a]}}, readinessProbe: {exec: {command: [a]}}, startupProbe: {exec: {command: [a]}}, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]"), nil},
		{"init container with a stop signal, which is dropped", inInitContainer("lifecycle: {stopSignal: SIGTERM}"), nil},
		{"init container with rules but no policy", inInitContainer("restartPolicyRules: [{action: Stop}]"), field.ErrorList{
			required("spec.initContainers[0].restartPolicy", "must specify restartPolicy when restart rules are used"),
		}},
		{"init container of an unknown policy", inInitContainer("restartPolicy: Maybe"), field.ErrorList{
			notSupported("spec.initContainers[0].restartPolicy", `supported values: "Always", "Never", "OnFailure"`),
		}},
	})
}
