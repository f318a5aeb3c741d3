package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/test/cluster/internal/supervise"
)

// NodeName is the name of a cluster's node.
const NodeName = "node"

// The storage classes of a node. Claims without a class get the first.
const (
	StorageClass                     = "hostpath"      // binds at once
	StorageClassWaitForFirstConsumer = "hostpath-wait" // binds when a Pod is scheduled
)

// Each node is in a network namespace of its own, so all have the same addresses.
const (
	nodeNetwork  = "10.254.0.1/24"
	podNetwork   = "10.254.1.0/24"
	serviceRange = "10.254.2.0/24"
	clusterDNS   = "10.254.2.10"

	// The API server listens where the service "kubernetes" says, at the first address of the range, so that Pods
	// reach it without a kube-proxy.
	apiService  = "10.254.2.1"
	nodeAPIPort = 443

	containerdSocket = "/run/containerd/containerd.sock"
	cniPlugins       = "/usr/lib/cni"
	volumePlugins    = "/var/lib/kubelet/volumeplugins"
)

// hostPrograms are what a node takes from the host, with the Debian package of each.
var hostPrograms = map[string]string{
	"busybox":    "busybox-static",
	"containerd": "containerd",
	"ctr":        "containerd",
	"ip":         "iproute2",
	"nsenter":    "util-linux",
	"runc":       "runc",
}

func nodeIP() net.IP {
	ip, _, _ := net.ParseCIDR(nodeNetwork)
	return ip
}

// findHostPrograms returns an error that names the packages which a node lacks.
func (c *Cluster) findHostPrograms() error {
	var errs []error
	for name, pkg := range hostPrograms {
		path, err := exec.LookPath(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("a node needs %s; install the package %s", name, pkg))
		}
		c.programs[name] = path
	}
	if _, err := os.Stat(filepath.Join(cniPlugins, "bridge")); err != nil {
		errs = append(errs, fmt.Errorf("a node needs %s; install the package containernetworking-plugins", cniPlugins))
	}
	return errors.Join(errs...)
}

// startNode starts the control plane and the node, and returns when the node takes Pods.
func (c *Cluster) startNode(ctx context.Context) error {
	if err := c.writeNodeFiles(); err != nil {
		return err
	}
	if out, err := c.NodeCommand(ctx, c.programs["ip"], "address", "add", apiService, "dev", "lo").CombinedOutput(); err != nil {
		return fmt.Errorf("ip address add %s: %w: %s", apiService, err, out)
	}
	c.defineNode()
	if err := c.Containerd.Start(); err != nil {
		return err
	}
	if err := c.startAPIServer(nodeAPIPort); err != nil {
		return err
	}
	for _, p := range []*Process{c.ControllerManager, c.Scheduler} {
		if err := p.Start(); err != nil {
			return err
		}
	}
	if err := c.importImages(ctx); err != nil {
		return err
	}
	if err := c.Kubelet.Start(); err != nil {
		return err
	}
	return c.createStorageClasses(ctx)
}

