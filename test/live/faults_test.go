package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/test/cluster"
	"github.com/kandev/kandev-podlint/test/live/faultproxy"
)

// probed are the steps of a probe with an emptyDir workspace that ask the cluster something.
var probed = []string{
	"connection", "authentication", "namespace", "permission-pods-get", "pod-admission", "pod-create", "pod-start",
	"exec-websocket", "exec-spdy", "tools", "volumes", "forward-websocket", "forward-spdy", "logs", "pod-delete",
}

// TestProbeUnderFaults breaks the connection at each step of a probe, in each way, until the step is over. The step must be
// named, the probe must end in bounded time, and nothing may be left.
func TestProbeUnderFaults(t *testing.T) {
	c := node(t)
	client := clientset(t, c)
	for _, step := range probed {
		for _, fault := range faultproxy.Faults() {
			t.Run(step+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				ns := namespace(t, c, nil)
				proxy := faultproxy.Start(t, strings.TrimPrefix(c.Config().Host, "https://"))
				began := time.Now()
				report := probeThrough(t, c, proxy, ns, step, fault)
				if took := time.Since(began); took > 3*time.Minute {
					t.Errorf("it took %s", took)
				}
				judgeFault(t, report, step, fault)
				leavesNothing(t, client, ns)
			})
		}
	}
}

// probeThrough probes through a proxy that fails while one step is made.
func probeThrough(t *testing.T, c *cluster.Cluster, proxy *faultproxy.Proxy, ns, step string, fault faultproxy.Fault) executor.ProbeReport {
	t.Helper()
	config := c.Config()
	config.Host = "https://" + proxy.Address()
	config.Timeout = 2 * time.Second
	client, err := executor.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	failing := false
	heal := func() {
		if failing {
			proxy.Heal(t)
			failing = false
		}
	}
	report, err := client.Probe(t.Context(), executor.ProbeOptions{
		Template:  agentTemplate(),
		Profile:   compose.Profile{Workspace: compose.Workspace{Mode: compose.EmptyDir}},
		Namespace: ns, StartTimeout: 20 * time.Second,
		Observe: func(p executor.Progress) {
			switch {
			case p.Done && p.Step.Key == step, !p.Done && p.Step.Key != step:
				heal() // the step is over; both of a pair are told of at the end
			case !p.Done && !failing:
				failing = true
				proxy.Fail(fault)
				if step == "pod-delete" || step == "pod-create" { // which go on until the connection does
					time.AfterFunc(3*time.Second, func() { proxy.Heal(t) })
					failing = false
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// agentTemplate is a template that the node can run.
func agentTemplate() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "kandev-agent", Image: cluster.BusyboxImage, ImagePullPolicy: corev1.PullIfNotPresent,
	}}}}
}

// judgeFault demands that every step before the fault passed, and that the step either got over it or is named as the one
// that failed.
func judgeFault(t *testing.T, report executor.ProbeReport, step string, fault faultproxy.Fault) {
	t.Helper()
	at := slices.IndexFunc(report.Steps, func(s executor.Step) bool { return s.Key == step })
	if at < 0 {
		t.Fatalf("no step %s in %+v", step, report)
	}
	for _, s := range report.Steps[:at] {
		if s.Verdict != executor.Pass {
			t.Errorf("%s before the fault: %+v", s.Key, s)
		}
	}
	s := report.Steps[at]
	if s.Verdict == executor.Fail && s.Reason == "" && step != "pod-delete" {
		t.Errorf("no reason: %+v", s)
	}
	heldUp := fault == faultproxy.Stall || fault == faultproxy.Refuse
	if goesOn := step == "pod-delete" || step == "pod-create" || step == "pod-start"; heldUp && !goesOn && s.Verdict != executor.Fail {
		t.Errorf("a %s was not noticed: %+v", fault, s)
	}
	if sends := step == "exec-websocket" || step == "exec-spdy"; fault == faultproxy.Sever && (s.Verdict == executor.Fail) != sends {
		t.Errorf("severed: %+v", s)
	}
	if last := report.Steps[len(report.Steps)-1]; last.Key != "pod-delete" || last.Verdict == executor.Fail {
		t.Errorf("%+v", last)
	}
	t.Logf("%s: %s, %s", s.Key, s.Verdict, s.Message)
}

// leavesNothing demands that a namespace holds no Pod and no claim but the administrator's.
func leavesNothing(t *testing.T, client kubernetes.Interface, ns string) {
	t.Helper()
	pods, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		t.Errorf("Pod %s is left: deleted %v", pod.Name, pod.DeletionTimestamp)
	}
	claims, err := client.CoreV1().PersistentVolumeClaims(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims.Items {
		if strings.HasPrefix(claim.Name, "kandev-") {
			t.Errorf("claim %s is left", claim.Name)
		}
	}
}
