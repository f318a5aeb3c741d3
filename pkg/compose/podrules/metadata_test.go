package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestMetadata(t *testing.T) {
	run(t, []row{
		{"labels and annotations", inMetadata(`labels: {app: web, example.com/x: ""}, annotations: {Example.COM/Key: any text}`), nil},
		{"label key with two slashes", inMetadata("labels: {a/b/c: d}"), field.ErrorList{
			invalid("metadata.labels", "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"),
		}},
		{"label value with a space", inMetadata("labels: {a: b c}"), field.ErrorList{
			invalid("metadata.labels", "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
		}},
		{"several bad labels in order", inMetadata("labels: {b/: x, a/: x}"), field.ErrorList{
			invalid("metadata.labels", "name part must be non-empty"),
			invalid("metadata.labels", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("metadata.labels", "name part must be non-empty"),
			invalid("metadata.labels", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
		}},
		{"annotation key", inMetadata("annotations: {a/b/c: d}"), field.ErrorList{
			invalid("metadata.annotations", "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"),
		}},
		{"mirror annotation without a node", inMetadata("annotations: {kubernetes.io/config.mirror: x}"), field.ErrorList{
			invalid("metadata.annotations[kubernetes.io/config.mirror]", "must set spec.nodeName if mirror pod annotation is set"),
		}},
		{"deletion cost", inMetadata(`annotations: {controller.kubernetes.io/pod-deletion-cost: "-10"}`), nil},
		{"deletion cost with a leading zero", inMetadata(`annotations: {controller.kubernetes.io/pod-deletion-cost: "01"}`), field.ErrorList{
			invalid("metadata.annotations[controller.kubernetes.io/pod-deletion-cost]", "must be a 32bit integer"),
		}},
		{"deletion cost too large", inMetadata(`annotations: {controller.kubernetes.io/pod-deletion-cost: "2147483648"}`), field.ErrorList{
			invalid("metadata.annotations[controller.kubernetes.io/pod-deletion-cost]", "must be a 32bit integer"),
		}},
		{"deletion cost empty", inMetadata(`annotations: {controller.kubernetes.io/pod-deletion-cost: ""}`), field.ErrorList{
			invalid("metadata.annotations[controller.kubernetes.io/pod-deletion-cost]", "must be a 32bit integer"),
		}},
		{"tolerations annotation", inMetadata(`annotations: {scheduler.alpha.kubernetes.io/tolerations: '[{"key":"a","operator":"Exists"}]'}`), nil},
		{"tolerations annotation that is no JSON", inMetadata("annotations: {scheduler.alpha.kubernetes.io/tolerations: '{'}"), field.ErrorList{
			invalid("metadata.annotations", "unexpected end of JSON input"),
		}},
		{"tolerations annotation with a bad toleration", inMetadata(`annotations: {scheduler.alpha.kubernetes.io/tolerations: '[{"operator":"Equal"}]'}`), field.ErrorList{
			invalid("metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].operator", "operator must be Exists when `key` is empty, which means \"match all values and all keys\""),
		}},
	})
}