func (c *Cluster) writeNodeFiles() error {
	cert, key, err := c.authority.issue("kubelet", nil, nodeIP())
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.file("cni"), 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"kubelet.crt":        string(cert),
		"kubelet.key":        string(key),
		"resolv.conf":        "nameserver " + clusterDNS + "\n",
		"cni/10-bridge.conf": fmt.Sprintf(cniConfig, c.options.PodMTU),
		"containerd.toml":    fmt.Sprintf(containerdConfig, PauseImage, cniPlugins, c.file("cni")),
		"kubelet.yaml": fmt.Sprintf(kubeletConfig, c.file("ca.crt"), c.file("kubelet.crt"), c.file("kubelet.key"),
			supervise.Cgroup(c.dir), c.file("resolv.conf"), clusterDNS, volumePlugins, containerdSocket),
	} {
		if err := os.WriteFile(c.file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	server := fmt.Sprintf("https://127.0.0.1:%d", nodeAPIPort)
	return errors.Join(
		c.writeKubeconfig(c.file("controller-manager.kubeconfig"), server, "system:kube-controller-manager", nil),
		c.writeKubeconfig(c.file("scheduler.kubeconfig"), server, "system:kube-scheduler", nil),
		c.writeKubeconfig(c.file("kubelet.kubeconfig"), server, "system:node:"+NodeName, []string{"system:nodes"}),
	)
}

func (c *Cluster) defineNode() {
	c.Containerd = &Process{
		c: c, name: "containerd", listen: "unix " + containerdSocket,
		args: []string{c.programs["containerd"], "--config=" + c.file("containerd.toml")},
	}
	c.ControllerManager = &Process{
		c: c, name: "kube-controller-manager", listen: "tcp 127.0.0.1:10257",
		args: append([]string{
			c.programs["kube-controller-manager"],
			"--kubeconfig=" + c.file("controller-manager.kubeconfig"),
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + c.file("service-account.key"),
			"--root-ca-file=" + c.file("ca.crt"),
			"--enable-hostpath-provisioner=true",
			"--flex-volume-plugin-dir=" + volumePlugins,
		}, c.featureGates()...),
	}
	c.Scheduler = &Process{
		c: c, name: "kube-scheduler", listen: "tcp 127.0.0.1:10259",
		args: append([]string{
			c.programs["kube-scheduler"],
			"--kubeconfig=" + c.file("scheduler.kubeconfig"),
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
		}, c.featureGates()...),
	}
	c.Kubelet = &Process{
		c: c, name: "kubelet", listen: "tcp 127.0.0.1:10248", ready: c.askNode,
		args: append([]string{
			c.programs["kubelet"],
			"--config=" + c.file("kubelet.yaml"),
			"--kubeconfig=" + c.file("kubelet.kubeconfig"),
			"--node-ip=" + nodeIP().String(),
			"--hostname-override=" + NodeName,
		}, c.featureGates()...),
	}
}

// askNode returns nil when the node is ready and Pods are scheduled to it.
func (c *Cluster) askNode(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	node, err := client.CoreV1().Nodes().Get(ctx, NodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !isReady(node) || len(node.Spec.Taints) > 0 {
		return fmt.Errorf("its node has conditions %+v and taints %+v", node.Status.Conditions, node.Spec.Taints)
	}
	return nil
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (c *Cluster) createStorageClasses(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	for name, mode := range map[string]storagev1.VolumeBindingMode{
		StorageClass:                     storagev1.VolumeBindingImmediate,
		StorageClassWaitForFirstConsumer: storagev1.VolumeBindingWaitForFirstConsumer,
	} {
		class := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{
				Name: name,
				Annotations: map[string]string{
					"storageclass.kubernetes.io/is-default-class": strconv.FormatBool(name == StorageClass),
				},
			},
			Provisioner:       "kubernetes.io/host-path",
			VolumeBindingMode: &mode,
		}
		if _, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// NodeCommand returns a command that runs on the node: among its processes, mounts and interfaces, as root.
func (c *Cluster) NodeCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(c.supervisor.runner), "--mount", "--net", "--pid", "--ipc", "--", name}
	return exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
}

// ContainerPID returns the process ID, on the node, of a container's first process.
func (c *Cluster) ContainerPID(ctx context.Context, namespace, pod, container string) (int, error) {
	client, err := c.client()
	if err != nil {
		return 0, err
	}
	got, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	id := containerID(got, container)
	out, err := c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "tasks", "list").Output()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == id {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, fmt.Errorf("container %q of pod %s/%s does not run", container, namespace, pod)
}

func containerID(pod *corev1.Pod, container string) string {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == container {
				return strings.TrimPrefix(statuses[i].ContainerID, "containerd://")
			}
		}
	}
	return ""
}

// ContainerCommand returns a command that runs among the processes, mounts and interfaces of a container, but as
// the node's root, whatever the container may do. The executable is the container's.
func (c *Cluster) ContainerCommand(
	ctx context.Context, namespace, pod, container string, name string, args ...string,
) (*exec.Cmd, error) {
	pid, err := c.ContainerPID(ctx, namespace, pod, container)
	if err != nil {
		return nil, err
	}
	enter := []string{"--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--", name}
	return c.NodeCommand(ctx, "nsenter", append(enter, args...)...), nil
}
