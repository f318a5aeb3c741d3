package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what kubectl can log in with, so can we
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

// clusterFlags say which cluster is meant, in kubectl's words and by its rules.
type clusterFlags struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
}

// addClusterFlags adds kubectl's flags.
func addClusterFlags(c *cobra.Command) *clusterFlags {
	f := &clusterFlags{rules: clientcmd.NewDefaultClientConfigLoadingRules()}
	flags := c.Flags()
	flags.StringVar(&f.rules.ExplicitPath, "kubeconfig", "", "kubeconfig `FILE` (default $KUBECONFIG, ~/.kube/config, or the Pod's own account)")
	flags.StringVar(&f.overrides.CurrentContext, "context", "", "`CONTEXT` of the kubeconfig")
	flags.StringVar(&f.overrides.Context.Cluster, "cluster", "", "`CLUSTER` of the kubeconfig")
	flags.StringVar(&f.overrides.Context.AuthInfo, "user", "", "`USER` of the kubeconfig")
	flags.StringVarP(&f.overrides.Context.Namespace, "namespace", "n", "", "`NAMESPACE` (default the context's)")
	flags.StringVar(&f.overrides.AuthInfo.Impersonate, "as", "", "`USER` to impersonate")
	flags.StringArrayVar(&f.overrides.AuthInfo.ImpersonateGroups, "as-group", nil, "`GROUP` to impersonate, repeatable")
	flags.StringVar(&f.overrides.Timeout, "request-timeout", "", fmt.Sprintf("`TIME` that one request may take, such as 10s (default %s)", executor.DefaultRequestTimeout))
	return f
}

// config is the kubeconfig with the flags' changes.
func (f *clusterFlags) config() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(f.rules, &f.overrides)
}

// absent reports whether no cluster is named: there is no kubeconfig, and this is no Pod.
func (f *clusterFlags) absent() bool {
	_, err := f.config().ClientConfig()
	return clientcmd.IsEmptyConfig(err)
}

// connect returns a client and the namespace that is meant. Nothing is sent yet.
func (f *clusterFlags) connect() (*executor.Client, string, error) {
	quietClient()
	config := f.config()
	namespace, _, err := config.Namespace()
	if err != nil {
		return nil, "", unusable(kubeconfigError(err))
	}
	settings, err := config.ClientConfig()
	if err == nil {
		err = f.complete(settings)
	}
	if err != nil {
		return nil, "", unusable(kubeconfigError(err))
	}
	settings.UserAgent = fmt.Sprintf("kandev-podlint/%s (%s/%s)", toolVersion(), runtime.GOOS, runtime.GOARCH)
	client, err := executor.NewClient(settings)
	return client, namespace, unusable(err)
}

// complete applies the flags that client-go passes over where it takes the account of a Pod.
func (f *clusterFlags) complete(settings *rest.Config) (err error) {
	if as := f.overrides.AuthInfo; settings.Impersonate.UserName == "" {
		settings.Impersonate.UserName, settings.Impersonate.Groups = as.Impersonate, as.ImpersonateGroups
	}
	if f.overrides.Timeout != "" {
		settings.Timeout, err = clientcmd.ParseTimeout(f.overrides.Timeout)
	}
	return err
}

func kubeconfigError(err error) error {
	if clientcmd.IsEmptyConfig(err) {
		return errors.New("there is no kubeconfig and no service account of a Pod: name a cluster with --kubeconfig or $KUBECONFIG")
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// quietClient keeps the client library's own log from the streams: what it has to say comes back as errors. Turning its standard
// error off would leave the errors of its log there.
func quietClient() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) }

// clusterError marks an error of the cluster with its exit status: what the API server refuses is a finding, everything else
// its trouble.
func clusterError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*executor.Error](err); ok {
		if remedy := e.Remedy(); remedy != "" {
			err = fmt.Errorf("%w\n%s", err, remedy)
		}
		if e.Reason.Refusal() {
			return &exitError{code: ExitFindings, err: err}
		}
	}
	return &exitError{code: ExitCluster, err: err}
}
