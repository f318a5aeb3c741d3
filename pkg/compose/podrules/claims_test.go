package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestClaims(t *testing.T) {
	run(t, []row{
		{"claim", inVolume(`ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}, annotations: {c: d}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: "", volumeMode: Block, dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: a}}}}`), nil},
		{"no template", inVolume("ephemeral: {}"), field.ErrorList{
			required("spec.volumes[0].ephemeral.volumeClaimTemplate", ""),
		}},
		{"empty", inVolume("ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {}}}"), field.ErrorList{
			required("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes", "at least 1 access mode is required"),
			required("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]", ""),
		}},
		{"metadata", inVolume(`ephemeral: {volumeClaimTemplate: {metadata: {name: a, generateName: b, namespace: c, selfLink: d, uid: e, resourceVersion: f, generation: 1, creationTimestamp: "2020-01-01T00:00:00Z", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 1, ownerReferences: [], finalizers: [], managedFields: [], labels: {a/: b}, annotations: {c/: d}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}`), field.ErrorList{
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.annotations", "name part must be non-empty"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.annotations", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels", "name part must be non-empty"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generateName", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.namespace", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.selfLink", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.resourceVersion", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generation", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.creationTimestamp", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionTimestamp", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionGracePeriodSeconds", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.ownerReferences", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers", "cannot be set"),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields", "cannot be set"),
		}},
		{"access modes", inVolume("ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOncePod, ReadWriteMany, Maybe], resources: {requests: {storage: 0}}}}}"), field.ErrorList{
			notSupported("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes", `supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`),
			forbidden("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes", "may not use ReadWriteOncePod with other access modes"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]", "must be greater than zero"),
		}},
		{"selector and classes", inVolume("ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, selector: {matchLabels: {a: b c}}, storageClassName: A, volumeMode: Stream, volumeAttributesClassName: B}}}"), field.ErrorList{
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.selector.matchLabels", "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			notSupported("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeMode", `supported values: "Block", "Filesystem"`),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
		{"data sources", inVolume(`ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {apiGroup: A, kind: "", name: ""}, dataSourceRef: {kind: Other, name: nm, namespace: Ns}}}}`), field.ErrorList{
			required("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.name", ""),
			required("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.kind", ""),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.apiGroup", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef", "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec", "may not be specified when dataSourceRef.namespace is specified"),
		}},
		{"data sources that differ", inVolume("ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: b}}}}"), field.ErrorList{
			invalid("spec.volumes[0].ephemeral.volumeClaimTemplate.spec", "must match dataSourceRef"),
		}},
	})
}
