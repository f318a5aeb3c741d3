package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestEnv(t *testing.T) {
	run(t, []row{
		{"names need not be identifiers", inContainer(`env: [{name: "a b-c.1", value: x}, {name: A}]`), nil},
		{"no name, a name with =", inContainer("env: [{value: x}, {name: a=b}]"), field.ErrorList{
			required("spec.containers[0].env[0].name", ""),
			invalid("spec.containers[0].env[1].name", "a valid environment variable name must consist only of printable ASCII characters other than '='"),
		}},
		{"fields of the Pod", inContainer(`env: [{name: a, valueFrom: {fieldRef: {fieldPath: spec.host}}}, {name: b, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: "metadata.labels['a']"}}}, {name: c, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['A/B']"}}}]`), nil},
		{"field missing", inContainer(`env: [{name: a, valueFrom: {fieldRef: {fieldPath: ""}}}]`), field.ErrorList{
			required("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", ""),
		}},
		{"field of another version", inContainer("env: [{name: a, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: metadata.name}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", "error converting fieldPath: unsupported pod version: v2"),
		}},
		{"unknown field", inContainer("env: [{name: a, valueFrom: {fieldRef: {fieldPath: spec.image}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", "error converting fieldPath: field label not supported: spec.image"),
		}},
		{"field that is no single value", inContainer("env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]"), field.ErrorList{
			notSupported("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", `supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`),
		}},
		{"subscript of a field without", inContainer(`env: [{name: a, valueFrom: {fieldRef: {fieldPath: "metadata.name['a']"}}}]`), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", "error converting fieldPath: field label does not support subscript: metadata.name['a']"),
		}},
		{"subscript that is no key", inContainer(`env: [{name: a, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a b']"}}}]`), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fieldRef", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
		}},
		{"brackets without a field", inContainer(`env: [{name: a, valueFrom: {fieldRef: {fieldPath: "['a']"}}}]`), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", "error converting fieldPath: field label not supported: ['a']"),
		}},
		{"resources", inContainer("env: [{name: a, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}, {name: b, valueFrom: {resourceFieldRef: {resource: requests.hugepages-2Mi, divisor: 1Mi}}}]"), nil},
		{"resource missing", inContainer(`env: [{name: a, valueFrom: {resourceFieldRef: {resource: ""}}}]`), field.ErrorList{
			required("spec.containers[0].env[0].valueFrom.resourceFieldRef.resource", ""),
		}},
		{"unknown resource", inContainer("env: [{name: a, valueFrom: {resourceFieldRef: {resource: limits.gpu, divisor: 3}}}]"), field.ErrorList{
			notSupported("spec.containers[0].env[0].valueFrom.resourceFieldRef.resource", `supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`),
		}},
		{"divisors", inContainer("env: [{name: a, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 2}}}, {name: b, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 2}}}, {name: c, valueFrom: {resourceFieldRef: {resource: requests.ephemeral-storage, divisor: 2}}}, {name: d, valueFrom: {resourceFieldRef: {resource: limits.hugepages-2Mi, divisor: 2}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor", "only divisor's values 1m, 1 are supported with the cpu resource"),
			invalid("spec.containers[0].env[1].valueFrom.resourceFieldRef.divisor", "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource"),
			invalid("spec.containers[0].env[2].valueFrom.resourceFieldRef.divisor", "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource"),
			invalid("spec.containers[0].env[3].valueFrom.resourceFieldRef.divisor", "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource"),
		}},
		{"keys", inContainer("env: [{name: a, valueFrom: {secretKeyRef: {name: s, key: a.b_c}}}, {name: b, valueFrom: {configMapKeyRef: {name: c, key: k}}}]"), nil},
		{"keys without names", inContainer(`env: [{name: a, valueFrom: {secretKeyRef: {key: k}}}, {name: b, valueFrom: {configMapKeyRef: {name: c, key: ""}}}]`), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.secretKeyRef.name", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			required("spec.containers[0].env[1].valueFrom.configMapKeyRef.key", ""),
		}},
		{"key with a slash", inContainer("env: [{name: a, valueFrom: {secretKeyRef: {name: s, key: a/b}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.secretKeyRef.key", "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"),
		}},
		{"no source", inContainer("env: [{name: a, valueFrom: {}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"),
		}},
		{"value and source", inContainer("env: [{name: a, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom", "may not be specified when `value` is not empty"),
		}},
		{"two sources", inContainer("env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: s, key: k}}}]"), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom", "may not have more than one field specified at a time"),
		}},
		{"file key", "{spec: {containers: [{name: main, image: i, env: [{name: a, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: K}}}]}], volumes: [{name: v}]}}", nil},
		{"file key without anything", inContainer(`env: [{name: a, valueFrom: {fileKeyRef: {volumeName: "", path: "", key: ""}}}]`), field.ErrorList{
			required("spec.containers[0].env[0].valueFrom.fileKeyRef.key", ""),
			required("spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", ""),
			required("spec.containers[0].env[0].valueFrom.fileKeyRef.path", ""),
			notFound("spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", "must be the name of a volume of the Pod"),
		}},
		{"file key in no volume, above it", inContainer(`env: [{name: a, valueFrom: {fileKeyRef: {volumeName: v, path: ../p, key: "="}}}]`), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fileKeyRef.key", "a valid environment variable name must consist only of printable ASCII characters other than '='"),
			invalid("spec.containers[0].env[0].valueFrom.fileKeyRef.path", "must not contain '..'"),
			notFound("spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", "must be the name of a volume of the Pod"),
		}},
		{"file key in a volume of the host", "{spec: {containers: [{name: main, image: i, env: [{name: a, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: K}}}]}], volumes: [{name: v, hostPath: {path: /}}]}}", field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", "referenced volume must be of type emptyDir"),
		}},
		{"file key in a known volume", inContainer("env: [{name: a, valueFrom: {fileKeyRef: {volumeName: known, path: p, key: K}}}]"), nil},
		{"whole maps", inContainer("envFrom: [{prefix: A_, configMapRef: {name: c}}, {secretRef: {name: s}}]"), nil},
		{"whole maps without names", inContainer("envFrom: [{prefix: a=, configMapRef: {}}, {secretRef: {name: S}}]"), field.ErrorList{
			invalid("spec.containers[0].envFrom[0].prefix", "a valid environment variable name must consist only of printable ASCII characters other than '='"),
			required("spec.containers[0].envFrom[0].configMapRef.name", ""),
			invalid("spec.containers[0].envFrom[1].secretRef.name", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"a trailing dash passes as a prefix", inContainer("envFrom: [{secretRef: {name: abc-}}]"), nil},
		{"no whole map, two", inContainer("envFrom: [{prefix: A_}, {configMapRef: {name: c}, secretRef: {name: s}}]"), field.ErrorList{
			invalid("spec.containers[0].envFrom", "must specify one of: `configMapRef` or `secretRef`"),
			invalid("spec.containers[0].envFrom", "may not have more than one field specified at a time"),
		}},
	})
}
