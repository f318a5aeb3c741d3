package admission_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// claimCases are claims without what the API server fills in, and what it writes.
var claimCases = []struct {
	name   string
	change func(*corev1.PersistentVolumeClaim)
	wrote  []string
	other  func(*corev1.PersistentVolumeClaim)
}{
	{
		"volume mode", func(*corev1.PersistentVolumeClaim) {},
		[]string{"spec.volumeMode: Filesystem"},
		func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) },
	},
	{
		"data source", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "a"}
		},
		[]string{"spec.dataSourceRef.kind: PersistentVolumeClaim", "spec.dataSourceRef.name: a", "spec.volumeMode: Filesystem"},
		func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSource.Name = "b" },
	},
	{
		"data source by reference", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "a"}
		},
		[]string{"spec.dataSource.kind: PersistentVolumeClaim", "spec.dataSource.name: a", "spec.volumeMode: Filesystem"},
		func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSourceRef.Name = "b" },
	},
	{
		"rounded size", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1000500u")}
		},
		[]string{"spec.resources.requests[storage]: 1001m", "spec.volumeMode: Filesystem"},
		func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1002m")}
		},
	},
}

// TestClaimDefaults is TestDefaults for the managed claim, whose finalizer is the API server's too.
func TestClaimDefaults(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "defaults")
		for _, c := range claimCases {
			t.Run(c.name, func(t *testing.T) {
				claim := composeFrom(t, agentTemplate, compose.ManagedPVC, "defaults").Claim
				claim.Annotations = nil
				c.change(claim)
				admitted := s.dryRunClaim(t, claim)
				wrote := slices.DeleteFunc(differences(t, claim, admitted), func(d string) bool {
					return fieldOf("metadata").MatchString(d) || fieldOf("status").MatchString(d)
				})
				if diff := cmp.Diff(c.wrote, wrote); diff != "" {
					t.Errorf("what the API server writes: %s", diff)
				}
				accepted := []string{"compatible", "added metadata.finalizers"}
				if diff := cmp.Diff(accepted, lines(admission.ComparePVC(claim, admitted, admission.Options{}))); diff != "" {
					t.Error(diff)
				}
				other := claim.DeepCopy()
				c.other(other)
				if r := admission.ComparePVC(claim, s.dryRunClaim(t, other), admission.Options{}); r.Compatible {
					t.Error("another value counts as the default")
				}
			})
		}
	})
}

func (s *server) dryRunClaim(t *testing.T, claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	t.Helper()
	o := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	admitted, err := s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(t.Context(), claim, o)
	if err != nil {
		t.Fatal(err)
	}
	return admitted
}
