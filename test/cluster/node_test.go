package cluster_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"

	"github.com/kandev/kandev-podlint/test/cluster"
)

func TestNode(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Node: true})
	client := client(t, c.Config())
	for _, class := range []string{cluster.StorageClass, cluster.StorageClassWaitForFirstConsumer} {
		t.Run(class, func(t *testing.T) { testWorkspace(t, c, client, class) })
	}
	t.Run("streams", func(t *testing.T) { testStreams(t, c, client) })
	t.Run("PodSecurity", func(t *testing.T) { testPodSecurity(t, c, client) })
	t.Run("image", func(t *testing.T) { testImage(t, c, client) })
	t.Run("limits of zero", func(t *testing.T) { testZeroLimits(t, c, client) })
}

// testWorkspace has two containers share a claim, one of them read-only, and looks at it from the node too.
func testWorkspace(t *testing.T, c *cluster.Cluster, client kubernetes.Interface, class string) {
	ctx := t.Context()
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if _, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: class},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := testPod(class)
	pod.Spec.TerminationGracePeriodSeconds = new(int64(1))
	pod.Spec.Volumes = []corev1.Volume{{Name: "workspace", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: class},
	}}}
	pod.Spec.Containers = []corev1.Container{
		{
			Name: "main", Image: cluster.BusyboxImage,
			Command:      []string{"sh", "-c", "echo started; echo mine > /workspace/file; exec sleep 1000000"},
			VolumeMounts: []corev1.VolumeMount{{Name: "workspace", MountPath: "/workspace"}},
			Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			},
		},
		{
			Name: "reader", Image: cluster.BusyboxImage,
			Command:         []string{"sleep", "1000000"},
			SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			VolumeMounts:    []corev1.VolumeMount{{Name: "workspace", MountPath: "/workspace", ReadOnly: true}},
		},
	}
	runPod(t, client, pod)

	eventually(t, func() error { // the command that writes starts after the Pod is ready
		out, err := run(ctx, c.Config(), websocketExecutor, pod.Name, "reader", "cat", "/workspace/file")
		if err == nil && out != "mine\n" {
			err = fmt.Errorf("the reader sees %q", out)
		}
		return err
	})
	const write = "echo other > /workspace/file"
	_, err := run(ctx, c.Config(), websocketExecutor, pod.Name, "reader", "sh", "-c", write)
	if status := exitStatus(err); status != 1 {
		t.Errorf("the reader wrote, although its mount is read-only: %v", err)
	}
	asRoot, err := c.ContainerCommand(ctx, "default", pod.Name, "reader", "sh", "-c", write)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := asRoot.CombinedOutput(); err == nil || !strings.Contains(string(out), "Read-only file system") {
		t.Errorf("writing to a read-only mount from the node: %v, %q", err, out)
	}
	inside, err := c.ContainerCommand(ctx, "default", pod.Name, "main", "cat", "/workspace/file")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := inside.CombinedOutput(); err != nil || string(out) != "mine\n" {
		t.Errorf("from the node, inside the container: %v, %q", err, out)
	}
	onNode := c.NodeCommand(ctx, "sh", "-c", "cat /tmp/hostpath_pv/*/file")
	if out, err := onNode.CombinedOutput(); err != nil || !strings.Contains(string(out), "mine\n") {
		t.Errorf("on the node: %v, %q", err, out)
	}

	pods := client.CoreV1().Pods("default")
	if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if _, err := pods.Get(ctx, pod.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Pod is still there: %w", err)
		}
		return nil
	})
	claim, err := claims.Get(ctx, class, metav1.GetOptions{})
	if err != nil || claim.Status.Phase != corev1.ClaimBound {
		t.Errorf("after the Pod the claim is %+v, %v; want it bound", claim.Status, err)
	}
}

