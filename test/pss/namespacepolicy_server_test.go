package pss

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/test/cluster"
)

// TestNamespacePolicyOnServers sends some of TestNamespacePolicy's Pods to real API servers, as dry runs. It makes
// PSS_SERVER_ROUNDS of them; those that are no valid Pods reach no policy.
func TestNamespacePolicyOnServers(t *testing.T) {
	versions, err := cluster.TestVersions()
	if err != nil {
		t.Fatal(err)
	}
	c, known := newComparison(t), fixtures(t)
	newest := newestMinor(c.checks)
	seed, n := environment(t, "PSS_SEED", measuredSeed), environment(t, "PSS_SERVER_ROUNDS", 1000)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			pods := governedPods(t, version)
			admitted, refused := uint64(0), uint64(0)
			for i := range n {
				pod := validPod(randomPod(t, newGenerator(seed+i), known))
				stored, err := pods.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				check := refusal(err)
				switch {
				case check != "":
					refused++
				case err == nil:
					admitted++
					pod = stored // an older API server drops what it does not know, and a whole volume with it
				case apierrors.IsInvalid(err):
					continue
				default:
					t.Fatalf("%v\n%s", err, showPod(pod))
				}
				var forbidden []string
				for _, each := range c.checks {
					if each.Level == "baseline" && each.forbids(pod, newest) {
						forbidden = append(forbidden, string(each.ID))
					}
				}
				if (check != "") != (len(forbidden) > 0) || check != "" && !slices.Contains(forbidden, check) {
					t.Errorf("PSS_SEED=%d: the baseline level forbids %v, the API server says %v\n%s", seed+i, forbidden, err, showPod(pod))
				}
			}
			t.Logf("%s: %d Pods: %d admitted, %d refused, the others invalid", version, n, admitted, refused)
			if min(admitted, refused) < n/10 {
				t.Error("hardly any Pod is judged")
			}
		})
	}
}

// refusedCheck is what an API server says for a validation of the baseline level.
var refusedCheck = regexp.MustCompile(`^pods "a" is forbidden: ValidatingAdmissionPolicy 'kandev-(?:baseline|grant)' with binding '[a-z-]+' denied request: baseline, (\w+): `)

// refusal is the check for which the policy refused a Pod, or nothing.
func refusal(err error) string {
	if m := refusedCheck.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		return m[1]
	}
	return ""
}

// governedPods returns the Pods, on an API server, of the namespace that has the policy, when it acts.
func governedPods(t *testing.T, version string) typedcorev1.PodInterface {
	t.Helper()
	c := cluster.Start(t, cluster.Options{Version: version})
	if err := c.CreateNamespace(t.Context(), "kandev", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), namespacePolicy(t)); err != nil {
		t.Fatal(err)
	}
	config := c.Config()
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("kandev")
	network, privileged := acceptable(), acceptable()
	network.Spec.HostNetwork = true
	privileged.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	for _, pod := range []*corev1.Pod{network, privileged} {
		err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := pods.Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return refusal(err) != "", nil
		})
		if err != nil {
			t.Fatalf("the policy does not act: %v", err)
		}
	}
	return pods
}

// acceptable is a Pod against which nothing can be said.
func acceptable() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c0", Image: "image"}}},
	}
}

// validPod mends what keeps most random Pods from being valid and no check reads.
func validPod(pod *corev1.Pod) *corev1.Pod {
	pod.Name = "a"
	pod.Spec.EphemeralContainers = nil // which no Pod has when it is created
	n := 0
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			containers[i].Name = fmt.Sprintf("c%d", n)
			n++
		}
	}
	for i := range pod.Spec.Volumes {
		pod.Spec.Volumes[i].Name = fmt.Sprintf("v%d", i)
	}
	return pod
}
