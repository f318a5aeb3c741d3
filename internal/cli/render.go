package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// renderFormats are the formats of composed objects.
var renderFormats = []string{"yaml", "json"}

// renderCommand is one run of render.
type renderCommand struct {
	profile   *profileFlags
	output    *outputFlags
	identity  compose.Identity
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
every create request has its own.`,
		Example: `  kandev-podlint render template.yaml --show-owned
  kandev-podlint render profile.yaml --format json --output pod.json`,
		Args: arguments(1, 1, "TEMPLATE"),
		RunE: func(c *cobra.Command, args []string) error {
			return r.run(c.Context(), args[0], c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	r.profile = addProfileFlags(c)
	r.output = addOutputFlags(c, renderFormats)
	f := c.Flags()
	f.StringVar(&r.identity.InstanceID, "instance-id", "example-instance", "instance `ID`")
	f.StringVar(&r.identity.ExecutorID, "executor-id", "example-executor", "executor `ID`")
	f.StringVar(&r.identity.ProfileID, "profile-id", "example-profile", "profile `ID`")
	f.StringVar(&r.identity.TaskID, "task-id", "example-task", "task `ID`")
	f.StringVar(&r.identity.SessionID, "session-id", "example-session", "session `ID`")
	f.StringVar(&r.identity.EnvironmentID, "environment-id", "example-environment", "environment `ID`")
	f.StringVar(&r.identity.Name, "name", "", "the Pod's `NAME` (default made from the instance ID)")
	f.BoolVar(&r.nonce, "nonce", false, "put a fresh create nonce into each object")
	f.BoolVar(&r.showOwned, "show-owned", false, "mark the lines that are Kandev's (YAML only)")
	return c
}

func (r *renderCommand) run(ctx context.Context, file string, in io.Reader, stdout, stderr io.Writer) error {
	if err := r.checkShowOwned(); err != nil {
		return unusable(err)
	}
	loaded, err := r.load(ctx, file, in, stderr)
	if err != nil {
		return err
	}
	objects, err := compose.Compose(loaded.Template, loaded.Profile, r.identity)
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", loaded.File, err))
	}
	if r.nonce {
		addNonces(objects)
	}
	if r.output.verbose {
		sayProfile(stderr, loaded)
	}
	return r.output.write(stdout, each(func(t *target) error { return r.write(t, loaded.Template, objects) }))
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

// load reads the template of a file. Errors in it are printed as lint prints them.
func (r *renderCommand) load(ctx context.Context, file string, in io.Reader, stderr io.Writer) (*lint.FileResult, error) {
	o := lint.Options{WithoutPolicies: true, Stdin: in}
	var err error
	if o.Profile, err = r.profile.stated(); err != nil {
		return nil, err
	}
	if o.Base, err = r.profile.base(); err != nil {
		return nil, err
	}
	width, _ := terminal(stderr)
	printer, err := report.New("text", stderr, report.Options{Color: r.output.colored(stderr), Width: width, Rules: lint.Rule})
	if err != nil {
		return nil, err
	}
	l := loader{file: file, printer: printer}
	if err := lint.New(o).Paths(ctx, []string{file}, l.take); err != nil {
		return nil, unusable(err)
	}
	return l.only()
}

// loader keeps the one template of some files.
type loader struct {
	file    string // as the user named it
	printer report.Printer

	loaded           *lint.FileResult
	failed, unusable bool
}

// take takes one file's result, and prints what keeps its template from being composed.
func (l *loader) take(r lint.FileResult) error {
	if r.Template != nil {
		if l.loaded != nil {
			return fmt.Errorf("%s holds more than one template, %s and %s: name one", l.file, l.loaded.File, r.File)
		}
		l.loaded = &r
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Severity != finding.Error })
	l.failed = l.failed || len(r.Findings) > 0
	l.unusable = l.unusable || r.Unusable
	return l.printer.File(r)
}

// only returns the template, if there is one and it can be composed.
func (l *loader) only() (*lint.FileResult, error) {
	switch {
	case l.unusable:
		return nil, &exitError{code: ExitUnusable}
	case l.failed:
		return nil, &exitError{code: ExitFindings, err: fmt.Errorf("%s cannot be composed", l.file)}
	case l.loaded == nil:
		return nil, unusable(fmt.Errorf("no template found in %s", l.file))
	}
	return l.loaded, nil
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
