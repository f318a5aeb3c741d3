package lint

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/policy"
)

// Options say how to lint. The zero value lints with the pack, the defaults of a profile and whatever
// configuration stands above each file.
type Options struct {
	// Profile's values, where set, win over every other profile's.
	Profile compose.Profile
	// Base is the profile of templates that stand alone. Its values, where set, win over the configuration's.
	Base compose.Profile
	// KubeVersion is the Kubernetes version meant, as 1.36; empty means the newest known.
	KubeVersion string
	// Policies are directories of a user's Rego, beside those of the configuration.
	Policies []string
	// Select chooses among the rules of policies.
	Select Selection
	// Config replaces the search for configuration files.
	Config *Config
	// Baseline takes out what it accepts; nil accepts nothing.
	Baseline *Baseline
	// Deployable also demands that every image names a digest that a registry can have.
	Deployable bool
	// WithoutPolicies finds only what keeps a template from being composed: no policies, and nothing taken out.
	WithoutPolicies bool
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Now decides which excludes have expired; the zero value means the time of New.
	Now time.Time
}

// Linter lints files. It is safe for concurrent use.
type Linter struct {
	o          Options
	minor      int // of Options.KubeVersion, 0 where there is none
	configs    configs
	evaluators evaluators
}

// New returns a Linter. Policies are compiled when the first template is found, not before.
func New(o Options) *Linter {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &Linter{o: o, minor: minorOf(o.KubeVersion), configs: configs{fixed: o.Config}}
}

// minorOf returns 36 for 1.36, and 0, the newest, for what is no version.
func minorOf(version string) int {
	minor, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(version, "v"), "1."))
	return minor
}

// source lints one file.
func (l *Linter) source(ctx context.Context, s source) ([]FileResult, error) {
	name, data, err := s.path, []byte(nil), s.err
	switch {
	case err != nil:
	case s.path == Stdin:
		name = StdinName
		data, err = l.readStdin()
	default:
		data, err = readFile(ctx, s.path)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return []FileResult{unreadable(name, plain(err))}, nil
	}
	return l.Bytes(ctx, name, data, s.named)
}

// Bytes lints one file's content under a name. A named file must hold a template; another is skipped
// when it does not. The error is a *ConfigError where the file's configuration cannot be used.
func (l *Linter) Bytes(ctx context.Context, name string, data []byte, named bool) ([]FileResult, error) {
	if len(data) > maxFileBytes {
		return []FileResult{oversizedFile(name, data, named)}, nil
	}
	kind, doc, violations := compose.Recognize(data)
	switch {
	case kind == compose.KindOther && len(violations) == 0:
		return []FileResult{withoutTemplate(name, data, named)}, nil
	case doc == nil && !named && isForeign(name, data):
		return []FileResult{skipped(name)}, nil
	case doc == nil:
		return []FileResult{broken(name, data, violations)}, nil
	}
	config, err := l.configs.forFile(name)
	if err != nil {
		return nil, err
	}
	f := file{linter: l, config: config, name: name, data: data}
	if kind == compose.KindProfile {
		return f.lintProfile(ctx, doc)
	}
	r, err := f.lintTemplate(ctx, doc, nil, Override(Override(config.profile(name), l.o.Base), l.o.Profile), nil)
	return []FileResult{r}, err
}

// isForeign reports whether a file that cannot be read is none of ours: programs keep much in .json files
// that is not quite JSON.
func isForeign(name string, data []byte) bool {
	return strings.EqualFold(filepath.Ext(name), ".json") && !mentionsTemplate(data)
}

// file is one file that is being linted.
type file struct {
	linter *Linter
	config *Config // nil where there is none
	name   string
	data   []byte
}

// lintTemplate lints one template document. Profile is the document of the profile that it stands in, nil
// where it stands alone; violations are what that profile has already.
func (f *file) lintTemplate(ctx context.Context, d, profile *compose.Document, p compose.Profile,
	violations []compose.Violation,
) (FileResult, error) {
	r := FileResult{File: f.name, Content: f.data, Templates: 1}
	var policies *compilation
	if !f.linter.o.WithoutPolicies {
		policies = f.linter.evaluators.start(ctx, f.policyDirs())
	}
	d.Minor = f.linter.minor
	t, more := d.Template()
	violations = append(violations, more...)
	if t != nil {
		r.Template, r.Profile = t.Spec, p
		violations = slices.Concat(violations, t.Style, t.Validate(p))
		if f.linter.o.Deployable {
			violations = append(violations, compose.Deployable(t.Spec, p)...)
		}
	}
	for _, v := range violations {
		r.Findings = append(r.Findings, fromViolation(v, d))
	}
	if t == nil {
		finish(&r, nil)
		return r, nil
	}
	if policies != nil {
		if err := f.evaluate(ctx, &r, t, policies); err != nil {
			return r, err
		}
	}
	f.takeOut(&r, t.Object, d, profile)
	return r, nil
}

