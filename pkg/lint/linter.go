package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/policy"
)

// Options say how to lint. The zero value lints with the pack, the defaults of a profile and whatever
// configuration stands above each file.
type Options struct {
	// Profile's values, where set, win over a profile document's and the configuration's.
	Profile compose.Profile
	// Base is the profile of templates that stand alone, where the configuration has none for them.
	Base compose.Profile
	// KubeVersion is the Kubernetes version meant, as 1.36; empty means the newest known.
	KubeVersion string
	// Policies are directories of a user's Rego, beside those of the configuration.
	Policies []string
	// Config replaces the search for configuration files.
	Config *Config
	// Baseline takes out what it accepts; nil accepts nothing.
	Baseline *Baseline
	// WithoutPolicies leaves policies alone: only what keeps a template from being composed is found.
	WithoutPolicies bool
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Now decides which excludes have expired; the zero value means the time of New.
	Now time.Time
}

// Linter lints files. It is safe for concurrent use.
type Linter struct {
	o          Options
	configs    configs
	evaluators evaluators
}

// New returns a Linter. Policies are compiled when the first template is found, not before.
func New(o Options) *Linter {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &Linter{o: o, configs: configs{fixed: o.Config}}
}

// maxFileBytes bounds what is read of a file: a profile may hold more than its template.
const maxFileBytes = 4 * compose.MaxTemplateBytes

// Paths lints files, directories, globs and "-" and hands on each file's results in path order. It
// stops at the first error, be it of a configuration or policy, of emit, or of the context; what is wrong
// with a file is a finding, not an error.
func (l *Linter) Paths(ctx context.Context, paths []string, emit func(FileResult) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	// The queue keeps the order and bounds how far the workers run ahead of emit.
	queue := make(chan *job, 16*workers)
	work := make(chan *job, 16*workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for j := range work {
				j.results, j.err = l.source(ctx, j.source)
				close(j.done)
			}
		})
	}
	running.Go(func() {
		defer close(queue)
		defer close(work)
		walk(paths, func(s source) bool {
			j := &job{source: s, done: make(chan struct{})}
			select {
			case <-ctx.Done():
				return false
			case queue <- j:
				work <- j
				return true
			}
		})
	})
	defer running.Wait()
	return drain(ctx, cancel, queue, emit)
}

// job is one file on its way through the workers.
type job struct {
	source  source
	results []FileResult
	err     error
	done    chan struct{}
}

