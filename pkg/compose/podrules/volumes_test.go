package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestVolumes(t *testing.T) {
	run(t, []row{
		{"local volumes", inSpec("volumes: [{name: a}, {name: b, emptyDir: {sizeLimit: 1Gi}}, {name: c, hostPath: {path: /a, type: File}}, {name: d, secret: {secretName: s, items: [{key: k, path: a/b, mode: 256}]}}, {name: e, configMap: {name: c}}, {name: f, image: {reference: r}}, {name: g, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.labels}}]}}]"), nil},
		{"names", inSpec("volumes: [{}, {name: A}, {name: a}, {name: a}]"), field.ErrorList{
			required("spec.volumes[0].name", ""),
			invalid("spec.volumes[1].name", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			duplicate("spec.volumes[3].name"),
		}},
		{"two sources", inSpec("volumes: [{name: a, emptyDir: {}, hostPath: {path: /}, secret: {secretName: s}, cephfs: {monitors: [m]}, downwardAPI: {}}]"), field.ErrorList{
			forbidden("spec.volumes[0].hostPath", "may not specify more than 1 volume type"),
			forbidden("spec.volumes[0].secret", "may not specify more than 1 volume type"),
			forbidden("spec.volumes[0].cephFS", "may not specify more than 1 volume type"),
			forbidden("spec.volumes[0].downwarAPI", "may not specify more than 1 volume type"),
		}},
		{"empty directory of negative size", inVolume("emptyDir: {sizeLimit: -1}"), field.ErrorList{
			forbidden("spec.volumes[0].emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity"),
		}},
		{"path of the host", inVolume(`hostPath: {path: ""}`), field.ErrorList{
			required("spec.volumes[0].hostPath.path", ""),
		}},
		{"path of the host that goes up, of an unknown type", inVolume("hostPath: {path: /a/.., type: Pipe}"), field.ErrorList{
			invalid("spec.volumes[0].hostPath.path", "must not contain '..'"),
			notSupported("spec.volumes[0].hostPath.type", `supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`),
		}},
		{"secret", inVolume(`secret: {defaultMode: 512, items: [{key: "", path: ""}, {key: k, path: /a, mode: -1}, {key: k, path: ..a}, {key: k, path: ../a}]}`), field.ErrorList{
			required("spec.volumes[0].secret.secretName", ""),
			invalid("spec.volumes[0].secret.defaultMode", "must be a number between 0 and 0777 (octal), both inclusive"),
			required("spec.volumes[0].secret.items[0].key", ""),
			required("spec.volumes[0].secret.items[0].path", ""),
			invalid("spec.volumes[0].secret.items[1].path", "must be a relative path"),
			invalid("spec.volumes[0].secret.items[1].mode", "must be a number between 0 and 0777 (octal), both inclusive"),
			invalid("spec.volumes[0].secret.items[2].path", "must not start with '..'"),
			invalid("spec.volumes[0].secret.items[3].path", "must not contain '..'"),
		}},
		{"config map", inVolume("configMap: {defaultMode: -1}"), field.ErrorList{
			required("spec.volumes[0].configMap.name", ""),
			invalid("spec.volumes[0].configMap.defaultMode", "must be a number between 0 and 0777 (octal), both inclusive"),
		}},
		{"claim", inVolume(`persistentVolumeClaim: {claimName: ""}`), field.ErrorList{
			required("spec.volumes[0].persistentVolumeClaim.claimName", ""),
		}},
		{"image", inVolume("image: {pullPolicy: Maybe}"), field.ErrorList{
			required("spec.volumes[0].image.reference", ""),
			notSupported("spec.volumes[0].image.pullPolicy", `supported values: "Always", "IfNotPresent", "Never"`),
		}},
		{"git", inVolume(`gitRepo: {repository: "", directory: ..}`), field.ErrorList{
			required("spec.volumes[0].gitRepo.repository", ""),
			invalid("spec.volumes[0].gitRepo.directory", "must not contain '..'"),
		}},
		{"downward API", inVolume(`downwardAPI: {defaultMode: 512, items: [{path: ""}, {path: a, fieldRef: {fieldPath: spec.nodeName}, resourceFieldRef: {resource: limits.cpu}, mode: 512}, {path: b, resourceFieldRef: {resource: limits.cpu, divisor: 2}}, {path: c, resourceFieldRef: {containerName: c, resource: x}}]}`), field.ErrorList{
			invalid("spec.volumes[0].downwardAPI.defaultMode", "must be a number between 0 and 0777 (octal), both inclusive"),
			required("spec.volumes[0].downwardAPI.path", ""),
			required("spec.volumes[0].downwardAPI", "one of fieldRef and resourceFieldRef is required"),
			notSupported("spec.volumes[0].downwardAPI.fieldRef.fieldPath", `supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"`),
			invalid("spec.volumes[0].downwardAPI", "fieldRef and resourceFieldRef can not be specified simultaneously"),
			invalid("spec.volumes[0].downwardAPI.mode", "must be a number between 0 and 0777 (octal), both inclusive"),
			required("spec.volumes[0].downwardAPI.resourceFieldRef.containerName", ""),
			invalid("spec.volumes[0].downwardAPI.resourceFieldRef.divisor", "only divisor's values 1m, 1 are supported with the cpu resource"),
			notSupported("spec.volumes[0].downwardAPI.resourceFieldRef.resource", `supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`),
		}},
	})
}