// evaluate adds what the policies find.
func (f *file) evaluate(ctx context.Context, r *FileResult, t *compose.Template, policies *compilation) error {
	e, err := policies.wait()
	if err != nil {
		return err
	}
	p := r.Profile.WithDefaults()
	found, err := e.Eval(ctx, policy.Input{
		Object: t.Object, MainContainer: p.MainContainer, KubeVersion: f.linter.o.KubeVersion,
		Platform: string(p.Platform), WorkspaceMode: string(p.Workspace.Mode), Parameters: f.config.parameters(),
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.Unusable = true
		r.Findings = append(r.Findings, ownFinding(RulePolicyFailed, "a policy failed on this template: "+err.Error()))
	}
	for _, x := range found {
		if !f.linter.o.Select.includes(x.Rule, x.Source) {
			continue
		}
		setPlace(&x, t.Document.Locate(x.Path))
		r.Findings = append(r.Findings, x)
	}
	return nil
}

// policyDirs lists the directories of a user's policies that count for the file.
func (f *file) policyDirs() []string {
	return slices.Concat(f.config.PolicyDirs(), f.linter.o.Policies)
}

// takeOut removes what configuration, comments and baseline accept, and finishes the result. Only findings
// that are still there count as a use of a comment, so the configuration goes first.
func (f *file) takeOut(r *FileResult, object map[string]any, docs ...*compose.Document) {
	finish(r, object)
	if f.linter.o.WithoutPolicies {
		return
	}
	var n [3]int
	r.Findings, n[0] = f.config.apply(r.File, r.Findings, f.linter.o.Now)
	r.Findings, n[1] = suppress(r.Findings, docs, f.linter.o.Select, len(f.policyDirs()) > 0)
	r.Findings, n[2] = f.linter.o.Baseline.apply(r.File, r.Findings)
	r.Suppressed += n[0] + n[1] + n[2]
	finish(r, nil) // what is wrong with suppressions and excludes has come in
}

// finish completes and sorts the findings; the object is the document that their paths lead into.
func finish(r *FileResult, object map[string]any) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.File = r.File
		if f.Docs == "" && f.Source != finding.User {
			f.Docs = DocsURL(f.Rule)
		}
	}
	finding.Sort(r.Findings)
	fingerprints(r.Findings, object)
}

// broken is the result of a file whose template could not be read.
func broken(name string, data []byte, violations []compose.Violation) FileResult {
	r := FileResult{File: name, Content: data}
	for _, v := range violations {
		r.Findings = append(r.Findings, fromViolation(v, nil))
	}
	finish(&r, nil)
	return r
}

// oversizedFile is the result of a file that no template or profile needs.
func oversizedFile(name string, data []byte, named bool) FileResult {
	if !named && !mentionsTemplate(data) {
		return skipped(name)
	}
	r := unusable(name, data, compose.RuleDocumentSize,
		fmt.Sprintf("the file has more than %d bytes; a template may have %d", maxFileBytes, compose.MaxTemplateBytes))
	r.Unusable = false
	return r
}

// withoutTemplate is the result of a file that holds no template.
func withoutTemplate(name string, data []byte, named bool) FileResult {
	if !named {
		return skipped(name)
	}
	rule, message := RuleMissing, "the file holds neither a PodTemplate nor a profile with a template"
	if _, v := compose.ReadDocument(data); len(v) > 0 && v[0].Rule == compose.RuleDocumentEmpty {
		rule, message = v[0].Rule, v[0].Detail
	}
	return unusable(name, data, rule, message)
}

func skipped(name string) FileResult { return FileResult{File: name, Skipped: true} }

// unreadable is the result of a file that could not be read. It has no place to show.
func unreadable(name string, err error) FileResult {
	r := unusable(name, nil, RuleUnreadable, "cannot be read: "+err.Error())
	setPlace(&r.Findings[0], compose.Range{})
	return r
}

// unusable is the result of an input that is none.
func unusable(name string, data []byte, rule, message string) FileResult {
	r := FileResult{File: name, Content: data, Unusable: true, Findings: []finding.Finding{ownFinding(rule, message)}}
	finish(&r, nil)
	return r
}

// ownFinding is a finding about a whole file, with the remedy of its rule.
func ownFinding(rule, message string) finding.Finding {
	r, _ := Rule(rule)
	return finding.Finding{
		Rule: rule, Severity: r.Severity, Source: r.Source, Message: message, Remediation: remedyOf(r),
		Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
	}
}

// remedyOf writes a rule's remedy as findings have it: a clause, not a sentence.
func remedyOf(r finding.Rule) string {
	if r.Remedy == "" {
		return ""
	}
	return strings.ToLower(r.Remedy[:1]) + strings.TrimSuffix(r.Remedy[1:], ".")
}
