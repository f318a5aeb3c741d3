package admission

import corev1 "k8s.io/api/core/v1"

const (
	fileMode      = 0o644 // of files from Secrets, ConfigMaps and the downward API
	tokenLifetime = 3600  // seconds
)

// volumeNormalisations are what the API server persists in a volume.
var volumeNormalisations = []Normalisation{
	{"spec.volumes[*].emptyDir", schemeDefault + ", where no source is named", eachVolume(func(v *corev1.Volume) {
		if v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	})},
	{"spec.volumes[*].secret.defaultMode", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.Secret != nil {
			point(&v.Secret.DefaultMode, fileMode)
		}
	})},
	{"spec.volumes[*].configMap.defaultMode", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.ConfigMap != nil {
			point(&v.ConfigMap.DefaultMode, fileMode)
		}
	})},
	{"spec.volumes[*].downwardAPI.defaultMode", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.DownwardAPI != nil {
			point(&v.DownwardAPI.DefaultMode, fileMode)
		}
	})},
	{"spec.volumes[*].downwardAPI.items[*].fieldRef.apiVersion", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.DownwardAPI != nil {
			downwardItems(v.DownwardAPI.Items)
		}
	})},
	{"spec.volumes[*].projected.defaultMode", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.Projected != nil {
			point(&v.Projected.DefaultMode, fileMode)
		}
	})},
	{"spec.volumes[*].projected.sources[*].downwardAPI.items[*].fieldRef.apiVersion", schemeDefault, eachProjection(func(p *corev1.VolumeProjection) {
		if p.DownwardAPI != nil {
			downwardItems(p.DownwardAPI.Items)
		}
	})},
	{"spec.volumes[*].projected.sources[*].serviceAccountToken.expirationSeconds", schemeDefault, eachProjection(func(p *corev1.VolumeProjection) {
		if p.ServiceAccountToken != nil {
			point(&p.ServiceAccountToken.ExpirationSeconds, tokenLifetime)
		}
	})},
	{"spec.volumes[*].hostPath.type", schemeDefault + " as an empty string", eachVolume(func(v *corev1.Volume) {
		if v.HostPath != nil {
			point(&v.HostPath.Type, corev1.HostPathUnset)
		}
	})},
	{"spec.volumes[*].image.pullPolicy", schemeDefault + ", as of a container's image", eachVolume(func(v *corev1.Volume) {
		if v.Image != nil {
			fill(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
		}
	})},
	{"spec.volumes[*].ephemeral.volumeClaimTemplate.spec.volumeMode", schemeDefault, eachClaimTemplate(func(s *corev1.PersistentVolumeClaimSpec) {
		point(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	})},
	{"spec.volumes[*].ephemeral.volumeClaimTemplate.spec.resources.*[*]", rounded, eachClaimTemplate(func(s *corev1.PersistentVolumeClaimSpec) {
		roundUp(s.Resources.Requests)
		roundUp(s.Resources.Limits)
	})},
	{"spec.volumes[*].iscsi.iscsiInterface", schemeDefault, eachVolume(func(v *corev1.Volume) {
		if v.ISCSI != nil {
			fill(&v.ISCSI.ISCSIInterface, "default")
		}
	})},
	{"spec.volumes[*].rbd.*", schemeDefault + ": pool, user and keyring", eachVolume(func(v *corev1.Volume) {
		if v.RBD != nil {
			fill(&v.RBD.RBDPool, "rbd")
			fill(&v.RBD.RadosUser, "admin")
			fill(&v.RBD.Keyring, "/etc/ceph/keyring")
		}
	})},
	{"spec.volumes[*].scaleIO.*", schemeDefault + ": storageMode and fsType", eachVolume(func(v *corev1.Volume) {
		if v.ScaleIO != nil {
			fill(&v.ScaleIO.StorageMode, "ThinProvisioned")
			fill(&v.ScaleIO.FSType, "xfs")
		}
	})},
	{"spec.volumes[*].azureDisk.*", schemeDefault + ": cachingMode, fsType, readOnly and kind", eachVolume(func(v *corev1.Volume) {
		if v.AzureDisk != nil {
			point(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
			point(&v.AzureDisk.FSType, "ext4")
			point(&v.AzureDisk.ReadOnly, false)
			point(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		}
	})},
}

func eachVolume(f func(*corev1.Volume)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := range p.Spec.Volumes {
			f(&p.Spec.Volumes[i])
		}
	}
}

func eachProjection(f func(*corev1.VolumeProjection)) func(*corev1.Pod) {
	return eachVolume(func(v *corev1.Volume) {
		if v.Projected == nil {
			return
		}
		for i := range v.Projected.Sources {
			f(&v.Projected.Sources[i])
		}
	})
}

func eachClaimTemplate(f func(*corev1.PersistentVolumeClaimSpec)) func(*corev1.Pod) {
	return eachVolume(func(v *corev1.Volume) {
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			f(&v.Ephemeral.VolumeClaimTemplate.Spec)
		}
	})
}

func downwardItems(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		fieldVersion(items[i].FieldRef)
	}
}
