package cluster

// The formats' arguments stand in the order of their first use in node.go.

// cniConfig gives Pods addresses on a bridge. They reach the node and each other, and nothing else.
const cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "bridge",
  "type": "bridge",
  "bridge": "cni0",
  "isGateway": true,
  "mtu": %d,
  "ipam": {
    "type": "host-local",
    "ranges": [[{"subnet": "` + podNetwork + `"}]],
    "routes": [{"dst": "0.0.0.0/0"}]
  }
}
`

// containerdConfig leaves all else at its default: the paths are covered by the node's own mounts. Without
// CAP_SYS_RESOURCE, which containers of a CI system lack, an OOM score can only be raised.
const containerdConfig = `version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %q
conf_dir = %q
`

// kubeletConfig makes nothing depend on the host: on the version of its cgroups, its free disk space or the
// files of its name resolution.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: false
  x509:
    clientCAFile: %s
authorization:
  mode: Webhook
tlsCertFile: %s
tlsPrivateKeyFile: %s
cgroupDriver: cgroupfs
cgroupRoot: /%s
failCgroupV1: false
enforceNodeAllocatable: []
localStorageCapacityIsolation: false
oomScoreAdj: 0
failSwapOn: false
evictionHard:
  memory.available: 1Mi
  nodefs.available: 1%%
  nodefs.inodesFree: 1%%
  imagefs.available: 1%%
imageGCHighThresholdPercent: 100
resolvConf: %s
clusterDomain: cluster.local
clusterDNS: [%s]
volumePluginDir: %s
containerRuntimeEndpoint: unix://%s
nodeStatusUpdateFrequency: 1s
`
