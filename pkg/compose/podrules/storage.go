package podrules

import (
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

// This file holds the volumes of storage systems that Kubernetes names itself, most of them from before
// CSI.

const (
	maxPartition     = 255
	maxLun           = 255
	maxQuobyteTenant = 64
	maxCSIDriver     = 63
	maxISCSISession  = 64

	quobyteRegistry = "must be a host:port pair or multiple pairs separated by commas"
)

// iscsiNames are the three forms of an iSCSI qualified name, by the prefix that tells them apart.
var iscsiNames = []struct {
	prefix string
	form   func() *regexp.Regexp
}{
	{"iqn", lazyregexp.New(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)},
	{"eui", lazyregexp.New(`^eui.[[:alnum:]]{16}$`)},
	{"naa", lazyregexp.New(`^naa.[[:alnum:]]{32}$`)},
}

var (
	azureCachingModes = []corev1.AzureDataDiskCachingMode{
		corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite,
	}
	azureKinds = []corev1.AzureDataDiskKind{
		corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk,
	}
	azureManagedURIs = []string{"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}
	azureBlobURIs    = []string{"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}
)

func (c *checker) gcePersistentDisk(p *field.Path, v *corev1.GCEPersistentDiskVolumeSource) {
	c.needed(p, "pdName", v.PDName)
	c.partition(p, v.Partition)
}

func (c *checker) awsElasticBlockStore(p *field.Path, v *corev1.AWSElasticBlockStoreVolumeSource) {
	c.needed(p, "volumeID", v.VolumeID)
	c.partition(p, v.Partition)
}

func (c *checker) partition(p *field.Path, partition int32) {
	if partition < 0 || partition > maxPartition {
		c.invalid(p.Child("partition"), partition, validation.InclusiveRangeError(1, maxPartition))
	}
}

func (c *checker) nfs(p *field.Path, v *corev1.NFSVolumeSource) {
	c.needed(p, "server", v.Server)
	c.needed(p, "path", v.Path)
	if !path.IsAbs(v.Path) {
		c.invalid(p.Child("path"), v.Path, "must be an absolute path")
	}
}

func (c *checker) iscsi(p *field.Path, v *corev1.ISCSIVolumeSource) {
	c.needed(p, "targetPortal", v.TargetPortal)
	c.needed(p, "iqn", v.IQN)
	if v.IQN != "" {
		c.iscsiName(p, "iqn", v.IQN)
	}
	c.lun(p, v.Lun)
	if (v.DiscoveryCHAPAuth || v.SessionCHAPAuth) && v.SecretRef == nil {
		c.required(p.Child("secretRef"), "")
	}
	if v.InitiatorName != nil {
		c.iscsiName(p, "initiatorname", *v.InitiatorName)
	}
}

func (c *checker) lun(p *field.Path, lun int32) {
	if lun < 0 || lun > maxLun {
		c.invalid(p.Child("lun"), lun, validation.InclusiveRangeError(0, maxLun))
	}
}

func (c *checker) iscsiName(p *field.Path, name, value string) {
	for _, kind := range iscsiNames {
		if strings.HasPrefix(value, kind.prefix) {
			if !kind.form().MatchString(value) {
				c.invalid(p.Child(name), value, "must be valid format")
			}
			return
		}
	}
	c.invalid(p.Child(name), value, "must be valid format starting with iqn, eui, or naa")
}

// iscsiSession reports a name that, with the portal, is too long for a session of its own.
func (c *checker) iscsiSession(p *field.Path, v *corev1.Volume) {
	if v.ISCSI.InitiatorName != nil && len(v.Name)+len(":")+len(v.ISCSI.TargetPortal) > maxISCSISession {
		c.invalid(p.Child("name"), v.Name,
			"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
}

func (c *checker) flocker(p *field.Path, v *corev1.FlockerVolumeSource) {
	switch {
	case v.DatasetName == "" && v.DatasetUUID == "":
		c.required(p, "one of datasetName and datasetUUID is required")
	case v.DatasetName != "" && v.DatasetUUID != "":
		c.invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(v.DatasetName, "/") {
		c.invalid(p.Child("datasetName"), v.DatasetName, "must not contain '/'")
	}
}

func (c *checker) monitors(p *field.Path, monitors []string) {
	if len(monitors) == 0 {
		c.required(p.Child("monitors"), "")
	}
}

// secretName reports a reference to a Secret without its name.
func (c *checker) secretName(p *field.Path, ref *corev1.LocalObjectReference) {
	if ref != nil && ref.Name == "" {
		c.required(p.Child("secretRef", "name"), "")
	}
}

func (c *checker) quobyte(p *field.Path, v *corev1.QuobyteVolumeSource) {
	switch {
	case v.Registry == "":
		c.required(p.Child("registry"), quobyteRegistry)
	case len(v.Tenant) > maxQuobyteTenant:
		c.required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(v.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				c.invalid(p.Child("registry"), v.Registry, quobyteRegistry)
			}
		}
	}
	c.needed(p, "volume", v.Volume)
}

func (c *checker) fibreChannel(p *field.Path, v *corev1.FCVolumeSource) {
	names, ids := len(v.TargetWWNs) > 0, len(v.WWIDs) > 0
	switch {
	case !names && !ids:
		c.required(p.Child("targetWWNs"), "must specify either targetWWNs or wwids, but not both")
	case names && ids:
		c.invalid(p.Child("targetWWNs"), v.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously")
	}
	switch {
	case names && v.Lun == nil:
		c.required(p.Child("lun"), "lun is required if targetWWNs is specified")
	case names:
		c.lun(p, *v.Lun)
	}
}

func (c *checker) flexVolume(p *field.Path, v *corev1.FlexVolumeSource) {
	c.needed(p, "driver", v.Driver)
	start := len(c.errs)
	for k := range v.Options {
		domain, _, _ := strings.Cut(k, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			c.invalid(p.Child("options").Key(k), k, "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
	c.sortFrom(start)
}

// azureDisk checks an Azure disk, which is a shared blob disk unless it says otherwise.
func (c *checker) azureDisk(p *field.Path, v *corev1.AzureDiskVolumeSource) {
	c.needed(p, "diskName", v.DiskName)
	c.needed(p, "diskURI", v.DataDiskURI)
	oneOfIfSet(c, p, "cachingMode", v.CachingMode, azureCachingModes)
	oneOfIfSet(c, p, "kind", v.Kind, azureKinds)
	prefix, forms := "https://", azureBlobURIs
	if v.Kind != nil && *v.Kind == corev1.AzureManagedDisk {
		prefix, forms = "/subscriptions/", azureManagedURIs
	}
	if !strings.HasPrefix(v.DataDiskURI, prefix) {
		c.errs = append(c.errs, field.NotSupported(p.Child("diskURI"), v.DataDiskURI, slices.Clone(forms)))
	}
}

func (c *checker) storageOS(p *field.Path, v *corev1.StorageOSVolumeSource) {
	c.needed(p, "volumeName", v.VolumeName)
	c.dnsLabelIfSet(p, "volumeName", v.VolumeName)
	c.dnsLabelIfSet(p, "volumeNamespace", v.VolumeNamespace)
	c.secretName(p, v.SecretRef)
}

func (c *checker) csi(p *field.Path, v *corev1.CSIVolumeSource) {
	c.needed(p, "driver", v.Driver)
	if v.Driver != "" {
		c.csiDriver(p, v.Driver)
	}
	switch ref := v.NodePublishSecretRef; {
	case ref == nil:
	case ref.Name == "":
		c.required(p.Child("nodePublishSecretRef", "name"), "")
	default:
		// The server names the volume here, not the reference.
		c.dnsSubdomain(p, "name", ref.Name)
	}
}

func (c *checker) csiDriver(p *field.Path, driver string) {
	if len(driver) > maxCSIDriver {
		c.tooLong(p.Child("driver"), maxCSIDriver)
	}
	if lower := strings.ToLower(driver); !isDNSSubdomain(lower) {
		c.invalidEach(p.Child("driver"), driver, validation.IsDNS1123Subdomain(lower))
	}
}