func testStreams(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	pod := testPod("streams")
	pod.Spec.Containers[0].Command = []string{"sh", "-c", "echo hello; exec nc -ll -p 8765 -e cat"}
	runPod(t, client, pod)

	eventually(t, func() error {
		logs, err := client.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err == nil && string(logs) != "hello\n" {
			err = fmt.Errorf("the log is %q", logs)
		}
		return err
	})
	for name, executor := range map[string]newExecutor{"websocket": websocketExecutor, "spdy": spdyExecutor} {
		if out, err := run(ctx, c.Config(), executor, pod.Name, "main", "sh", "-c", "echo out; exit 3"); exitStatus(err) != 3 || out != "out\n" {
			t.Errorf("exec over %s: %v, %q", name, err, out)
		}
	}
	for name, forwarder := range map[string]newForwarder{"websocket": websocketForwarder, "spdy": spdyForwarder} {
		t.Run(name, func(t *testing.T) { testPortForward(t, c.Config(), forwarder, pod.Name) })
	}
}

type newForwarder func(u *url.URL, config *rest.Config, stop, ready chan struct{}) (*portforward.PortForwarder, error)

// Port 8765 of the Pod gets a free one of the host.
var ports = []string{"0:8765"}

func websocketForwarder(u *url.URL, config *rest.Config, stop, ready chan struct{}) (*portforward.PortForwarder, error) {
	dialer, err := portforward.NewSPDYOverWebsocketDialer(u, config)
	if err != nil {
		return nil, err
	}
	return portforward.New(dialer, ports, stop, ready, io.Discard, io.Discard)
}

func spdyForwarder(u *url.URL, config *rest.Config, stop, ready chan struct{}) (*portforward.PortForwarder, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, u)
	return portforward.New(dialer, ports, stop, ready, io.Discard, io.Discard)
}

func testPortForward(t *testing.T, config *rest.Config, newForwarder newForwarder, pod string) {
	stop, ready := make(chan struct{}), make(chan struct{})
	request, err := subresource(config, pod, "portforward")
	if err != nil {
		t.Fatal(err)
	}
	forwarder, err := newForwarder(request.URL(), config, stop, ready)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	forwarded, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", forwarded[0].Local))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "ping\n"); err != nil {
		t.Fatal(err)
	}
	echo := make([]byte, len("ping\n"))
	if _, err := io.ReadFull(conn, echo); err != nil || string(echo) != "ping\n" {
		t.Errorf("echo: %v, %q", err, echo)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func testPodSecurity(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := c.CreateNamespace(t.Context(), "restricted", labels); err != nil {
		t.Fatal(err)
	}
	pod := testPod("denied")
	pod.Namespace = "restricted"
	_, err := client.CoreV1().Pods("restricted").Create(t.Context(), pod, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a Pod without a security context: %v; want it denied", err)
	}
}

func testImage(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	busybox, err := c.NodeCommand(t.Context(), "sh", "-c", "cat $(command -v busybox)").Output()
	if err != nil {
		t.Fatal(err)
	}
	header := &tar.Header{Name: "busybox", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(busybox))}
	if err := archive.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(busybox); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	image := cluster.Image{
		Name:       "kandev.test/own:2",
		Entrypoint: []string{"/busybox", "env"},
		Env:        []string{"FROM=image"},
		User:       "1000",
	}
	if err := c.ImportImage(t.Context(), image, bytes.NewReader(layer.Bytes())); err != nil {
		t.Fatal(err)
	}
	pod := testPod("image")
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Containers[0].Image = image.Name
	createPod(t, client, pod, corev1.PodSucceeded)
	logs, err := client.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil || !bytes.Contains(logs, []byte("FROM=image\n")) {
		t.Errorf("the container says %q, %v", logs, err)
	}
}

