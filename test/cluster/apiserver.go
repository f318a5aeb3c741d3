package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	readyTimeout = 3 * time.Minute
	pollInterval = 50 * time.Millisecond
)

// Everything that an API server does with a Pod is in its log, with both bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
`

// startAPIServer starts etcd and the API server, and returns when they are ready.
func (c *Cluster) startAPIServer(port int) error {
	if err := c.writeServerFiles(); err != nil {
		return err
	}
	etcdURL := "unix://" + c.file("etcd.sock") // which takes no port
	c.Etcd = &Process{
		c: c, name: "etcd", listen: "unix " + c.file("etcd.sock"),
		args: []string{
			c.programs["etcd"],
			"--data-dir=" + c.file("etcd"),
			"--listen-client-urls=" + etcdURL,
			"--advertise-client-urls=http://127.0.0.1:2379", // unused, but must be there, and not a socket
			"--listen-peer-urls=http://127.0.0.1:0",
			"--unsafe-no-fsync=true", // what it holds does not outlive it
			"--log-level=warn",
		},
	}
	c.APIServer = &Process{
		c: c, name: "kube-apiserver", listen: fmt.Sprintf("tcp 127.0.0.1:%d", port),
		args:  append([]string{c.programs["kube-apiserver"]}, c.apiServerFlags(etcdURL, port)...),
		ready: c.askReady,
	}
	if err := c.Etcd.Start(); err != nil {
		return err
	}
	return c.APIServer.Start()
}

// writeServerFiles writes the certificates and keys that are read by the API server and by those that talk to it.
func (c *Cluster) writeServerFiles() error {
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), nodeIP(), net.ParseIP(apiService)}
	cert, key, err := c.authority.issue("kube-apiserver", []string{systemMasters}, addresses...)
	if err != nil {
		return err
	}
	account, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	accountKey, err := keyPEM(account)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"ca.crt":              string(c.authority.pem),
		"apiserver.crt":       string(cert),
		"apiserver.key":       string(key),
		"service-account.key": string(accountKey),
		"admission.yaml":      c.options.AdmissionConfig,
		"audit-policy.yaml":   auditPolicy,
	} {
		if err := os.WriteFile(c.file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) apiServerFlags(etcdURL string, port int) []string {
	bindAddress := "127.0.0.1"
	if c.options.Node {
		bindAddress = "0.0.0.0" // of the node's namespace: Pods reach it at the node's address
	}
	flags := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=" + bindAddress,
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing=true",
		"--tls-cert-file=" + c.file("apiserver.crt"),
		"--tls-private-key-file=" + c.file("apiserver.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("service-account.key"),
		"--service-account-signing-key-file=" + c.file("service-account.key"),
		"--endpoint-reconciler-type=none", // no Endpoints name an address of loopback
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + c.file("ca.crt"),
		"--kubelet-client-certificate=" + c.file("apiserver.crt"),
		"--kubelet-client-key=" + c.file("apiserver.key"),
	}
	if c.options.Audit {
		flags = append(flags, "--audit-policy-file="+c.file("audit-policy.yaml"), "--audit-log-path="+c.AuditLog())
	}
	if c.options.AdmissionConfig != "" {
		flags = append(flags, "--admission-control-config-file="+c.file("admission.yaml"))
	}
	if len(c.options.RuntimeConfig) > 0 {
		flags = append(flags, "--runtime-config="+strings.Join(c.options.RuntimeConfig, ","))
	}
	return slices.Concat(flags, c.featureGates(), c.options.APIServerFlags)
}

// featureGates returns the flag of all programs of Kubernetes, or nothing.
func (c *Cluster) featureGates() []string {
	if len(c.options.FeatureGates) == 0 {
		return nil
	}
	var gates []string
	for _, gate := range slices.Sorted(maps.Keys(c.options.FeatureGates)) {
		gates = append(gates, fmt.Sprintf("%s=%t", gate, c.options.FeatureGates[gate]))
	}
	return []string{"--feature-gates=" + strings.Join(gates, ",")}
}

// askReady returns nil when the API server says that it is ready, which includes etcd.
func (c *Cluster) askReady(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	_, err = client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	return err
}

// awaitDefaultNamespace returns when the namespace "default" takes Pods.
func (c *Cluster) awaitDefaultNamespace(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, c.provideServiceAccount(ctx, client, metav1.NamespaceDefault)
	})
}

// CreateNamespace creates a namespace and returns when it takes Pods, which is when it has its service account.
func (c *Cluster) CreateNamespace(ctx context.Context, name string, labels map[string]string) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	return c.provideServiceAccount(ctx, client, name)
}

// provideServiceAccount waits for the controller of a node to create the account "default", and creates it where
// there is none.
func (c *Cluster) provideServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	accounts := client.CoreV1().ServiceAccounts(namespace)
	if !c.options.Node {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		_, err := accounts.Create(ctx, account, metav1.CreateOptions{})
		return err
	}
	return poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := accounts.Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func poll(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, pollInterval, readyTimeout, true, done)
}
