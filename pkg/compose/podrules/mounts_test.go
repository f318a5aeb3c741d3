package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestMounts(t *testing.T) {
	run(t, []row{
		{"mounts", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, subPath: b/..c}, {name: known, mountPath: relative}]}], volumes: [{name: v}]}}", nil},
		{"no name, no path", inContainer(`volumeMounts: [{mountPath: ""}]`), field.ErrorList{
			required("spec.containers[0].volumeMounts[0].name", ""),
			notFound("spec.containers[0].volumeMounts[0].name", "must be the name of a volume of the Pod"),
			required("spec.containers[0].volumeMounts[0].mountPath", ""),
		}},
		{"no such volume", inContainer("volumeMounts: [{name: w, mountPath: /a}]"), field.ErrorList{
			notFound("spec.containers[0].volumeMounts[0].name", "must be the name of a volume of the Pod"),
		}},
		{"volume with an error", `{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a}]}], volumes: [{name: v, hostPath: {path: ""}}]}}`, field.ErrorList{
			required("spec.volumes[0].hostPath.path", ""),
			notFound("spec.containers[0].volumeMounts[0].name", "the volume of this name is itself not valid"),
		}},
		{"one path twice", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a}]}], volumes: [{name: v}]}}", field.ErrorList{
			invalid("spec.containers[0].volumeMounts[1].mountPath", "must be unique"),
		}},
		{"sub paths", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, subPath: /b, subPathExpr: ../c}]}], volumes: [{name: v}]}}", field.ErrorList{
			invalid("spec.containers[0].volumeMounts.subPath", "must be a relative path"),
			invalid("spec.containers[0].volumeMounts[0].subPathExpr", "subPathExpr and subPath are mutually exclusive"),
			invalid("spec.containers[0].volumeMounts.subPathExpr", "must not contain '..'"),
		}},
		{"propagation", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional}, {name: v, mountPath: /b, mountPropagation: Upwards}]}], volumes: [{name: v}]}}", field.ErrorList{
			forbidden("spec.containers[0].volumeMounts.mountPropagation", "Bidirectional mount propagation is available only to privileged containers"),
			notSupported("spec.containers[0].volumeMounts.mountPropagation", `supported values: "Bidirectional", "HostToContainer", "None"`),
		}},
		{"propagation of a privileged container", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional}], securityContext: {privileged: true}}], volumes: [{name: v}]}}", nil},
		{"read only to the bottom", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, readOnly: true, recursiveReadOnly: Enabled, mountPropagation: None}, {name: v, mountPath: /b, recursiveReadOnly: Disabled}]}], volumes: [{name: v}]}}", nil},
		{"read only to the bottom, not at the top", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, recursiveReadOnly: IfPossible, mountPropagation: HostToContainer}]}], volumes: [{name: v}]}}", field.ErrorList{
			forbidden("spec.containers[0].volumeMounts.recursiveReadOnly", "may only be specified when readOnly is true"),
			forbidden("spec.containers[0].volumeMounts.recursiveReadOnly", "may only be specified when mountPropagation is None or not specified"),
		}},
		{"unknown recursive mode", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /a, recursiveReadOnly: Maybe}]}], volumes: [{name: v}]}}", field.ErrorList{
			notSupported("spec.containers[0].volumeMounts.recursiveReadOnly", `supported values: "Disabled", "Enabled", "IfPossible"`),
		}},
		{"devices", "{spec: {containers: [{name: main, image: i, volumeDevices: [{name: c, devicePath: /dev/a}, {name: e, devicePath: /dev/b}]}], volumes: [{name: c, persistentVolumeClaim: {claimName: c}}, {name: e, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}", nil},
		{"device of no claim", "{spec: {containers: [{name: main, image: i, volumeDevices: [{name: v, devicePath: /dev/a}, {name: w, devicePath: /dev/b}]}], volumes: [{name: v}]}}", field.ErrorList{
			invalid("spec.containers[0].volumeDevices[0].name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"),
			notFound("spec.containers[0].volumeDevices[1].name", "must be the name of a volume of the Pod"),
		}},
		{"no name, no path, a path that goes up", inContainer(`volumeDevices: [{name: "", devicePath: ""}, {name: known, devicePath: /a/../b}]`), field.ErrorList{
			required("spec.containers[0].volumeDevices[0].name", ""),
			notFound("spec.containers[0].volumeDevices[0].name", "must be the name of a volume of the Pod"),
			required("spec.containers[0].volumeDevices[0].devicePath", ""),
			invalid("spec.containers[0].volumeDevices[1].devicePath", "can not contain backsteps ('..')"),
		}},
		{"devices twice", "{spec: {containers: [{name: main, image: i, volumeDevices: [{name: c, devicePath: /dev/a}, {name: c, devicePath: /dev/a}]}], volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]}}", field.ErrorList{
			invalid("spec.containers[0].volumeDevices[1].name", "must be unique"),
			invalid("spec.containers[0].volumeDevices[1].devicePath", "must be unique"),
		}},
		{"mounted and a device", "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: c, mountPath: /a}], volumeDevices: [{name: c, devicePath: /a}]}], volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]}}", field.ErrorList{
			invalid("spec.containers[0].volumeMounts[0].name", "must not already exist in volumeDevices"),
			invalid("spec.containers[0].volumeMounts[0].mountPath", "must not already exist as a path in volumeDevices"),
			invalid("spec.containers[0].volumeDevices[0].name", "must not already exist in volumeMounts"),
			invalid("spec.containers[0].volumeDevices[0].devicePath", "must not already exist as a path in volumeMounts"),
		}},
	})
}
