package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestSpec(t *testing.T) {
	run(t, []row{
		{"single values", inSpec("restartPolicy: Never, activeDeadlineSeconds: 1, preemptionPolicy: Never, serviceAccountName: a.b, nodeName: nm, priorityClassName: p, runtimeClassName: r, readinessGates: [{conditionType: a/b}], overhead: {cpu: 1m}, terminationGracePeriodSeconds: -1"), nil},
		{"restart policy", inSpec("restartPolicy: Sometimes"), field.ErrorList{
			notSupported("spec.restartPolicy", `supported values: "Always", "OnFailure", "Never"`),
		}},
		{"deadline of zero", inSpec("activeDeadlineSeconds: 0"), field.ErrorList{
			invalid("spec.activeDeadlineSeconds", "must be between 1 and 2147483647, inclusive"),
		}},
		{"deadline too long", inSpec("activeDeadlineSeconds: 2147483648"), field.ErrorList{
			invalid("spec.activeDeadlineSeconds", "must be between 1 and 2147483647, inclusive"),
		}},
		{"preemption policy", inSpec("preemptionPolicy: Maybe"), field.ErrorList{
			notSupported("spec.preemptionPolicy", `supported values: "PreemptLowerPriority", "Never"`),
		}},
		{"preemption policy empty", inSpec(`preemptionPolicy: ""`), field.ErrorList{
			required("spec.preemptionPolicy", ""),
		}},
		{"names of objects", inSpec(`serviceAccountName: A, nodeName: B, priorityClassName: C, runtimeClassName: ""`), field.ErrorList{
			invalid("spec.serviceAccountName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.nodeName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.priorityClassName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.runtimeClassName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"old name of the service account", inSpec("serviceAccount: A_"), field.ErrorList{
			invalid("spec.serviceAccountName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"readiness gate", inSpec("readinessGates: [{conditionType: a b}]"), field.ErrorList{
			invalid("spec.readinessGates[0].conditionType", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
		}},
		{"overhead", inSpec("overhead: {disk: 1}"), field.ErrorList{
			invalid("spec.overhead.limits[disk]", "must be a standard resource for containers"),
			invalid("spec.overhead.limits[disk]", "must be a standard resource type or fully qualified"),
		}},
		{"node of a gated Pod", inSpec("nodeName: nm, schedulingGates: [{name: g}]"), field.ErrorList{
			forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"),
		}},
		{"os without a name", inSpec("os: {}"), field.ErrorList{
			required("spec.os.name", ""),
		}},
		{"unknown os", inSpec("os: {name: plan9}"), field.ErrorList{
			notSupported("spec.os", `supported values: "linux", "windows"`),
		}},
	})
}
