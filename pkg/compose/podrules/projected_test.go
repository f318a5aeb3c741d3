package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestProjected(t *testing.T) {
	run(t, []row{
		{"sources", inVolume("projected: {sources: [{secret: {name: s, items: [{key: k, path: a}]}}, {configMap: {name: c}}, {downwardAPI: {items: [{path: b, fieldRef: {fieldPath: metadata.uid}}]}}, {serviceAccountToken: {path: t}}]}"), nil},
		{"without names", inVolume(`projected: {defaultMode: 512, sources: [{secret: {}}, {configMap: {items: [{key: "", path: ""}]}}]}`), field.ErrorList{
			invalid("spec.volumes[0].projected.defaultMode", "must be a number between 0 and 0777 (octal), both inclusive"),
			required("spec.volumes[0].projected.sources[0].secret.name", ""),
			required("spec.volumes[0].projected.sources[1].configMap.name", ""),
			required("spec.volumes[0].projected.sources[1].configMap.items[0].key", ""),
			required("spec.volumes[0].projected.sources[1].configMap.items[0].path", ""),
		}},
		{"one path twice", inVolume("projected: {sources: [{secret: {name: s, items: [{key: k, path: a}]}}, {configMap: {name: c, items: [{key: k, path: a}]}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.uid}}]}}]}"), field.ErrorList{
			invalid("spec.volumes[0].projected", "conflicting duplicate paths"),
			invalid("spec.volumes[0].projected", "conflicting duplicate paths"),
		}},
		{"two kinds in one source", inVolume("projected: {sources: [{secret: {name: s}, configMap: {name: c}}]}"), field.ErrorList{
			forbidden("spec.volumes[0].projected.sources[0]", "may not specify more than 1 volume type per source"),
		}},
		{"token that lives too short", inVolume(`projected: {sources: [{serviceAccountToken: {path: "", expirationSeconds: 599}}]}`), field.ErrorList{
			invalid("spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds", "may not specify a duration less than 10 minutes"),
			required("spec.volumes[0].projected.path", ""),
		}},
		{"token that lives too long, outside", inVolume("projected: {sources: [{serviceAccountToken: {path: ../t, expirationSeconds: 4294967297}}]}"), field.ErrorList{
			invalid("spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds", "may not specify a duration larger than 2^32 seconds"),
			invalid("spec.volumes[0].projected.path", "must not contain '..'"),
		}},
	})
}
