package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestStorage(t *testing.T) {
	run(t, []row{
		{"disks", inVolume(`gcePersistentDisk: {pdName: "", partition: 256}`), field.ErrorList{
			required("spec.volumes[0].persistentDisk.pdName", ""),
			invalid("spec.volumes[0].persistentDisk.partition", "must be between 1 and 255, inclusive"),
		}},
		{"EBS", inVolume(`awsElasticBlockStore: {volumeID: "", partition: -1}`), field.ErrorList{
			required("spec.volumes[0].awsElasticBlockStore.volumeID", ""),
			invalid("spec.volumes[0].awsElasticBlockStore.partition", "must be between 1 and 255, inclusive"),
		}},
		{"NFS", inVolume(`nfs: {server: "", path: ""}`), field.ErrorList{
			required("spec.volumes[0].nfs.server", ""),
			required("spec.volumes[0].nfs.path", ""),
			invalid("spec.volumes[0].nfs.path", "must be an absolute path"),
		}},
		{"iSCSI", inVolume("iscsi: {targetPortal: p, iqn: eui.0123456789abcdef, lun: 0, initiatorName: naa.0123456789abcdef0123456789abcdef}"), nil},
		{"iSCSI without anything", inVolume(`iscsi: {targetPortal: "", iqn: "", lun: 256, chapAuthSession: true, initiatorName: other}`), field.ErrorList{
			required("spec.volumes[0].iscsi.targetPortal", ""),
			required("spec.volumes[0].iscsi.iqn", ""),
			invalid("spec.volumes[0].iscsi.lun", "must be between 0 and 255, inclusive"),
			required("spec.volumes[0].iscsi.secretRef", ""),
			invalid("spec.volumes[0].iscsi.initiatorname", "must be valid format starting with iqn, eui, or naa"),
		}},
		{"iSCSI names", inVolume("iscsi: {targetPortal: " + strings.Repeat("l", 63) + ", iqn: iqn.x, lun: 0, initiatorName: eui.x}"), field.ErrorList{
			invalid("spec.volumes[0].iscsi.iqn", "must be valid format"),
			invalid("spec.volumes[0].iscsi.initiatorname", "must be valid format"),
			invalid("spec.volumes[0].name", "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."),
		}},
		{"GlusterFS", inVolume(`glusterfs: {endpoints: "", path: ""}`), field.ErrorList{
			required("spec.volumes[0].glusterfs.endpoints", ""),
			required("spec.volumes[0].glusterfs.path", ""),
		}},
		{"Flocker", inVolume("flocker: {}"), field.ErrorList{
			required("spec.volumes[0].flocker", "one of datasetName and datasetUUID is required"),
		}},
		{"Flocker with both", inVolume("flocker: {datasetName: a/b, datasetUUID: u}"), field.ErrorList{
			invalid("spec.volumes[0].flocker", "datasetName and datasetUUID can not be specified simultaneously"),
			invalid("spec.volumes[0].flocker.datasetName", "must not contain '/'"),
		}},
		{"RBD", inVolume(`rbd: {monitors: [], image: ""}`), field.ErrorList{
			required("spec.volumes[0].rbd.monitors", ""),
			required("spec.volumes[0].rbd.image", ""),
		}},
		{"Cinder", inVolume(`cinder: {volumeID: "", secretRef: {}}`), field.ErrorList{
			required("spec.volumes[0].cinder.volumeID", ""),
			required("spec.volumes[0].cinder.secretRef.name", ""),
		}},
		{"CephFS", inVolume("cephfs: {monitors: []}"), field.ErrorList{
			required("spec.volumes[0].cephfs.monitors", ""),
		}},
		{"Quobyte", inVolume(`quobyte: {registry: "", volume: ""}`), field.ErrorList{
			required("spec.volumes[0].quobyte.registry", "must be a host:port pair or multiple pairs separated by commas"),
			required("spec.volumes[0].quobyte.volume", ""),
		}},
		{"Quobyte tenant", inVolume(`quobyte: {registry: "a:1", volume: v, tenant: ` + strings.Repeat("l", 65) + "}"), field.ErrorList{
			required("spec.volumes[0].quobyte.tenant", "must be a UUID and may not exceed a length of 64 characters"),
		}},
		{"Quobyte registry", inVolume(`quobyte: {registry: "a:1,b", volume: v}`), field.ErrorList{
			invalid("spec.volumes[0].quobyte.registry", "must be a host:port pair or multiple pairs separated by commas"),
		}},
		{"Fibre Channel", inVolume("fc: {}"), field.ErrorList{
			required("spec.volumes[0].fc.targetWWNs", "must specify either targetWWNs or wwids, but not both"),
		}},
		{"Fibre Channel without a LUN", inVolume("fc: {targetWWNs: [a], wwids: [b]}"), field.ErrorList{
			invalid("spec.volumes[0].fc.targetWWNs", "targetWWNs and wwids can not be specified simultaneously"),
			required("spec.volumes[0].fc.lun", "lun is required if targetWWNs is specified"),
		}},
		{"Fibre Channel LUN", inVolume("fc: {targetWWNs: [a], lun: 256}"), field.ErrorList{
			invalid("spec.volumes[0].fc.lun", "must be between 0 and 255, inclusive"),
		}},
		{"FlexVolume", inVolume(`flexVolume: {driver: "", options: {a.KUBERNETES.io/b: c, k8s.io: d, other: e}}`), field.ErrorList{
			required("spec.volumes[0].flexVolume.driver", ""),
			invalid("spec.volumes[0].flexVolume.options[a.KUBERNETES.io/b]", "kubernetes.io and k8s.io namespaces are reserved"),
			invalid("spec.volumes[0].flexVolume.options[k8s.io]", "kubernetes.io and k8s.io namespaces are reserved"),
		}},
		{"Azure file", inVolume(`azureFile: {secretName: "", shareName: ""}`), field.ErrorList{
			required("spec.volumes[0].azureFile.secretName", ""),
			required("spec.volumes[0].azureFile.shareName", ""),
		}},
		{"Azure disk", inVolume(`azureDisk: {diskName: "", diskURI: "", cachingMode: Some, kind: Other}`), field.ErrorList{
			required("spec.volumes[0].azureDisk.diskName", ""),
			required("spec.volumes[0].azureDisk.diskURI", ""),
			notSupported("spec.volumes[0].azureDisk.cachingMode", `supported values: "None", "ReadOnly", "ReadWrite"`),
			notSupported("spec.volumes[0].azureDisk.kind", `supported values: "Dedicated", "Managed", "Shared"`),
			notSupported("spec.volumes[0].azureDisk.diskURI", `supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`),
		}},
		{"Azure managed disk", inVolume(`azureDisk: {diskName: d, diskURI: "https://x", kind: Managed}`), field.ErrorList{
			notSupported("spec.volumes[0].azureDisk.diskURI", `supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"`),
		}},
		{"vSphere", inVolume(`vsphereVolume: {volumePath: ""}`), field.ErrorList{
			required("spec.volumes[0].vsphereVolume.volumePath", ""),
		}},
		{"Photon", inVolume(`photonPersistentDisk: {pdID: ""}`), field.ErrorList{
			required("spec.volumes[0].photonPersistentDisk.pdID", ""),
		}},
		{"Portworx", inVolume(`portworxVolume: {volumeID: ""}`), field.ErrorList{
			required("spec.volumes[0].portworxVolume.volumeID", ""),
		}},
		{"StorageOS", inVolume("storageos: {volumeNamespace: Ns, secretRef: {}}"), field.ErrorList{
			required("spec.volumes[0].storageos.volumeName", ""),
			invalid("spec.volumes[0].storageos.volumeNamespace", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			required("spec.volumes[0].storageos.secretRef.name", ""),
		}},
		{"ScaleIO", inVolume(`scaleIO: {gateway: "", system: "", secretRef: null}`), field.ErrorList{
			required("spec.volumes[0].scaleIO.gateway", ""),
			required("spec.volumes[0].scaleIO.system", ""),
			required("spec.volumes[0].scaleIO.volumeName", ""),
		}},
		{"CSI", inVolume("csi: {driver: CSI.example.com, nodePublishSecretRef: {name: s}}"), nil},
		{"CSI without names", inVolume(`csi: {driver: "", nodePublishSecretRef: {}}`), field.ErrorList{
			required("spec.volumes[0].csi.driver", ""),
			required("spec.volumes[0].csi.nodePublishSecretRef.name", ""),
		}},
		{"CSI names", inVolume("csi: {driver: " + strings.Repeat("l", 63) + "_, nodePublishSecretRef: {name: S}}"), field.ErrorList{
			tooLong("spec.volumes[0].csi.driver", "may not be more than 63 bytes"),
			invalid("spec.volumes[0].csi.driver", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.volumes[0].csi.name", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
		}},
	})
}
