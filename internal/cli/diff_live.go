package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/admission"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

// runLive composes a template, has the cluster try the objects, and compares.
func (d *diffCommand) runLive(ctx context.Context, file string, s Streams) error {
	loaded, err := d.profile.load(ctx, file, s, d.output.colored(s.Err))
	if err != nil {
		return err
	}
	client, namespace, err := d.cluster.connect()
	if err != nil {
		return err
	}
	identity := exampleIdentity()
	identity.Namespace = namespace
	objects, err := compose.Compose(loaded.Template, loaded.Profile, identity)
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", loaded.File, err))
	}
	if d.output.verbose {
		sayProfile(s.Err, loaded)
		fmt.Fprintf(s.Err, "dry run in namespace %s of %s\n", namespace, client.Host()) //nolint:errcheck // nothing depends on it
	}
	r, err := d.tryObjects(ctx, client, objects, loaded.Profile.WithDefaults().MainContainer)
	if err != nil {
		return clusterError(err)
	}
	return d.report(s.Out, r)
}

// tryObjects sends the dry runs and compares what comes of them. An object that the API server refuses is part of the result.
func (d *diffCommand) tryObjects(ctx context.Context, client *executor.Client, o compose.Objects, main string) (report.Comparison, error) {
	options := admission.Options{MainContainer: main, Warnings: d.warnings(ctx, main)}
	var r report.Comparison
	pod, err := client.DryRunPod(ctx, o.Pod)
	r.Warnings = append(r.Warnings, pod.Warnings...)
	if err := r.Refuse(o.Pod.Kind, err); err != nil {
		return r, err
	}
	if err == nil {
		if r.Report, err = admission.ComparePod(pod.Requested, pod.Admitted, options); err != nil {
			return r, err
		}
	}
	if o.Claim != nil {
		claim, err := client.DryRunClaim(ctx, o.Claim)
		r.Warnings = append(r.Warnings, claim.Warnings...)
		if err := r.Refuse(o.Claim.Kind, err); err != nil {
			return r, err
		}
		if err == nil {
			addClaim(&r.Report, admission.ComparePVC(claim.Requested, claim.Admitted, options))
		}
	}
	return r.Complete(), nil
}

// getObjects gets the Pod of --pod, and the claim that the requested one names.
func (d *diffCommand) getObjects(ctx context.Context, requested *objects) (*objects, error) {
	before, name, qualified := strings.Cut(d.pod, "/")
	if !qualified {
		before, name = "", before
	}
	if name == "" || qualified && before == "" || strings.Contains(name, "/") {
		return nil, errors.New("--pod takes NAME or NAMESPACE/NAME")
	}
	client, namespace, err := d.cluster.connect()
	if err != nil {
		return nil, err
	}
	namespace = cmp.Or(before, namespace)
	o := &objects{}
	if o.pod, err = client.GetPod(ctx, namespace, name); err != nil {
		return nil, clusterError(err)
	}
	if requested.claim != nil {
		if o.claim, err = client.GetClaim(ctx, namespace, requested.claim.Name); err != nil {
			return nil, clusterError(err)
		}
	}
	requested.withNonceOf(o)
	return o, nil
}
