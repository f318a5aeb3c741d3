package cluster

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	admin         = "admin"
	systemMasters = "system:masters" // the group for which no authorizer is asked
)

// Config returns the configuration of an administrator's client.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfig returns the path of an administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.file("kubeconfig") }

// ConfigFor returns the configuration of a client that is user, a member of groups. It may do what RBAC allows to
// either.
func (c *Cluster) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	config, err := c.clientConfig(c.server, user, groups)
	if err != nil {
		return nil, err
	}
	return clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
}

// KubeconfigFor writes to path what ConfigFor returns.
func (c *Cluster) KubeconfigFor(path, user string, groups ...string) error {
	return c.writeKubeconfig(path, c.server, user, groups)
}

// writeAdmin makes the administrator's configurations.
func (c *Cluster) writeAdmin() (err error) {
	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	if c.admin, err = c.ConfigFor(admin, systemMasters); err != nil {
		return err
	}
	return c.KubeconfigFor(c.Kubeconfig(), admin, systemMasters)
}

// client returns the harness's own client, which waits for answers and not for its turn.
func (c *Cluster) client() (kubernetes.Interface, error) {
	config := c.Config()
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

func (c *Cluster) writeKubeconfig(path, server, user string, groups []string) error {
	config, err := c.clientConfig(server, user, groups)
	if err != nil {
		return err
	}
	return clientcmd.WriteToFile(*config, path)
}

func (c *Cluster) clientConfig(server, user string, groups []string) (*clientcmdapi.Config, error) {
	cert, key, err := c.authority.issue(user, groups)
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate for %s: %w", user, err)
	}
	const name = "kandev-cluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: c.authority.pem}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	return config, nil
}
