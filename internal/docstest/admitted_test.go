package docstest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/internal/mutation"
)

// TestAdmittedObjects holds the objects that the examples of diff compare against what the template becomes: requested.yaml is
// what render prints; mesh.yaml is what comes back where a service mesh injects its proxy; tampered.yaml is what comes back where
// a webhook does what it may not.
func TestAdmittedObjects(t *testing.T) {
	requested := run(t, []string{"render", "testdata/templates/docker.yaml"})
	same(t, "testdata/requested.yaml", []byte(requested))

	claim, pod := decode(t, requested)
	persist(claim, pod)
	inject(t, pod)
	same(t, "testdata/admitted/mesh.yaml", encode(t, claim, pod))

	tamper(pod)
	same(t, "testdata/admitted/tampered.yaml", encode(t, claim, pod))
}

func decode(t *testing.T, text string) (*corev1.PersistentVolumeClaim, *corev1.Pod) {
	t.Helper()
	first, second, _ := bytes.Cut([]byte(text), []byte("\n---\n"))
	claim, pod := new(corev1.PersistentVolumeClaim), new(corev1.Pod)
	if err := yaml.UnmarshalStrict(first, claim); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(second, pod); err != nil {
		t.Fatal(err)
	}
	return claim, pod
}

func encode(t *testing.T, claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) []byte {
	t.Helper()
	first, err := yaml.Marshal(claim)
	if err != nil {
		t.Fatal(err)
	}
	second, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(first, []byte("---\n"), second)
}

// persist does what an API server does to every object that it stores.
func persist(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	created := metav1.NewTime(time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC))
	for _, o := range []metav1.Object{claim, pod} {
		o.SetNamespace("kandev")
		o.SetCreationTimestamp(created)
		o.SetResourceVersion("48213")
	}
	claim.UID, pod.UID = "5b0c6f5e-6a1d-4a52-9f0e-3f7e4f6f9a01", "0f6ce3b2-0c55-4b0e-8d2a-58c0a3b0f2c7"
	claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
	claim.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	claim.Status.Phase, pod.Status.Phase = corev1.ClaimPending, corev1.PodPending
	pod.Status.QOSClass = corev1.PodQOSBurstable
	mutation.APIDefaults(pod)
}

// inject does what the mesh's webhook does.
func inject(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	for _, o := range mutation.PodOperators() {
		if o.Name == "istio" {
			o.Apply(rand.New(rand.NewPCG(1, 1)), pod)
			mutation.APIDefaults(pod)
			return
		}
	}
	t.Fatal("there is no operator istio")
}

// tamper shares the workspace with a log shipper, takes the write access of the companion and renames the session.
func tamper(pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == "docker-engine" {
			c.VolumeMounts[len(c.VolumeMounts)-1].ReadOnly = true
		}
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
		Name: "log-shipper", Image: "registry.example/log-shipper:7",
		VolumeMounts: []corev1.VolumeMount{{Name: "kandev-workspace", MountPath: "/workspace", ReadOnly: true}},
	})
	pod.Labels["kandev.ai/session-id"] = "another-session"
	mutation.APIDefaults(pod)
}
