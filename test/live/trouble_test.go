package live

import (
	"context"
	"net"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kandev/kandev-podlint/test/live/webhook"
)

// TestTrouble demands exit status 3 and the right words where the cluster does not get as far as to judge the Pod.
func TestTrouble(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	hooks := webhook.Serve(t)
	nobody := t.TempDir() + "/nobody"
	if err := c.KubeconfigFor(nobody, "nobody"); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kubeconfig string // the administrator's where empty
		arrange    func(t *testing.T, namespace string)
		args       []string
		code       int
		said       string
	}{
		"forbidden": {
			kubeconfig: nobody, code: 3,
			said: `a permission is missing: pods is forbidden: User "nobody" cannot create resource "pods" in API group "" in the namespace`,
		},
		"wrong token": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				*k.AuthInfos[k.Contexts[k.CurrentContext].AuthInfo] = clientcmdapi.AuthInfo{Token: "wrong"}
			}), code: 3,
			said: "the API server does not accept the credentials: Unauthorized",
		},
		"credential plugin that fails": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				*k.AuthInfos[k.Contexts[k.CurrentContext].AuthInfo] = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
					Command: "false", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
				}}
			}), code: 3,
			said: "the API server does not accept the credentials: getting credentials: exec: executable false failed with exit code 1",
		},
		"nothing listens": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				k.Clusters[k.Contexts[k.CurrentContext].Cluster].Server = "https://" + unused(t)
			}), code: 3,
			said: "connect: connection refused",
		},
		"unknown authority": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				k.Clusters[k.Contexts[k.CurrentContext].Cluster].CertificateAuthorityData = hooks.Authority()
			}), code: 3,
			said: "the API server cannot be reached: tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
		"proxy that is not there": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				k.Clusters[k.Contexts[k.CurrentContext].Cluster].ProxyURL = "http://" + unused(t)
			}), code: 3,
			said: "the API server cannot be reached: proxyconnect tcp",
		},
		"no such host": {
			kubeconfig: changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				k.Clusters[k.Contexts[k.CurrentContext].Cluster].Server = "https://nowhere.invalid"
			}), code: 3,
			said: "the API server cannot be reached: dial tcp: lookup nowhere.invalid",
		},
		"namespace missing": {
			args: []string{"-n", "nowhere"}, code: 3,
			said: `the namespace does not exist: namespaces "nowhere" not found`,
		},
		"namespace ending": {
			arrange: func(t *testing.T, ns string) {
				finalize(t, ns)
				if err := client.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}, code: 3,
			said: "because it is being terminated",
		},
		"webhook unreachable": {
			arrange: func(t *testing.T, ns string) {
				hooks.Validating(t, client, ns, "gone.example.com", func(w *admissionv1.ValidatingWebhook) {
					w.ClientConfig.URL = new("https://" + unused(t))
				}, nil)
			}, code: 3,
			said: `a webhook did not answer: Internal error occurred: failed calling webhook "gone.example.com"`,
		},
		"context that is not there": {
			args: []string{"--context", "nowhere"}, code: 2,
			said: `kubeconfig: context "nowhere" does not exist`,
		},
		"kubeconfig that is not there": {
			args: []string{"--kubeconfig", "nowhere"}, code: 2,
			said: "nowhere: no such file or directory",
		},
		"no kubeconfig": {
			kubeconfig: "/dev/null", code: 2,
			said: "there is no kubeconfig and no service account of a Pod",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, c, nil)
			if test.arrange != nil {
				test.arrange(t, ns)
			}
			kubeconfig := test.kubeconfig
			if kubeconfig == "" {
				kubeconfig = c.Kubeconfig()
			}
			args := append([]string{"diff", "--live", "--workspace-mode", "empty_dir", "-n", ns, template(t, "")}, test.args...)
			if r := run(t, kubeconfig, args...); r.code != test.code || !strings.Contains(r.out+r.err, test.said) {
				t.Errorf("%s\nwant status %d and %q", r, test.code, test.said)
			}
		})
	}
}

// changed returns a kubeconfig that differs from another.
func changed(t *testing.T, kubeconfig string, change func(*clientcmdapi.Config)) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// unused is an address on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// finalize keeps a namespace in the state Terminating until the test ends.
func finalize(t *testing.T, ns string) {
	t.Helper()
	client := clientset(t, api(t))
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stay", Finalizers: []string{"example.com/stay"}}}
	if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		config.Finalizers = nil
		_, _ = client.CoreV1().ConfigMaps(ns).Update(context.Background(), config, metav1.UpdateOptions{})
	})
}
