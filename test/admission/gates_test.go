package admission_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/admission"
)

// never is the minor of fields whose feature gate is off by default in every version that is known.
const never = 99

// gatedFields are fields behind feature gates, each with the first minor that keeps it by default. An older API server
// drops it and says nothing.
var gatedFields = []struct {
	path   string // as a comparison names it
	since  int
	known  int // first minor that knows the field, 0 for all
	change func(*corev1.Pod)
}{
	{"spec.hostnameOverride", 35, 0, func(p *corev1.Pod) { p.Spec.HostnameOverride = new("agent.example.com") }},
	{"spec.volumes[x]", 35, 0, volume(func(v *corev1.VolumeSource) { v.Image = &corev1.ImageVolumeSource{Reference: "data:1"} })},
	{"spec.containers[kandev-agent].restartPolicy", 35, 0, onMain(func(c *corev1.Container) { c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways) })},
	{"spec.containers[kandev-agent].restartPolicyRules", 35, 0, onMain(func(c *corev1.Container) {
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
		}}
	})},
	{"spec.volumes[x].projected.sources[0].clusterTrustBundle", 37, 0, volume(func(v *corev1.VolumeSource) {
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{Name: new("ca"), Path: "ca.pem"},
		}}}
	})},
	{"spec.volumes[x].projected.sources[0].podCertificate", 37, 0, volume(func(v *corev1.VolumeSource) {
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			PodCertificate: &corev1.PodCertificateProjection{SignerName: "example.com/signer", KeyType: "ED25519", CredentialBundlePath: "c.pem"},
		}}}
	})},
	{"spec.containers[kandev-agent].lifecycle", never, 0, onMain(func(c *corev1.Container) {
		c.Lifecycle = &corev1.Lifecycle{StopSignal: new(corev1.SIGUSR1)}
	})},
	{"spec.schedulingGroup", never, 36, func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")} }},
	{"spec.evictionResponders", never, 37, func(p *corev1.Pod) {
		p.Spec.EvictionResponders = []corev1.EvictionResponder{{Name: "example.com/responder", Priority: new(int32(1))}}
	}},
	{"spec.containers[kandev-agent].volumeMounts[/x].bindMountOptions", never, 37, mountX(func(m *corev1.VolumeMount) { m.BindMountOptions = []string{"noexec"} })},
	{"spec.containers[kandev-agent].livenessProbe.httpGet.protocol", never, 37, func(p *corev1.Pod) {
		probe(p)
		p.Spec.Containers[0].LivenessProbe.HTTPGet.Protocol = new(corev1.HTTPProtocolHTTP2)
	}},
	{"spec.volumes[x].emptyDir.mode", never, 37, volume(func(v *corev1.VolumeSource) { v.EmptyDir = &corev1.EmptyDirVolumeSource{Mode: new(int32(0o700))} })},
	{"spec.volumes[x].secret.defaultUser", never, 37, volume(func(v *corev1.VolumeSource) {
		v.Secret = &corev1.SecretVolumeSource{SecretName: "s", DefaultUser: new(int64(1000))}
	})},
}

// TestDroppedFields: what an API server drops without a word is named by the comparison, as a violation where Kandev owns
// the field, and strict field validation refuses what it does not know at all.
func TestDroppedFields(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "defaults")
		for _, g := range gatedFields {
			t.Run(g.path, func(t *testing.T) {
				pod := barePod(t, g.change)
				admitted, err := s.create(t, pod, metav1.FieldValidationIgnore)
				if err != nil {
					t.Fatal(err)
				}
				r := compare(t, pod, admitted)
				named := slices.ContainsFunc(r.Accepted, func(c admission.Change) bool { return strings.HasPrefix(c.Path, g.path) }) ||
					slices.ContainsFunc(r.Violations, func(v admission.Violation) bool { return strings.HasPrefix(v.Path, g.path) })
				if keeps := s.minorNumber() >= g.since; keeps == named || keeps && len(r.Accepted)+len(r.Violations) > 0 {
					t.Errorf("kept: %v; the comparison says %s", keeps, text(r))
				}
				_, err = s.create(t, pod, metav1.FieldValidationStrict)
				if knows := s.minorNumber() >= g.known; knows != (err == nil) || !knows && !isUnknownField(err) {
					t.Errorf("strict field validation, known: %v: %v", knows, err)
				}
			})
		}
	})
}

func (s *server) create(t *testing.T, pod *corev1.Pod, fieldValidation string) (*corev1.Pod, error) {
	t.Helper()
	o := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: fieldValidation}
	return s.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, o)
}

func isUnknownField(err error) bool {
	return apierrors.IsBadRequest(err) && unknownField.MatchString(err.Error())
}
