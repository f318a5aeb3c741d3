package differential

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The values that mutations draw from.

var numbers = []int64{
	0, 1, 2, -1, 3, 10, 30, 31, 80, 100, 101, 255, 256, 420, 511, 512, 599, 600, 1000, 3600, 8080, 65535, 65536,
	1<<31 - 1, -1 << 31, 1 << 31, 1 << 32, 1<<32 + 1, 1<<63 - 1, -1 << 63,
}

var quantities = []string{
	"0", "1", "2", "-1", "1m", "500m", "0.5", "1.5", "100u", "1500u", "0.0001", "10n", "1n", "-1n", "1Ki", "2Mi", "3Mi", "4Mi",
	"1Gi", "2Gi", "1.5Gi", "1e3", "1E", "1e30", "-1e30", "9223372036854775807", "9223372036854775808",
	"9223372036854775807m", "1M", "1k",
}

var resourceNames = []string{
	"cpu", "cpu", "memory", "memory", "ephemeral-storage", "storage", "hugepages-2Mi", "hugepages-1Gi", "hugepages-3Mi",
	"hugepages-", "hugepages-x", "hugepages-0", "hugepages--1", "hugepages-1m", "pods", "services", "requests.cpu",
	"requests.hugepages-2Mi", "limits.memory", "nvidia.com/gpu", "example.com/a.b", "requests.example.com/x", "kubernetes.io/x",
	"x.kubernetes.io/y", "foo", "a/b/c", "", "Bad_Name!", "example.com/" + strings.Repeat("x", 63),
	strings.Repeat("d", 250) + "/x",
}

var annotationKeys = []string{
	"container.apparmor.security.beta.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/",
	"container.seccomp.security.alpha.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/",
	"seccomp.security.alpha.kubernetes.io/pod", "controller.kubernetes.io/pod-deletion-cost",
	"scheduler.alpha.kubernetes.io/tolerations", "kubernetes.io/config.mirror", "pod.beta.kubernetes.io/init-containers",
	"UPPER.example.com/Key",
}

var annotationValues = []string{
	"runtime/default", "docker/default", "unconfined", "localhost/", "localhost/x", "localhost/../x", "localhost//x",
	"localhost/ x", "localhost/a", "localhost/b", "", "0", "10", "-5", "+5", "007", "99999999999", `[{"key":"a","operator":"Exists"}]`,
	`[{"key":"!","operator":"x","value":"v"}]`, `[{"tolerationSeconds":1}]`, "{", "localhost/" + strings.Repeat("p", 4096),
	strings.Repeat("v", 256*1024),
}

var strange = []string{
	"", "", "a", "b", "x", "abc", "A", "-a", "a-", "a.b", "a..b", "a.b.", ".", "..", "...", "a_b", "_a", "a/b", "a//b", "/", "//",
	"example.com/x", "example.com/", "/x", "kubernetes.io/x", "k8s.io/x", "x.k8s.io/y", "../x", "..data", "a/..", "a/../b", "a..b/c",
	"/abs", "/abs/path", "/abs/../x", "x/y/z", " ", " a", "a ", "a b", "a=b", "a\nb", "a\tb", "é", "日本", "1", "0", "-1", "01", "123",
	strings.Repeat("n", 15), strings.Repeat("n", 16), strings.Repeat("l", 63), strings.Repeat("l", 64), strings.Repeat("l", 65),
	strings.Repeat("s", 104), strings.Repeat("s", 105), strings.Repeat("d", 253), strings.Repeat("d", 254), strings.Repeat("s", 256),
	strings.Repeat("ab.", 84) + "c", strings.Repeat("p", 4096), strings.Repeat("g", 64*1024+1),
	"1.2.3.4", "01.2.3.4", "::1", "::ffff:1.2.3.4", "fe80::1%eth0", "FE80:0:0::1", "1.2.3", "http", "https", "HTTP", "x1", "1x", "a--b", "http-alt",
	"metadata.name", "metadata.labels", "metadata.annotations", "metadata.labels['a']", "metadata.labels['A b']",
	"metadata.annotations['Example.com/X']", "metadata.labels['']", "spec.nodeName['a']", "['a']", "spec.host", "spec.nodeName",
	"spec.restartPolicy", "spec.serviceAccountName", "status.podIP", "status.hostIPs", "status.phase", "v1", "v2",
	"limits.cpu", "requests.memory", "limits.ephemeral-storage", "limits.hugepages-2Mi", "requests.hugepages-x", "limits.foo",
	"localhost/x", "runtime/default", "iqn.2001-04.com.example:storage.disk1", "iqn.bad", "eui.0123456789abcdef",
	"naa.0123456789abcdef0123456789abcdef", "https://a.blob.core.windows.net/c/d.vhd", "/subscriptions/x", "host:1", "host:1,host", "host",
	"net.ipv4.tcp_syncookies", "net/ipv4/tcp_syncookies", "kernel.shmmax", "kernel.shm", "fs.mqueue.msg_max", "net.*", "kernel.shm*", "vm.x",
	`DOMAIN\user`, `a\b\c`, `\user`, `DOMAIN\`, `user@x`, `. .`, `.dom\u`, "gmsa.example", "CAP_SYS_ADMIN", "SYS_ADMIN", "ALL",
	"PersistentVolumeClaim", "VolumeSnapshot", "snapshot.storage.k8s.io", "RSA3072", "kubernetes.io/kube-apiserver-serving",
	" padded ", "localhost/ padded", "iqn", "eui", "naa.x", `a\b`, "metadata.uid", "image:latest", "image", "image@sha256:x",
}

// enums are the values that a type knows.
var enums = map[reflect.Type][]string{}

func enum[T ~string](values ...T) {
	t := reflect.TypeFor[T]()
	for _, v := range values {
		enums[t] = append(enums[t], string(v))
	}
}

func init() {
	enum(corev1.PullAlways, corev1.PullNever, corev1.PullIfNotPresent)
	enum(corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	enum(corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	enum(corev1.RestartPolicyAlways, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
	enum(corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	enum(corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
	enum(corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)
	enum(corev1.DNSClusterFirst, corev1.DNSNone, corev1.DNSDefault, corev1.DNSClusterFirstWithHostNet)
	enum(corev1.PreemptLowerPriority, corev1.PreemptNever)
	enum(corev1.Linux, corev1.Windows)
	enum(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	enum(corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	enum(corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	enum(corev1.DefaultProcMount, corev1.UnmaskedProcMount)
	enum(corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	enum(corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	enum(corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
	enum(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	enum(corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)
	enum(corev1.HostPathBlockDev, corev1.HostPathDirectory, corev1.HostPathFile, corev1.HostPathSocket)
	enum(corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)
	enum(corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpGt, corev1.TolerationOpLt)
	enum(corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpLt, corev1.NodeSelectorOpNotIn)
	enum(metav1.LabelSelectorOpDoesNotExist, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn)
	enum(corev1.DoNotSchedule, corev1.ScheduleAnyway)
	enum(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	enum(corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
	enum(corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
	enum(corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly)
	enum(corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)
	enum(corev1.NotRequired, corev1.RestartContainer)
	enum(corev1.SIGTERM, corev1.SIGKILL, corev1.Signal("SIGNONE"))
	enum(corev1.ResourceCPU, corev1.ResourceMemory)
	enum(corev1.Capability("CAP_SYS_ADMIN"), corev1.Capability("NET_ADMIN"))
	enum(corev1.StorageMediumDefault, corev1.StorageMediumMemory)
}
