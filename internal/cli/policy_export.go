package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-podlint/pkg/namespacepolicy"
)

// policyExportCommand is one run of policy export.
type policyExportCommand struct {
	parameters namespacepolicy.Parameters
	companions []string // as NAME=IMAGE
}

func newPolicyExport() *cobra.Command {
	e := &policyExportCommand{}
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the admission policy of the sessions' namespace",
		Long: `Write the admission policy of the sessions' namespace as a manifest for kubectl: ValidatingAdmissionPolicies
that let the executor's identity, and nobody else, create Pods in which the named companions are privileged,
and that keep such Pods as they were created. The same flags give the same bytes. No cluster is asked.

Every Pod of the namespace is held to the baseline level of the Pod Security Standards, but for those
companions. Review the manifest before you apply it: a privileged container is root on its node.`,
		Example: `  kandev-podlint policy export -n kandev \
    --executor-identity system:serviceaccount:kandev-system:kandev-executor \
    --companion docker-engine=registry.example/dind@sha256:2c26... | kubectl apply -f -`,
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error { return e.run(c.OutOrStdout()) },
	}
	f := c.Flags()
	f.StringVarP(&e.parameters.Namespace, "namespace", "n", "", "`NAMESPACE` of the sessions")
	f.StringVar(&e.parameters.Executor, "executor-identity", "", "`USER` that the API server knows the executor as")
	f.StringArrayVar(&e.companions, "companion", nil, "companion that may be privileged, as `NAME=IMAGE@sha256:DIGEST`, repeatable")
	return c
}

func (e *policyExportCommand) run(stdout io.Writer) error {
	for _, text := range e.companions {
		companion, err := namespacepolicy.ParseCompanion(text)
		if err != nil {
			return unusable(fmt.Errorf("--companion: %w", err))
		}
		e.parameters.Companions = append(e.parameters.Companions, companion)
	}
	if err := e.check(); err != nil {
		return unusable(err)
	}
	manifest, err := namespacepolicy.Manifest(e.parameters)
	if err != nil {
		return err
	}
	_, err = stdout.Write(manifest)
	return err
}

// exportFlag is the flag that states a parameter.
var exportFlag = map[string]string{"namespace": "--namespace", "executor": "--executor-identity", "companions": "--companion"}

// check says everything that is wrong with the parameters, in the words of the flags.
func (e *policyExportCommand) check() error {
	var errs []error
	for _, err := range e.parameters.Validate() {
		parameter, _, _ := strings.Cut(err.Field, "[")
		errs = append(errs, fmt.Errorf("%s: %s", exportFlag[parameter], err.ErrorBody()))
	}
	return errors.Join(errs...)
}
