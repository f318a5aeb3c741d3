# METADATA
# title: A volume has a type that the restricted standard does not know
# description: >-
#   The restricted Pod Security Standard allows volumes of the Pod itself and of the cluster's objects: configMap, csi,
#   downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected and secret. The other types let whoever
#   writes the template reach a server, a disk or the node past what the cluster's administrator has made claims for.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/
# custom:
#   group: mounts
#   severity: info
#   needs:
#     - awsElasticBlockStore
#     - azureDisk
#     - azureFile
#     - cephfs
#     - cinder
#     - fc
#     - flexVolume
#     - flocker
#     - gcePersistentDisk
#     - gitRepo
#     - glusterfs
#     - hostPath
#     - iscsi
#     - nfs
#     - photonPersistentDisk
#     - portworxVolume
#     - quobyte
#     - rbd
#     - scaleIO
#     - storageos
#     - vsphereVolume
#   pss:
#     level: restricted
#     check: restrictedVolumes
#   remedy: >-
#     Use a persistentVolumeClaim, bound to a PersistentVolume of that type where its contents are needed.
#   false_positives: >-
#     A cluster whose administrator gives out a server or a disk by template and not by claim.
#   bad: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         volumes:
#         - name: models
#           nfs:
#             server: nfs.example
#             path: /models
#   good: |
#     apiVersion: v1
#     kind: PodTemplate
#     template:
#       spec:
#         containers:
#         - name: kandev-agent
#           image: registry.example/agent:1.4
#         volumes:
#         - name: models
#           persistentVolumeClaim:
#             claimName: models
#             readOnly: true
package kandev.rules.restricted_volume

findings contains {
	"rule": "restricted-volume",
	"path": sprintf("%s.volumes[%d].%s", [input.kandev.path, index, type]),
	"container": "",
	"message": sprintf("volume %q is of type %s, which the restricted standard does not allow", [name, type]),
	"remediation": "use a persistentVolumeClaim, or an emptyDir where nothing is to be kept",
} if {
	some index, type
	input.kandev.spec.volumes[index][type]
	not type in allowed_types
	type != "name"
	not index in allowed
	name := object.get(input.kandev.spec.volumes[index], "name", "")
}

# The positions of volumes that have a type which the standard allows; one is enough.
allowed contains index if {
	some index, type
	input.kandev.spec.volumes[index][type]
	type in allowed_types
}

# A volume without any type is an emptyDir: the API server fills that in before it applies the standard.
allowed_types := {
	"configMap",
	"csi",
	"downwardAPI",
	"emptyDir",
	"ephemeral",
	"image",
	"persistentVolumeClaim",
	"projected",
	"secret",
}
