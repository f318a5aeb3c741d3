package cluster_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kandev/kandev-podlint/test/cluster"
)

func client(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	config.QPS = -1
	config.Timeout = 30 * time.Second
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: cluster.BusyboxImage}}},
	}
}

// The clusters run side by side.
func TestAPIServer(t *testing.T) {
	versions, err := cluster.TestVersions()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{Version: version, Audit: true})
			client := client(t, c.Config())

			server, err := client.Discovery().ServerVersion()
			if err != nil {
				t.Fatal(err)
			}
			if server.GitVersion != c.Version() || server.Major+"."+server.Minor != version {
				t.Errorf("server says %+v; want %s, of minor %s", server, c.Version(), version)
			}

			pods := client.CoreV1().Pods("default")
			dry, err := pods.Create(t.Context(), testPod("dry"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				t.Fatal(err)
			}
			if dry.Spec.ServiceAccountName != "default" || dry.Spec.DNSPolicy != corev1.DNSClusterFirst {
				t.Errorf("a dry run lacks defaults: %+v", dry.Spec)
			}
			if _, err := pods.Get(t.Context(), "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("a dry run left a Pod: %v", err)
			}
			created, err := pods.Create(t.Context(), testPod("real"), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := pods.Get(t.Context(), "real", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(created, got); diff != "" {
				t.Errorf("the Pod that was created is not the one that is there (-created +got):\n%s", diff)
			}

			audit, err := os.ReadFile(c.AuditLog())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(audit), `"requestObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"real"`) {
				t.Error("the audit log lacks the body of the request")
			}
		})
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ctx := t.Context()
	if err := c.CreateNamespace(ctx, "team", nil); err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/kubeconfig"
	if err := c.KubeconfigFor(path, "alice", "developers"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	alice := client(t, config)
	if _, err := alice.CoreV1().Pods("team").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v; want it forbidden", err)
	}

	admin := client(t, c.Config())
	if _, err := admin.RbacV1().Roles("team").Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "look"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().RoleBindings("team").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "look"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "look"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "developers"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The API server learns of roles by a watch.
	eventually(t, func() error {
		_, err := alice.CoreV1().Pods("team").List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := alice.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("in another namespace: %v; want it forbidden", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	versions, err := cluster.Versions()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.Start(t, cluster.Options{
		Version:        versions[0],
		APIServerFlags: []string{"--disable-admission-plugins=ServiceAccount"},
		AdmissionConfig: `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline}
`,
		FeatureGates:  map[string]bool{"MutatingAdmissionPolicy": true},
		RuntimeConfig: []string{"admissionregistration.k8s.io/v1beta1=true"},
	})
	client := client(t, c.Config())

	resources, err := client.Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range resources.APIResources {
		names = append(names, resources.APIResources[i].Name)
	}
	if !strings.Contains(fmt.Sprint(names), "mutatingadmissionpolicies") {
		t.Errorf("served are %s; want mutatingadmissionpolicies", names)
	}

	pods := client.CoreV1().Pods("default")
	pod, err := pods.Create(t.Context(), testPod("plain"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(pod.Spec.Volumes) != 0 {
		t.Errorf("the ServiceAccount plugin is on: %+v", pod.Spec.Volumes)
	}
	privileged := testPod("privileged")
	privileged.Spec.HostNetwork = true
	_, err = pods.Create(t.Context(), privileged, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "baseline:latest": host namespaces`) {
		t.Errorf("a Pod with the host's network: %v; want it denied by PodSecurity", err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	config := c.Config()
	config.Timeout = 10 * time.Second // with etcd paused, a request does not end by itself
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) error {
		_, err := client.CoreV1().Pods("default").Create(t.Context(), testPod(name), metav1.CreateOptions{})
		return err
	}
	// The client sends a request again where the server asks it to, and so does eventually: that it exists already
	// can be by an attempt that seemed to fail.
	exists := func(name string) error {
		if err := create(name); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	do(exists("before"))
	do(c.Etcd.Pause())
	if err := create("paused"); err == nil || apierrors.IsAlreadyExists(err) {
		t.Errorf("a Pod was created while etcd was paused: %v", err)
	}
	do(c.Etcd.Resume())
	eventually(t, func() error { return exists("resumed") })

	do(c.APIServer.Stop())
	if err := create("stopped"); err == nil {
		t.Error("a Pod was created without an API server")
	}
	do(c.APIServer.Start())
	do(exists("started"))
	do(c.APIServer.Restart())
	if _, err := client.CoreV1().Pods("default").Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	do(c.Etcd.Restart())
	eventually(t, func() error { return exists("restarted") })
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options cluster.Options
		want    []string
	}{
		{
			"version",
			cluster.Options{Version: "1.20"},
			[]string{"versions/1.20/go.mod: no such file"},
		},
		{
			"node of another version",
			cluster.Options{Version: "1.34", Node: true},
			[]string{"a node is of Kubernetes 1.36, not 1.34"},
		},
		{
			"flag",
			cluster.Options{APIServerFlags: []string{"--unknown"}},
			[]string{"start kube-apiserver: ended with exit status 1", "the end of its log:", "unknown flag: --unknown"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := cluster.New(t.Context(), tt.options)
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// eventually calls f until it succeeds, for some minutes at most: machines can be busy.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatal(err)
		case <-tick.C:
		}
	}
}
