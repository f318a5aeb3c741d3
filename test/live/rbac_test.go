package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// identity is what a manifest of k8s/rbac makes.
type identity struct {
	account corev1.ServiceAccount
	role    rbacv1.Role
	binding rbacv1.RoleBinding
}

// manifest reads the manifest of a workspace mode.
func manifest(t *testing.T, mode string) identity {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "k8s", "rbac", mode+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var id identity
	docs := strings.Split(string(data), "---\n")
	for i, into := range []any{&id.account, &id.role, &id.binding} {
		if err := yaml.UnmarshalStrict([]byte(docs[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// create creates the identity with its sessions in a namespace of the test's, and returns a kubeconfig of it.
func (id identity) create(t *testing.T, c *cluster.Cluster, client kubernetes.Interface, sessions string) string {
	t.Helper()
	id.account.Namespace = sessions + "-system"
	id.role.Namespace, id.binding.Namespace, id.binding.Subjects[0].Namespace = sessions, sessions, id.account.Namespace
	if err := c.CreateNamespace(t.Context(), id.account.Namespace, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ServiceAccounts(id.account.Namespace).Create(t.Context(), &id.account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RbacV1().Roles(sessions).Create(t.Context(), &id.role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RbacV1().RoleBindings(sessions).Create(t.Context(), &id.binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts(id.account.Namespace).CreateToken(t.Context(), id.account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
		*k.AuthInfos[k.Contexts[k.CurrentContext].AuthInfo] = clientcmdapi.AuthInfo{Token: token.Status.Token}
	})
}

// existing makes the claim of workspace mode existing_claim.
func existing(t *testing.T, client kubernetes.Interface, ns string) {
	t.Helper()
	_, err := client.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// modes are the arguments for each workspace mode.
var modes = map[string][]string{
	"managed_pvc":    {"--workspace-mode", "managed_pvc"},
	"empty_dir":      {"--workspace-mode", "empty_dir"},
	"existing_claim": {"--claim-name", "team"},
}

func probeReport(t *testing.T, r result) executor.ProbeReport {
	t.Helper()
	var report executor.ProbeReport
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v\n%s", err, r)
	}
	return report
}

// TestLeastPrivilege probes with exactly the manifest's rights, and with each single verb of it taken away: the probe must
// name it, as the rule that grants it.
func TestLeastPrivilege(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	for mode, args := range modes {
		t.Run(mode, func(t *testing.T) {
			ns := namespace(t, c, nil)
			existing(t, client, ns)
			id := manifest(t, mode)
			kubeconfig := id.create(t, c, client, ns)
			args := append([]string{"probe", "--no-pod", "--format", "json", "-n", ns, template(t, "")}, args...)
			r := run(t, kubeconfig, args...)
			report := probeReport(t, r)
			if r.code != 0 || !report.Passed || report.User != "system:serviceaccount:"+ns+"-system:kandev-executor" {
				t.Fatalf("%s", r)
			}
			for i, rule := range id.role.Rules {
				for _, verb := range rule.Verbs {
					reduced := manifest(t, mode).role
					reduced.Namespace = ns
					reduced.Rules[i].Verbs = slices.DeleteFunc(reduced.Rules[i].Verbs, func(v string) bool { return v == verb })
					if len(reduced.Rules[i].Verbs) == 0 {
						reduced.Rules = slices.Delete(reduced.Rules, i, i+1)
					}
					reduce(t, client, &reduced, report.User, verb, rule.Resources[0])
					r := run(t, kubeconfig, args...)
					want := executor.PolicyRule{APIGroups: rule.APIGroups, Resources: rule.Resources, Verbs: []string{verb}}
					var missing []executor.PolicyRule
					for _, s := range probeReport(t, r).Steps {
						if s.Verdict == executor.Fail {
							if s.Rule == nil || s.Reason != executor.Forbidden || !strings.Contains(s.Remedy, strings.Join(rule.Resources, "")) {
								t.Fatalf("%s", r)
							}
							missing = append(missing, *s.Rule)
						}
					}
					if diff := cmp.Diff([]executor.PolicyRule{want}, missing); diff != "" || r.code != 1 {
						t.Errorf("without %s %v: exit status %d\n%s", verb, rule.Resources, r.code, diff)
					}
				}
			}
		})
	}
}

// reduce updates a Role to one that lacks a permission, and waits until the authorizer goes by it.
func reduce(t *testing.T, client kubernetes.Interface, role *rbacv1.Role, user, verb, resource string) {
	t.Helper()
	if _, err := client.RbacV1().Roles(role.Namespace).Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	resource, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: role.Namespace, Verb: verb, Version: "v1", Resource: resource, Subresource: subresource,
		},
	}}
	eventually(t, "the authorizer has not seen the Role", func() bool {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		return err == nil && !answer.Status.Allowed
	})
}
