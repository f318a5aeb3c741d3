package live

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestProbeBehindProxies probes through proxies that speak HTTP, as load balancers do, and that carry no streams, or not all.
func TestProbeBehindProxies(t *testing.T) {
	c := node(t)
	for name, test := range map[string]struct {
		strips func(upgrade string) bool // whether a request to upgrade loses its headers
		code   int
		want   map[string]string
	}{
		"carries everything": {strips: func(string) bool { return false }, want: map[string]string{}},
		"no WebSocket": {
			strips: func(upgrade string) bool { return strings.EqualFold(upgrade, "websocket") },
			want:   map[string]string{"exec-websocket": "stream-refused, optional", "forward-websocket": "stream-refused, optional"},
		},
		"no SPDY": {
			strips: func(upgrade string) bool { return strings.EqualFold(upgrade, "SPDY/3.1") },
			want:   map[string]string{"exec-spdy": "stream-refused, optional", "forward-spdy": "stream-refused, optional"},
		},
		"no streams": {
			strips: func(string) bool { return true }, code: 1,
			want: map[string]string{
				"exec-websocket": "stream-refused", "exec-spdy": "stream-refused", "forward-websocket": "stream-refused", "forward-spdy": "stream-refused",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t, c, nil)
			kubeconfig := changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
				context := k.Contexts[k.CurrentContext]
				*k.Clusters[context.Cluster] = clientcmdapi.Cluster{Server: balancer(t, c.Config(), test.strips)}
				*k.AuthInfos[context.AuthInfo] = clientcmdapi.AuthInfo{}
			})
			r := run(t, kubeconfig, "probe", "--format", "json", "--workspace-mode", "empty_dir", "-n", ns, agent(t, "", busybox))
			report := probeReport(t, r)
			if diff := cmp.Diff(test.want, verdicts(report)); diff != "" || r.code != test.code {
				t.Errorf("exit status %d, %s\n%s%s", r.code, diff, plain(report), r.err)
			}
			if test.code != 0 && !strings.Contains(plain(report), "something between here and the node cannot carry streams") {
				t.Errorf("%s", plain(report))
			}
			leavesNothing(t, clientset(t, c), ns)
		})
	}
}

// balancer starts a reverse proxy that logs in to the API server by itself, and returns its URL.
func balancer(t *testing.T, config *rest.Config, strips func(upgrade string) bool) string {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if upgrade := r.In.Header.Get("Upgrade"); upgrade != "" && strips(upgrade) {
				for _, header := range []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version"} {
					r.Out.Header.Del(header)
				}
			}
		},
		Transport: &http.Transport{TLSClientConfig: tlsConfig},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// TestForwardProxy probes through a proxy that a kubeconfig names, as kubectl would.
func TestForwardProxy(t *testing.T) {
	c := node(t)
	ns := namespace(t, c, nil)
	var tunnels atomic.Int32
	kubeconfig := changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) {
		k.Clusters[k.Contexts[k.CurrentContext].Cluster].ProxyURL = tunnelling(t, &tunnels)
	})
	r := run(t, kubeconfig, "probe", "--workspace-mode", "empty_dir", "-n", ns, agent(t, "", busybox))
	if r.code != 0 || tunnels.Load() < 5 {
		t.Errorf("%d tunnels, %s", tunnels.Load(), r)
	}
}

// tunnelling starts a proxy for the method CONNECT, which counts its tunnels, and returns its URL.
func tunnelling(t *testing.T, tunnels *atomic.Int32) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, err := net.Dial("tcp", r.Host)
		if r.Method != http.MethodConnect || err != nil {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		tunnels.Add(1)
		w.WriteHeader(http.StatusOK)
		client, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(target, buffered); _ = target.Close() }()
		_, _ = io.Copy(client, target)
		_ = client.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestCredentials logs in in the ways that kubectl knows.
func TestCredentials(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	ns := namespace(t, c, nil)
	id := manifest(t, "empty_dir")
	var token string
	changed(t, id.create(t, c, client, ns), func(k *clientcmdapi.Config) { token = k.AuthInfos[k.Contexts[k.CurrentContext].AuthInfo].Token })
	credential, err := json.Marshal(map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": map[string]string{"token": token},
	})
	if err != nil {
		t.Fatal(err)
	}
	const account = ":kandev-executor"
	for name, test := range map[string]struct {
		change func(*clientcmdapi.AuthInfo)
		args   []string
		user   string
	}{
		"certificate": {change: func(*clientcmdapi.AuthInfo) {}, user: "admin"},
		"token":       {change: func(a *clientcmdapi.AuthInfo) { *a = clientcmdapi.AuthInfo{Token: token} }, user: account},
		"token file":  {change: func(a *clientcmdapi.AuthInfo) { *a = clientcmdapi.AuthInfo{TokenFile: write(t, "token", token)} }, user: account},
		"credential plugin": {change: func(a *clientcmdapi.AuthInfo) {
			*a = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
				Command: "cat", Args: []string{write(t, "credential", string(credential))},
			}}
		}, user: account},
		"impersonation": {
			change: func(*clientcmdapi.AuthInfo) {}, user: account,
			args: []string{"--as", "system:serviceaccount:" + ns + "-system:kandev-executor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := changed(t, c.Kubeconfig(), func(k *clientcmdapi.Config) { test.change(k.AuthInfos[k.Contexts[k.CurrentContext].AuthInfo]) })
			args := append([]string{"probe", "--no-pod", "--format", "json", "--workspace-mode", "empty_dir", "-n", ns, template(t, "")}, test.args...)
			r := run(t, kubeconfig, args...)
			report := probeReport(t, r)
			if r.code != 0 || !strings.HasSuffix(report.User, test.user) {
				t.Errorf("%s", r)
			}
			if strings.Contains(r.out+r.err, token) {
				t.Error("the token is printed")
			}
		})
	}
}
