package admission_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// plugins are the API server's own mutating admission plugins, each with what brings it to act. All of it is
// compatible; testdata/plugins holds the whole reports.
var plugins = []struct {
	name   string
	setUp  func(t *testing.T, s *server, namespace string)
	change func(*corev1.PodTemplateSpec)
}{
	{name: "none"},
	{name: "service-account", setUp: accountWithSecret, change: func(p *corev1.PodTemplateSpec) {
		p.Spec.ServiceAccountName, p.Spec.AutomountServiceAccountToken = "puller", new(true)
	}},
	{name: "limit-ranger", setUp: limitRange},
	{name: "priority", change: func(p *corev1.PodTemplateSpec) { p.Spec.PriorityClassName = "agents" }},
	{name: "runtime-class", change: func(p *corev1.PodTemplateSpec) { p.Spec.RuntimeClassName = new("gvisor") }},
	{name: "default-toleration-seconds", change: func(p *corev1.PodTemplateSpec) {
		p.Spec.Tolerations = []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))},
			{Key: "spot", Operator: corev1.TolerationOpExists},
		}
	}},
}

func TestPlugins(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		for _, p := range plugins {
			t.Run(p.name, func(t *testing.T) {
				namespace := "plugin-" + p.name
				s.namespace(t, namespace)
				if p.setUp != nil {
					p.setUp(t, s, namespace)
				}
				s.acceptPlugin(t, p.name, namespace, p.change)
			})
		}
	})
}

// TestPluginsOfAllPods sets what would change the Pods of every other test: AlwaysPullImages and default classes.
func TestPluginsOfAllPods(t *testing.T) {
	for _, minor := range versions(t) {
		t.Run(minor, func(t *testing.T) {
			s, err := startServer(t, minor, "--enable-admission-plugins=AlwaysPullImages")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
			const namespace = "plugin-all"
			s.namespace(t, namespace)
			s.acceptPlugin(t, "always-pull-images", namespace, nil)
			defaultClasses(t, s)
			s.acceptPlugin(t, "default-classes", namespace, nil)
			claim := composeFrom(t, agentTemplate, compose.ManagedPVC, namespace).Claim
			want := []string{"compatible", "added metadata.finalizers", "added spec.storageClassName"}
			if diff := cmp.Diff(want, s.sendClaim(t, claim)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// acceptPlugin sends the Pods of all templates and demands the recorded reports.
func (s *server) acceptPlugin(t *testing.T, name, namespace string, change func(*corev1.PodTemplateSpec)) {
	t.Helper()
	var out strings.Builder
	for _, template := range templates {
		pod := composeFrom(t, template.file, template.mode, namespace, func(p *corev1.PodTemplateSpec) {
			if change != nil {
				change(p)
			}
		}).Pod
		pod.Name = strings.ReplaceAll(name, "_", "-") + "-" + strings.ReplaceAll(string(template.mode), "_", "-")
		fmt.Fprintf(&out, "%s (%s): %s\n", filepath.Base(template.file), template.mode, strings.Join(s.sendBoth(t, pod), "\n  "))
	}
	if strings.Contains(out.String(), "not compatible") {
		t.Error(out.String())
	}
	s.golden(t, filepath.Join("testdata", "plugins", name+".out"), out.String())
}

// sendClaim creates a claim, as a dry run and for good, and returns the lines of the comparison.
func (s *server) sendClaim(t *testing.T, claim *corev1.PersistentVolumeClaim) []string {
	t.Helper()
	var last []string
	for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
		o := metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict}
		admitted, err := s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(t.Context(), claim, o)
		if err != nil {
			t.Fatal(err)
		}
		got := lines(admission.ComparePVC(claim, admitted, admission.Options{}))
		if diff := cmp.Diff(last, got); diff != "" && last != nil {
			t.Errorf("the dry run is not as the create request: %s", diff)
		}
		last = got
	}
	return last
}

func accountWithSecret(t *testing.T, s *server, namespace string) {
	t.Helper()
	account := &corev1.ServiceAccount{
		ObjectMeta:       metav1.ObjectMeta{Name: "puller"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
	}
	if _, err := s.client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// limitRange creates a LimitRange. The plugin looks for one in the API itself where its cache has none.
func limitRange(t *testing.T, s *server, namespace string) {
	t.Helper()
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "defaults"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type:           corev1.LimitTypeContainer,
		Default:        resources(corev1.ResourceCPU, "4"),
		DefaultRequest: resources(corev1.ResourceCPU, "250m"),
	}}}}
	if _, err := s.client.CoreV1().LimitRanges(namespace).Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// defaultClasses makes a priority class and a storage class the default ones and waits until the API server knows it.
func defaultClasses(t *testing.T, s *server) {
	t.Helper()
	_, err := s.client.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "normal"}, Value: 10, GlobalDefault: true,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "kubernetes.io/no-provisioner",
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects := composeFrom(t, agentTemplate, compose.ManagedPVC, "plugin-all")
	s.await(t, "the default classes", func() bool {
		dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		pod, podErr := s.client.CoreV1().Pods("plugin-all").Create(t.Context(), objects.Pod, dry)
		claim, claimErr := s.client.CoreV1().PersistentVolumeClaims("plugin-all").Create(t.Context(), objects.Claim, dry)
		return podErr == nil && claimErr == nil && pod.Spec.PriorityClassName != "" && claim.Spec.StorageClassName != nil
	})
}
