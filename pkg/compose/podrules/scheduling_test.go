package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestScheduling(t *testing.T) {
	run(t, []row{
		{"selector and gates", inSpec("nodeSelector: {a/b: c}, schedulingGates: [{name: a/b}]"), nil},
		{"node selector", inSpec("nodeSelector: {a/: c d}"), field.ErrorList{
			invalid("spec.nodeSelector", "name part must be non-empty"),
			invalid("spec.nodeSelector", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("spec.nodeSelector", "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
		}},
		{"gates", inSpec("schedulingGates: [{name: a b}, {name: c}, {name: c}]"), field.ErrorList{
			invalid("spec.schedulingGates[0]", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			duplicate("spec.schedulingGates[2]"),
		}},
		{"tolerations", inSpec("tolerations: [{operator: Exists}, {key: a, value: b, effect: NoSchedule}, {key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]"), nil},
		{"bad tolerations", inSpec(`tolerations: [{value: a}, {key: a/, operator: Exists, value: b}, {key: a, value: b c}, {key: a, operator: Gt, value: "1"}, {key: a, operator: Exists, effect: Never, tolerationSeconds: 1}]`), field.ErrorList{
			invalid("spec.tolerations[0].operator", "operator must be Exists when `key` is empty, which means \"match all values and all keys\""),
			invalid("spec.tolerations[1].key", "name part must be non-empty"),
			invalid("spec.tolerations[1].key", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("spec.tolerations[1].operator", "value must be empty when `operator` is 'Exists'"),
			invalid("spec.tolerations[2].operator", "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
			notSupported("spec.tolerations[3].operator", `supported values: "Equal", "Exists"`),
			invalid("spec.tolerations[4].effect", "effect must be 'NoExecute' when `tolerationSeconds` is set"),
			notSupported("spec.tolerations[4].effect", `supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`),
		}},
		{"spread", inSpec("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 1, nodeAffinityPolicy: Honor, nodeTaintsPolicy: Ignore, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [c]}]"), nil},
		{"bad spread", inSpec(`topologySpreadConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: Maybe, minDomains: 0, nodeAffinityPolicy: Maybe, nodeTaintsPolicy: Maybe, labelSelector: {matchLabels: {a: b c}}, matchLabelKeys: [a b]}]`), field.ErrorList{
			invalid("spec.topologySpreadConstraints[0].maxSkew", "must be greater than zero"),
			required("spec.topologySpreadConstraints[0].topologyKey", "can not be empty"),
			notSupported("spec.topologySpreadConstraints[0].whenUnsatisfiable", `supported values: "DoNotSchedule", "ScheduleAnyway"`),
			invalid("spec.topologySpreadConstraints[0].minDomains", "must be greater than zero"),
			invalid("spec.topologySpreadConstraints[0].minDomains", "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Maybe"),
			notSupported("spec.topologySpreadConstraints[0].nodeAffinityPolicy", `supported values: "Honor", "Ignore"`),
			notSupported("spec.topologySpreadConstraints[0].nodeTaintsPolicy", `supported values: "Honor", "Ignore"`),
			invalid("spec.topologySpreadConstraints[0].matchLabelKeys[0]", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("spec.topologySpreadConstraints[0].labelSelector.matchLabels", "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
		}},
		{"spread twice", inSpec("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]"), field.ErrorList{
			duplicate("spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}"),
		}},
		{"label keys without a selector", inSpec("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [a]}]"), field.ErrorList{
			forbidden("spec.topologySpreadConstraints[0].matchLabelKeys", "must not be specified when labelSelector is not set"),
		}},
		{"label key of the Pod that the selector has", "{metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [c, a]}]}}", field.ErrorList{
			invalid("spec.topologySpreadConstraints[0][1]", "exists in both matchLabelKeys and labelSelector"),
		}},
		{"label key of the Pod that composition adds", inSpec("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {known.example/a: b}}, matchLabelKeys: [known.example/a]}]"), field.ErrorList{
			invalid("spec.topologySpreadConstraints[0][0]", "exists in both matchLabelKeys and labelSelector"),
		}},
		{"label key that the Pod has not", inSpec("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [a]}]"), nil},
	})
}
