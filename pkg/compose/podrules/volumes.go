package podrules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxFileMode    = 0o777
	fileModeDetail = "must be a number between 0 and 0777 (octal), both inclusive"
)

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
	corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
}

// podVolumes checks the volumes, and remembers those without an error: the server finds no others for a
// mount.
func (c *checker) podVolumes(p *field.Path) {
	c.volumes = make(map[string]*corev1.VolumeSource, len(c.spec.Volumes))
	c.dropped = sets.Set[string]{}
	for i := range c.spec.Volumes {
		v, at, before := &c.spec.Volumes[i], p.Index(i), len(c.errs)
		if v.Image != nil && !c.since(imageVolumes) {
			c.dropped.Insert(v.Name)
			continue
		}
		c.volumeSource(at, v)
		if v.Name == "" {
			c.required(at.Child("name"), "")
		} else {
			c.dnsLabel(at, "name", v.Name)
		}
		if _, ok := c.volumes[v.Name]; ok {
			c.duplicate(at.Child("name"), v.Name)
		}
		if len(c.errs) == before {
			c.volumes[v.Name] = &v.VolumeSource
		}
	}
}

// volumeSource checks what a volume is made of. A volume with no source at all is an emptyDir.
func (c *checker) volumeSource(p *field.Path, v *corev1.Volume) {
	kinds := &exclusive{c: c, p: p, what: "may not specify more than 1 volume type"}
	if d := v.EmptyDir; d != nil {
		kinds.any = true
		if d.SizeLimit != nil && d.SizeLimit.Sign() < 0 {
			c.forbidden(p.Child("emptyDir", "sizeLimit"), "SizeLimit field must be a valid resource quantity")
		}
	}
	if v.HostPath != nil && kinds.first("hostPath") {
		c.hostPath(p.Child("hostPath"), v.HostPath)
	}
	c.firstSources(p, v, kinds)
	c.secondSources(p, v, kinds)
	c.lastSources(p, v, kinds)
}

// firstSources, secondSources and lastSources are one list in the server's order, which decides what is
// one source too many.
func (c *checker) firstSources(p *field.Path, v *corev1.Volume, kinds *exclusive) {
	if v.GitRepo != nil && kinds.first("gitRepo") {
		c.needed(p.Child("gitRepo"), "repository", v.GitRepo.Repository)
		c.relativePath(p.Child("gitRepo"), "directory", v.GitRepo.Directory)
	}
	if v.GCEPersistentDisk != nil && kinds.first("gcePersistentDisk") {
		c.gcePersistentDisk(p.Child("persistentDisk"), v.GCEPersistentDisk)
	}
	if v.AWSElasticBlockStore != nil && kinds.first("awsElasticBlockStore") {
		c.awsElasticBlockStore(p.Child("awsElasticBlockStore"), v.AWSElasticBlockStore)
	}
	if v.Secret != nil && kinds.first("secret") {
		c.needed(p.Child("secret"), "secretName", v.Secret.SecretName)
		c.files(p.Child("secret"), v.Secret.DefaultMode, v.Secret.Items)
	}
	if v.NFS != nil && kinds.first("nfs") {
		c.nfs(p.Child("nfs"), v.NFS)
	}
	if v.ISCSI != nil {
		if kinds.first("iscsi") {
			c.iscsi(p.Child("iscsi"), v.ISCSI)
		}
		c.iscsiSession(p, v)
	}
	if v.Glusterfs != nil && kinds.first("glusterfs") {
		c.needed(p.Child("glusterfs"), "endpoints", v.Glusterfs.EndpointsName)
		c.needed(p.Child("glusterfs"), "path", v.Glusterfs.Path)
	}
	if v.Flocker != nil && kinds.first("flocker") {
		c.flocker(p.Child("flocker"), v.Flocker)
	}
	if v.PersistentVolumeClaim != nil && kinds.first("persistentVolumeClaim") {
		c.needed(p.Child("persistentVolumeClaim"), "claimName", v.PersistentVolumeClaim.ClaimName)
	}
}

func (c *checker) secondSources(p *field.Path, v *corev1.Volume, kinds *exclusive) {
	if v.RBD != nil && kinds.first("rbd") {
		c.monitors(p.Child("rbd"), v.RBD.CephMonitors)
		c.needed(p.Child("rbd"), "image", v.RBD.RBDImage)
	}
	if v.Cinder != nil && kinds.first("cinder") {
		c.needed(p.Child("cinder"), "volumeID", v.Cinder.VolumeID)
		c.secretName(p.Child("cinder"), v.Cinder.SecretRef)
	}
	// The server writes this one both ways.
	if v.CephFS != nil && kinds.first("cephFS") {
		c.monitors(p.Child("cephfs"), v.CephFS.Monitors)
	}
	if v.Quobyte != nil && kinds.first("quobyte") {
		c.quobyte(p.Child("quobyte"), v.Quobyte)
	}
	// The missing letter is the server's.
	if v.DownwardAPI != nil && kinds.first("downwarAPI") {
		c.downwardAPI(p.Child("downwardAPI"), v.DownwardAPI)
	}
	if v.FC != nil && kinds.first("fc") {
		c.fibreChannel(p.Child("fc"), v.FC)
	}
	if v.FlexVolume != nil && kinds.first("flexVolume") {
		c.flexVolume(p.Child("flexVolume"), v.FlexVolume)
	}
	if v.ConfigMap != nil && kinds.first("configMap") {
		c.needed(p.Child("configMap"), "name", v.ConfigMap.Name)
		c.files(p.Child("configMap"), v.ConfigMap.DefaultMode, v.ConfigMap.Items)
	}
	if v.AzureFile != nil && kinds.first("azureFile") {
		c.needed(p.Child("azureFile"), "secretName", v.AzureFile.SecretName)
		c.needed(p.Child("azureFile"), "shareName", v.AzureFile.ShareName)
	}
}