// TestNodesSideBySide has two nodes with the same addresses and names run Pods at the same time.
func TestNodesSideBySide(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{Node: true})
			client := client(t, c.Config())
			pod := testPod("same")
			pod.Spec.Containers[0].Command = []string{"sh", "-c", "echo " + name + "; exec sleep 1000000"}
			runPod(t, client, pod)
			eventually(t, func() error {
				logs, err := client.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
				if err == nil && string(logs) != name+"\n" {
					err = fmt.Errorf("the log is %q", logs)
				}
				return err
			})
		})
	}
}

func runPod(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) {
	t.Helper()
	createPod(t, client, pod, corev1.PodRunning)
}

// createPod returns when the Pod is in the phase, and all its containers are ready where they run.
func createPod(t *testing.T, client kubernetes.Interface, pod *corev1.Pod, phase corev1.PodPhase) {
	t.Helper()
	pods := client.CoreV1().Pods(pod.Namespace)
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		got, err := pods.Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.Phase != phase {
			return fmt.Errorf("pod %s: %+v", pod.Name, got.Status)
		}
		for i := range got.Status.ContainerStatuses {
			if status := &got.Status.ContainerStatuses[i]; phase == corev1.PodRunning && !status.Ready {
				return fmt.Errorf("container %s: %+v", status.Name, status.State)
			}
		}
		return nil
	})
}

func subresource(config *rest.Config, pod, name string) (*rest.Request, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name(pod).SubResource(name), nil
}

// exitStatus returns that of the command that err tells of, or -1.
func exitStatus(err error) int {
	var exit interface{ ExitStatus() int }
	if errors.As(err, &exit) {
		return exit.ExitStatus()
	}
	return -1
}

type newExecutor func(*rest.Config, *url.URL) (remotecommand.Executor, error)

func websocketExecutor(config *rest.Config, u *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewWebSocketExecutor(config, http.MethodGet, u.String())
}

func spdyExecutor(config *rest.Config, u *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewSPDYExecutor(config, http.MethodPost, u)
}

// run runs a command in a container and returns its output. Its errors go elsewhere: a Buffer takes one stream at a time.
func run(
	ctx context.Context, config *rest.Config, newExecutor newExecutor, pod, container string, command ...string,
) (string, error) {
	request, err := subresource(config, pod, "exec")
	if err != nil {
		return "", err
	}
	request.VersionedParams(&corev1.PodExecOptions{
		Container: container, Command: command, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec)
	executor, err := newExecutor(config, request.URL())
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: io.Discard})
	return out.String(), err
}

// testZeroLimits shows what policy takes for granted: the kubelet takes a limit of zero, and a sizeLimit of zero, for none.
func testZeroLimits(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	pod := testPod("zero")
	pod.Spec.Containers = nil
	for name, limit := range map[string]string{"none": "", "zero": "0", "some": "16Mi"} {
		container := corev1.Container{
			Name: name, Image: cluster.BusyboxImage, Command: []string{"sleep", "1000000"},
			VolumeMounts: []corev1.VolumeMount{{Name: name, MountPath: "/memory"}},
		}
		volume := corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
		if limit != "" {
			volume.SizeLimit = new(resource.MustParse(limit))
			container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: *volume.SizeLimit}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &volume}})
	}
	runPod(t, client, pod)

	limits := map[string]string{}
	for _, container := range pod.Spec.Containers {
		const read = "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; df -k /memory | awk 'END { print $2 }'"
		eventually(t, func() (err error) { // containerd sometimes loses the output of what ends at once
			limits[container.Name], err = run(t.Context(), c.Config(), websocketExecutor, pod.Name, container.Name, "sh", "-c", read)
			if err == nil && limits[container.Name] == "" {
				err = fmt.Errorf("container %s says nothing", container.Name)
			}
			return err
		})
	}
	if limits["some"] != "16777216\n16384\n" {
		t.Errorf("limits of 16Mi are %q", limits["some"])
	}
	if limits["zero"] != limits["none"] {
		t.Errorf("limits of zero are %q, none %q", limits["zero"], limits["none"])
	}
}
