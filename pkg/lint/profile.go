package lint

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// lintProfile lints the template of a profile document. Where that stands in a file of its own, the
// profile's result comes first.
func (f *file) lintProfile(ctx context.Context, doc *compose.Document) ([]FileResult, error) {
	p, violations := doc.ReadProfile()
	if p == nil || p.Template == nil && p.TemplateFile == "" {
		return []FileResult{f.withoutSource(doc, violations)}, nil
	}
	used := Override(p.Profile, f.linter.o.Profile)
	if p.Template != nil {
		r, err := f.lintTemplate(ctx, p.Template, doc, used, violations)
		return []FileResult{r}, err
	}
	own := broken(f.name, f.data, violations)
	t := file{linter: f.linter, config: f.config, name: f.templatePath(p.TemplateFile)}
	if err := t.read(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.cannotRead(&own, doc, p.TemplateFile, err)
		return []FileResult{own}, nil
	}
	f.takeOut(&own, nil, doc)
	d, faults := compose.ReadDocument(t.data)
	if d == nil {
		return []FileResult{own, broken(t.name, t.data, faults)}, nil
	}
	r, err := t.lintTemplate(ctx, d, nil, used, nil)
	return []FileResult{own, r}, err
}

// withoutSource is the result of a profile whose template could not be read or is not named.
func (f *file) withoutSource(doc *compose.Document, violations []compose.Violation) FileResult {
	r := broken(f.name, f.data, violations)
	if len(r.Findings) == 0 {
		x := ownFinding(compose.RuleProfile, "pod_template_file is empty, so the profile has no template")
		x.Remediation = "write the template's path, or the template itself under pod_template_yaml"
		setPlace(&x, locateKey(doc, "pod_template_file"))
		r.Findings = append(r.Findings, x)
		finish(&r, nil)
	}
	return r
}

// cannotRead adds that a profile's template file could not be read.
func (f *file) cannotRead(r *FileResult, doc *compose.Document, path string, err error) {
	x := ownFinding(RuleUnreadable, fmt.Sprintf("the profile's pod_template_file %s cannot be read: %v", path, plain(err)))
	setPlace(&x, locateKey(doc, "pod_template_file"))
	r.Findings = append(r.Findings, x)
	r.Unusable = true
	finish(r, nil)
}

// locateKey returns the place of a profile's key, which may stand under config:.
func locateKey(doc *compose.Document, key string) compose.Range {
	if below := "config." + key; doc.Has(below) {
		return doc.Locate(below)
	}
	return doc.Locate(key)
}

// templatePath is where a profile's template file is: relative to the profile.
func (f *file) templatePath(path string) string {
	if filepath.IsAbs(path) || f.name == StdinName {
		return path
	}
	return filepath.Join(filepath.Dir(f.name), path)
}

// read reads the file's content.
func (f *file) read(ctx context.Context) (err error) {
	if err = checkRegular(f.name); err == nil {
		f.data, err = readFile(ctx, f.name)
	}
	return err
}

// Override returns a profile with every value that another states written over it. Another workspace mode
// brings its own values only.
func Override(p, by compose.Profile) compose.Profile {
	p.MainContainer = cmp.Or(by.MainContainer, p.MainContainer)
	p.Platform = cmp.Or(by.Platform, p.Platform)
	w, over := p.Workspace, by.Workspace
	if over.Mode != "" && over.Mode != w.Mode {
		w = compose.Workspace{Mode: over.Mode}
	}
	w.ClaimName = cmp.Or(over.ClaimName, w.ClaimName)
	w.Size = cmp.Or(over.Size, w.Size)
	w.StorageClass = cmp.Or(over.StorageClass, w.StorageClass)
	if len(over.AccessModes) > 0 {
		w.AccessModes = over.AccessModes
	}
	p.Workspace = w
	return p
}