// drain hands results on in order. After an error it lets the workers finish what they have.
func drain(ctx context.Context, cancel context.CancelFunc, queue <-chan *job, emit func(FileResult) error) error {
	var failed error
	for j := range queue {
		<-j.done
		if failed == nil {
			failed = j.err
		}
		for _, r := range j.results {
			if failed == nil {
				failed = emit(r)
			}
		}
		if failed != nil {
			cancel()
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// source lints one file.
func (l *Linter) source(ctx context.Context, s source) ([]FileResult, error) {
	name := s.path
	if name == Stdin {
		name = StdinName
	}
	if s.err != nil {
		return []FileResult{unreadable(name, s.err)}, nil
	}
	data, whole, err := l.read(s.path)
	if err != nil {
		return []FileResult{unreadable(name, plain(err))}, nil
	}
	if !whole && !s.named && !mentionsTemplate(data) {
		return []FileResult{{File: name, Skipped: true}}, nil
	}
	return l.Bytes(ctx, name, data, s.named)
}

// read reads a file as far as a template could go; whole reports whether that was all of it.
func (l *Linter) read(path string) (data []byte, whole bool, err error) {
	var from io.Reader = l.o.Stdin
	if path != Stdin {
		f, err := os.Open(path) //nolint:gosec // the user names the file
		if err != nil {
			return nil, false, err
		}
		defer f.Close() //nolint:errcheck // opened for reading
		if info, err := f.Stat(); err == nil {
			data = make([]byte, 0, min(info.Size()+1, maxFileBytes+1))
		}
		from = f
	}
	if from == nil {
		return nil, false, errors.New("there is no standard input")
	}
	buf := bytes.NewBuffer(data)
	n, err := io.Copy(buf, io.LimitReader(from, maxFileBytes+1))
	return buf.Bytes(), n <= maxFileBytes, err
}

// mentionsTemplate reports whether the start of a file too large to be a template names one.
func mentionsTemplate(data []byte) bool {
	head := data[:min(len(data), 64*1024)]
	return bytes.Contains(head, []byte(compose.TemplateKind)) || bytes.Contains(head, []byte("pod_template_"))
}

// Bytes lints one file's content under a name. A named file must hold a template; another is skipped
// when it does not.
func (l *Linter) Bytes(ctx context.Context, name string, data []byte, named bool) ([]FileResult, error) {
	if len(data) > maxFileBytes {
		_, violations := compose.ReadDocument(data)
		return []FileResult{l.broken(name, data, violations)}, nil
	}
	kind, doc, violations := compose.Recognize(data)
	switch {
	case kind == compose.KindOther && len(violations) == 0:
		return []FileResult{l.other(name, data, named)}, nil
	case doc == nil:
		return []FileResult{l.broken(name, data, violations)}, nil
	}
	config, err := l.configs.forFile(l.onDisk(name))
	if err != nil {
		return nil, err
	}
	if kind == compose.KindProfile {
		return l.profile(ctx, name, data, doc, config)
	}
	base := Override(l.o.Base, config.profile(l.onDisk(name)))
	r, err := l.template(ctx, name, data, doc, Override(base, l.o.Profile), config, nil)
	return []FileResult{r}, err
}

// onDisk is where a file's configuration is looked for: standard input's in the working directory.
func (l *Linter) onDisk(name string) string {
	if name == StdinName {
		return "stdin"
	}
	return name
}

// profile lints the template of a profile document.
func (l *Linter) profile(ctx context.Context, name string, data []byte, doc *compose.Document, config *Config) ([]FileResult, error) {
	p, violations := doc.ReadProfile()
	if p == nil || p.Template == nil && p.TemplateFile == "" {
		return []FileResult{l.broken(name, data, violations)}, nil
	}
	prof := Override(p.Profile, l.o.Profile)
	if p.Template != nil {
		r, err := l.template(ctx, name, data, p.Template, prof, config, violations)
		return []FileResult{r}, err
	}
	own := l.broken(name, data, violations)
	path := p.TemplateFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(name), path)
	}
	content, _, err := l.read(path)
	if err != nil {
		at := doc.Locate("config.pod_template_file")
		if !doc.Has("config.pod_template_file") {
			at = doc.Locate("pod_template_file")
		}
		r := unreadable(name, fmt.Errorf("the profile's pod_template_file %s: %w", p.TemplateFile, plain(err)))
		setPlace(&r.Findings[0], at)
		r.Content = data
		r.Findings = append(r.Findings, own.Findings...)
		return []FileResult{r}, nil
	}
	own.Templates = 0
	t, faults := compose.ReadDocument(content)
	if t == nil {
		return []FileResult{own, l.broken(path, content, faults)}, nil
	}
	r, err := l.template(ctx, path, content, t, prof, config, nil)
	return []FileResult{own, r}, err
}

// template lints one template document. The violations are those that its profile has already.
func (l *Linter) template(ctx context.Context, name string, data []byte, d *compose.Document, p compose.Profile,
	config *Config, violations []compose.Violation,
) (FileResult, error) {
	r := FileResult{File: name, Content: data, Templates: 1}
	t, more := d.Template()
	violations = append(violations, more...)
	if t != nil {
		r.Template, r.Profile = t.Spec, p
		violations = append(violations, t.Style...)
		violations = append(violations, t.Validate(p)...)
	}
	for _, v := range violations {
		r.Findings = append(r.Findings, fromViolation(v, d))
	}
	if t == nil {
		l.finish(&r, nil)
		return r, nil
	}
	if !l.o.WithoutPolicies {
		if err := l.policies(ctx, &r, t, config); err != nil {
			return r, err
		}
	}
	l.takeOut(&r, d, config, t.Object)
	l.finish(&r, t.Object)
	return r, nil
}

// policies adds what the policies find.
func (l *Linter) policies(ctx context.Context, r *FileResult, t *compose.Template, config *Config) error {
	evaluator, err := l.evaluators.get(ctx, l.policyDirs(config))
	if err != nil {
		return err
	}
	p := r.Profile.WithDefaults()
	found, err := evaluator.Eval(ctx, policy.Input{
		Object: t.Object, MainContainer: p.MainContainer, KubeVersion: l.o.KubeVersion,
		Platform: string(p.Platform), WorkspaceMode: string(p.Workspace.Mode),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	for _, f := range found {
		setPlace(&f, t.Document.Locate(f.Path))
		r.Findings = append(r.Findings, f)
	}
	return nil
}

// policyDirs lists the directories of a user's policies that count for a file.
func (l *Linter) policyDirs(config *Config) []string {
	return slices.Concat(config.policyDirs(), l.o.Policies)
}

// takeOut removes what configuration, comments and baseline accept. Only findings that are still there
// count as a use of a comment, so the configuration goes first.
func (l *Linter) takeOut(r *FileResult, d *compose.Document, config *Config, object map[string]any) {
	for i := range r.Findings {
		r.Findings[i].File = r.File
	}
	fingerprints(r.Findings, object)
	var n [3]int
	r.Findings, n[0] = config.apply(r.File, r.Findings, l.o.Now)
	r.Findings, n[1] = suppress(r.Findings, d, len(l.policyDirs(config)) > 0)
	r.Findings, n[2] = l.o.Baseline.apply(r.Findings)
	r.Suppressed += n[0] + n[1] + n[2]
}

// broken is the result of a file whose template could not be read.
func (l *Linter) broken(name string, data []byte, violations []compose.Violation) FileResult {
	r := FileResult{File: name, Content: data}
	for _, v := range violations {
		r.Findings = append(r.Findings, fromViolation(v, nil))
	}
	l.finish(&r, nil)
	return r
}

// finish completes and sorts the findings.
func (l *Linter) finish(r *FileResult, object map[string]any) {
	for i := range r.Findings {
		r.Findings[i].File = r.File
		if r.Findings[i].Source != finding.User {
			r.Findings[i].Docs = DocsURL(r.Findings[i].Rule)
		}
	}
	finding.Sort(r.Findings)
	fingerprints(r.Findings, object)
}

// other is the result of a file that holds no template.
func (l *Linter) other(name string, data []byte, named bool) FileResult {
	if !named {
		return FileResult{File: name, Skipped: true}
	}
	rule, message := RuleMissing, "the file holds neither a PodTemplate nor a profile with a template"
	if _, v := compose.ReadDocument(data); len(v) > 0 && v[0].Rule == compose.RuleDocumentEmpty {
		rule, message = v[0].Rule, v[0].Detail
	}
	return unusable(name, data, rule, message)
}

// unreadable is the result of a file that could not be read.
func unreadable(name string, err error) FileResult {
	return unusable(name, nil, RuleUnreadable, "cannot be read: "+err.Error())
}

// unusable is the result of an input that is none.
func unusable(name string, data []byte, rule, message string) FileResult {
	r, _ := Rule(rule)
	return FileResult{File: name, Content: data, Unusable: true, Findings: []finding.Finding{{
		Rule: rule, Severity: r.Severity, Source: r.Source, File: name,
		Message: message, Remediation: r.Remedy, Docs: DocsURL(rule), Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
	}}}
}