func (c *checker) lastSources(p *field.Path, v *corev1.Volume, kinds *exclusive) {
	if v.VsphereVolume != nil && kinds.first("vsphereVolume") {
		c.needed(p.Child("vsphereVolume"), "volumePath", v.VsphereVolume.VolumePath)
	}
	if v.PhotonPersistentDisk != nil && kinds.first("photonPersistentDisk") {
		c.needed(p.Child("photonPersistentDisk"), "pdID", v.PhotonPersistentDisk.PdID)
	}
	if v.PortworxVolume != nil && kinds.first("portworxVolume") {
		c.needed(p.Child("portworxVolume"), "volumeID", v.PortworxVolume.VolumeID)
	}
	if v.AzureDisk != nil && kinds.first("azureDisk") {
		c.azureDisk(p.Child("azureDisk"), v.AzureDisk)
	}
	if v.StorageOS != nil && kinds.first("storageos") {
		c.storageOS(p.Child("storageos"), v.StorageOS)
	}
	if v.Projected != nil && kinds.first("projected") {
		c.projected(p.Child("projected"), v.Projected)
	}
	if v.ScaleIO != nil && kinds.first("scaleIO") {
		c.needed(p.Child("scaleIO"), "gateway", v.ScaleIO.Gateway)
		c.needed(p.Child("scaleIO"), "system", v.ScaleIO.System)
		c.needed(p.Child("scaleIO"), "volumeName", v.ScaleIO.VolumeName)
	}
	if v.CSI != nil && kinds.first("csi") {
		c.csi(p.Child("csi"), v.CSI)
	}
	if v.Ephemeral != nil && kinds.first("ephemeral") {
		c.ephemeral(p.Child("ephemeral"), v.Ephemeral)
	}
	if v.Image != nil && kinds.first("image") {
		c.needed(p.Child("image"), "reference", v.Image.Reference)
		if v.Image.PullPolicy != "" {
			oneOf(c, p.Child("image"), "pullPolicy", v.Image.PullPolicy, pullPolicies)
		}
	}
}

func (c *checker) hostPath(p *field.Path, v *corev1.HostPathVolumeSource) {
	if v.Path == "" {
		c.required(p.Child("path"), "")
		return
	}
	c.noBacksteps(p, "path", v.Path)
	oneOfIfSet(c, p, "type", v.Type, hostPathTypes)
}

// files checks what Secrets and ConfigMaps put into a volume.
func (c *checker) files(p *field.Path, defaultMode *int32, items []corev1.KeyToPath) {
	c.fileMode(p, "defaultMode", defaultMode)
	for i := range items {
		c.keyToPath(p.Child("items").Index(i), &items[i])
	}
}

func (c *checker) keyToPath(p *field.Path, item *corev1.KeyToPath) {
	c.needed(p, "key", item.Key)
	c.needed(p, "path", item.Path)
	c.localPath(p, "path", item.Path)
	c.fileMode(p, "mode", item.Mode)
}

func (c *checker) fileMode(p *field.Path, name string, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > maxFileMode) {
		c.invalid(p.Child(name), *mode, fileModeDetail)
	}
}

func (c *checker) downwardAPI(p *field.Path, v *corev1.DownwardAPIVolumeSource) {
	c.fileMode(p, "defaultMode", v.DefaultMode)
	for i := range v.Items {
		c.downwardFile(p, &v.Items[i])
	}
}

// downwardFile checks one file. The server names the list's parent, not the item.
func (c *checker) downwardFile(p *field.Path, file *corev1.DownwardAPIVolumeFile) {
	c.needed(p, "path", file.Path)
	c.localPath(p, "path", file.Path)
	switch {
	case file.FieldRef != nil:
		c.fieldRef(p.Child("fieldRef"), file.FieldRef, volumeFields)
		if file.ResourceFieldRef != nil {
			c.invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case file.ResourceFieldRef != nil:
		c.volumeResourceFieldRef(p.Child("resourceFieldRef"), file.ResourceFieldRef)
	default:
		c.required(p, "one of fieldRef and resourceFieldRef is required")
	}
	c.fileMode(p, "mode", file.Mode)
}
