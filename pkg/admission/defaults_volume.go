package admission

import corev1 "k8s.io/api/core/v1"

const (
	fileMode      = 0o644 // of files from Secrets, ConfigMaps and the downward API
	tokenLifetime = 3600  // seconds
)

// volumeDefaults fills in what the API server persists in a volume.
func volumeDefaults(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Secret != nil {
		point(&v.Secret.DefaultMode, fileMode)
	}
	if v.ConfigMap != nil {
		point(&v.ConfigMap.DefaultMode, fileMode)
	}
	if v.DownwardAPI != nil {
		point(&v.DownwardAPI.DefaultMode, fileMode)
		downwardItems(v.DownwardAPI.Items)
	}
	if v.Projected != nil {
		projectedDefaults(v.Projected)
	}
	if v.HostPath != nil {
		point(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Image != nil {
		fill(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		spec := &v.Ephemeral.VolumeClaimTemplate.Spec
		point(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(spec.Resources.Requests)
		roundUp(spec.Resources.Limits)
	}
	driverDefaults(v)
}

func projectedDefaults(p *corev1.ProjectedVolumeSource) {
	point(&p.DefaultMode, fileMode)
	for i := range p.Sources {
		if d := p.Sources[i].DownwardAPI; d != nil {
			downwardItems(d.Items)
		}
		if t := p.Sources[i].ServiceAccountToken; t != nil {
			point(&t.ExpirationSeconds, tokenLifetime)
		}
	}
}

func downwardItems(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		fieldRef(items[i].FieldRef)
	}
}

// driverDefaults fills in what the in-tree storage drivers' sources default to.
func driverDefaults(v *corev1.Volume) {
	if v.ISCSI != nil {
		fill(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		fill(&v.RBD.RBDPool, "rbd")
		fill(&v.RBD.RadosUser, "admin")
		fill(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if v.ScaleIO != nil {
		fill(&v.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&v.ScaleIO.FSType, "xfs")
	}
	if v.AzureDisk != nil {
		point(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		point(&v.AzureDisk.FSType, "ext4")
		point(&v.AzureDisk.ReadOnly, false)
		point(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
	}
}
