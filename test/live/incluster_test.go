package live

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/test/cluster"
)

// programImage holds the program and a template, and nothing else.
const programImage = "kandev.test/kandev-podlint:1"

// TestInCluster runs the program in Pods, as the executor's account and without a kubeconfig.
func TestInCluster(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	importProgram(t, c, agent(t, "", busybox))
	sessions := namespace(t, c, nil)
	id := manifest(t, "managed_pvc")
	id.create(t, c, client, sessions)
	account := "system:serviceaccount:" + sessions + "-system:kandev-executor"
	for name, test := range map[string]struct {
		args []string
		code int
		said []string
	}{
		"diff": {
			args: []string{"diff", "--live", "-v", "-n", sessions},
			said: []string{"dry run in namespace " + sessions + " of https://10.254.2.1:443\n", "✓ compatible"},
		},
		"probe --no-pod": {
			args: []string{"probe", "-v", "--no-pod", "-n", sessions},
			said: []string{"known as " + account, "✓ pod-admission", " steps passed"},
		},
		"probe": {
			args: []string{"probe", "-v", "-n", sessions},
			said: []string{"known as " + account, "✓ exec-websocket", "✓ forward-spdy", "✓ pod-delete", " steps passed"},
		},
		// The Pod's own namespace is the default one, and the account may do nothing there.
		"diff, denied": {
			args: []string{"diff", "--live"}, code: 3,
			said: []string{`User "` + account + `" cannot create resource "pods" in API group "" in the namespace "` + sessions + `-system"`},
		},
		"probe, denied": {
			args: []string{"probe", "--no-pod"}, code: 1,
			said: []string{account + " may not create pods/exec in namespace " + sessions + "-system"},
		},
		"impersonation, denied": {
			args: []string{"diff", "--live", "--as", "bob", "-n", sessions}, code: 3,
			said: []string{`User "` + account + `" cannot impersonate`},
		},
		"request timeout": {
			args: []string{"diff", "--live", "--request-timeout", "1ns", "-n", sessions}, code: 3,
			said: []string{"no answer within the request timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := runInside(t, client, sessions+"-system", id.account.Name, append(test.args, "/template.yaml"))
			if r.code != test.code {
				t.Errorf("want exit status %d: %s", test.code, r)
			}
			for _, said := range test.said {
				if !strings.Contains(r.out, said) {
					t.Errorf("%q is not said: %s", said, r)
				}
			}
		})
	}
	leavesNothing(t, client, sessions)
}

// importProgram gives the node the program's image.
func importProgram(t *testing.T, c *cluster.Cluster, template string) {
	t.Helper()
	executable, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for name, file := range map[string]string{"kandev-podlint": executable, "template.yaml": template} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	image := cluster.Image{Name: programImage, Entrypoint: []string{"/kandev-podlint"}, User: "65534:65534"}
	if err := c.ImportImage(t.Context(), image, bytes.NewReader(layer.Bytes())); err != nil {
		t.Fatal(err)
	}
}

// runInside runs the program in a Pod that has an account. Both outputs are one.
func runInside(t *testing.T, client kubernetes.Interface, namespace, account string, args []string) result {
	t.Helper()
	pods := client.CoreV1().Pods(namespace)
	pod, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kandev-podlint-"},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			RestartPolicy:      corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "kandev-podlint", Image: programImage, ImagePullPolicy: corev1.PullIfNotPresent, Args: args,
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ended *corev1.ContainerStateTerminated
	eventually(t, "the program has not ended", func() bool {
		pod, err := pods.Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range pod.Status.ContainerStatuses {
			ended = pod.Status.ContainerStatuses[i].State.Terminated
		}
		return ended != nil
	})
	log, err := pods.GetLogs(pod.Name, &corev1.PodLogOptions{}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	if err != nil {
		t.Fatal(err)
	}
	return result{out: string(text), code: int(ended.ExitCode)}
}
