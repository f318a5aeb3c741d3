package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// renderFormats are the formats of composed objects.
var renderFormats = []string{"yaml", "json"}

// renderCommand is one run of render.
type renderCommand struct {
	profile   *profileFlags
	output    *outputFlags
	identity  compose.Identity
	images    []string
	nonce     bool
	showOwned bool
}

func newRender() *cobra.Command {
	r := &renderCommand{}
	c := &cobra.Command{
		Use:   "render TEMPLATE",
		Short: "Show the Pod, and the managed claim, that Kandev composes from a template",
		Long: `Show the Pod, and for workspace mode managed_pvc the claim, that Kandev composes from a template or a
profile with a template. The same input gives the same bytes. No create nonce is shown unless asked for:
every create request has its own. Placeholders for digests are shown as they stand, unless --set-image says
which images are deployed: then every image must have its digest.`,
		Example: `  kandev-podlint render template.yaml --show-owned
  kandev-podlint render template.yaml --set-image kandev-agent=registry.example/agent:1.4@sha256:8f1a...
  kandev-podlint render profile.yaml --format json --output pod.json`,
		Args: arguments(1, 1, "TEMPLATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return r.run(c.Context(), args[0], c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	r.profile = addProfileFlags(c)
	r.output = addOutputFlags(c, renderFormats)
	f := c.Flags()
	r.identity = exampleIdentity()
	addIdentityFlags(f, &r.identity)
	f.StringArrayVar(&r.images, "set-image", nil, "`NAME=IMAGE@DIGEST` of a container, repeatable; refuses placeholders and images without a digest")
	if err := c.RegisterFlagCompletionFunc("set-image", r.completeImages); err != nil {
		panic(err) // the flag does not exist: a fault of this program
	}
	f.BoolVar(&r.nonce, "nonce", false, "put a fresh create nonce into each object")
	f.BoolVar(&r.showOwned, "show-owned", false, "mark the lines that are Kandev's (YAML only)")
	return c
}

// exampleIdentity is whose session is composed where nobody says.
func exampleIdentity() compose.Identity {
	return compose.Identity{
		InstanceID: "example-instance", ExecutorID: "example-executor", ProfileID: "example-profile",
		TaskID: "example-task", SessionID: "example-session", EnvironmentID: "example-environment",
	}
}

func (r *renderCommand) run(ctx context.Context, file string, in io.Reader, stdout, stderr io.Writer) error {
	if err := r.checkShowOwned(); err != nil {
		return unusable(err)
	}
	loaded, err := r.profile.load(ctx, file, Streams{In: in, Err: stderr}, r.output.colored(stderr))
	if err != nil {
		return err
	}
	template := loaded.Template
	if len(r.images) > 0 {
		if template, err = setImages(loaded, r.images); err != nil {
			return unusable(err)
		}
	}
	objects, err := compose.Preview(template, loaded.Profile, r.identity)
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", loaded.File, err))
	}
	if r.nonce {
		addNonces(objects)
	}
	if r.output.verbose {
		sayProfile(stderr, loaded)
	}
	return r.output.write(stdout, each(func(t *target) error { return r.write(t, template, objects) }))
}

// checkShowOwned refuses marks where they have no place: JSON knows no comments.
func (r *renderCommand) checkShowOwned() error {
	requests, err := r.output.requests()
	if err != nil || !r.showOwned {
		return err
	}
	for _, q := range requests {
		if q.format != "yaml" {
			return fmt.Errorf("--show-owned marks lines with comments, which %s has not: use --format yaml", q.format)
		}
	}
	return nil
}

// addNonces gives each object a create nonce of its own.
func addNonces(o compose.Objects) {
	compose.SetNonce(o.Pod, compose.NewNonce())
	if o.Claim != nil {
		compose.SetNonce(o.Claim, compose.NewNonce())
	}
}

// sayProfile says with which profile a template is composed.
func sayProfile(w io.Writer, r *lint.FileResult) {
	p := r.Profile.WithDefaults()
	fmt.Fprintf(w, "%s: main container %s, platform %s, workspace %s\n", //nolint:errcheck // nothing depends on it
		r.File, p.MainContainer, p.Platform, p.Workspace.Mode)
}

// write prints the objects in the target's format.
func (r *renderCommand) write(t *target, template *corev1.PodTemplateSpec, objects compose.Objects) error {
	var all []any
	if objects.Claim != nil {
		all = append(all, objects.Claim)
	}
	all = append(all, objects.Pod)
	if t.format == "json" {
		return writeJSON(t.w, all)
	}
	for i, o := range all {
		text, err := objectYAML(o)
		if err != nil {
			return err
		}
		if r.showOwned {
			if text, err = markOwned(text, template, o); err != nil {
				return err
			}
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := t.w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, all []any) error {
	var out any = map[string]any{"apiVersion": "v1", "kind": "List", "items": all}
	if len(all) == 1 {
		out = all[0]
	}
	m, err := withoutStatus(out)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(m)
}

// objectYAML writes an object as it is sent: status is the API server's.
func objectYAML(o any) ([]byte, error) {
	m, err := withoutStatus(o)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(m)
}

// withoutStatus returns an object, or a list of them, as generic JSON without the empty status.
func withoutStatus(o any) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	delete(m, "status")
	items, _ := m["items"].([]any)
	for _, item := range items {
		if item, ok := item.(map[string]any); ok {
			delete(item, "status")
		}
	}
	return m, nil
}
