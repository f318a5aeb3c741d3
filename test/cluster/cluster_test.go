package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/test/cluster"
)

func TestAPI(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Version: "1.36", Audit: true})
	client := kubernetes.NewForConfigOrDie(c.Config())
	v, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(v, c.Version())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	got, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	t.Log(got, err)
}

func TestNode(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Node: true})
	client := kubernetes.NewForConfigOrDie(c.Config())
	n, err := client.CoreV1().Nodes().Get(t.Context(), "node", metav1.GetOptions{})
	t.Log(n, err)
}
