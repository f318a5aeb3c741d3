package compose

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// ProfileDocument is a profile as it stands in a file.
type ProfileDocument struct {
	Document *Document
	Profile  Profile // as written, defaults not filled in
	// Template is the document in pod_template_yaml, nil where there is none or it could not be read.
	Template *Document
	// TemplateFile is pod_template_file, relative to the profile's file; "" where there is none.
	TemplateFile string
}

// profileFields is what this project reads in a profile; other keys are somebody else's.
type profileFields struct {
	Profile         `json:",inline"`
	PodTemplateYAML string `json:"pod_template_yaml"`
	PodTemplateFile string `json:"pod_template_file"`
}

// profileRoot returns the path below which the profile stands: "config", or "" for the document itself.
func (d *Document) profileRoot() string {
	if d.isProfile("config.") {
		return "config"
	}
	return ""
}

func (d *Document) isProfile(prefix string) bool {
	return d.Has(prefix+"pod_template_yaml") || d.Has(prefix+"pod_template_file")
}

// ParseProfile reads a file that holds a profile.
func ParseProfile(data []byte) (*ProfileDocument, []Violation) {
	docs, violations := ReadDocuments(data)
	if len(violations) > 0 {
		return nil, violations
	}
	d, violations := onlyDocument(docs, "a profile")
	if d == nil {
		return nil, violations
	}
	return d.ReadProfile()
}

// ReadProfile decodes the document as a profile. The violations are the profile's own and, where the
// embedded template is not one readable document, that one's; the profile is nil where nothing could be read.
func (d *Document) ReadProfile() (*ProfileDocument, []Violation) {
	node, root := d.root, d.profileRoot()
	var at *field.Path
	if root != "" {
		node, at = d.nodeAt(root), field.NewPath(root)
	}
	c := &converter{doc: d}
	if _, ok := c.value(node).(map[string]any); !ok {
		return nil, append(c.violations, documentViolation(RuleProfile, d.tokenRange(d.root),
			"the document is no object, so no profile", "write main_container, platform, workspace and pod_template_yaml"))
	}
	t := d.checkProfileTypes(node, root)
	violations := slices.Concat(c.violations, t.violations)
	if len(t.unfit) > 0 {
		c = &converter{doc: d, omit: t.unfit}
		c.value(node)
	}
	var f profileFields
	if err := kjson.UnmarshalCaseSensitivePreserveInts(c.json, &f); err != nil {
		return nil, append(violations, d.undecodable(err))
	}
	p := &ProfileDocument{Document: d, Profile: f.Profile, TemplateFile: f.PodTemplateFile}
	for _, err := range f.WithDefaults().Validate() {
		violations = append(violations, d.profileFault(err, at))
	}
	more := d.readEmbedded(p, node, at, f)
	return p, append(violations, more...)
}

// profileFault places a fault of a profile's value.
func (d *Document) profileFault(err *field.Error, at *field.Path) Violation {
	if at != nil {
		err.Field = at.String() + "." + err.Field
	}
	v := profileViolation(err)
	v.Place = d.Locate(err.Field)
	return v
}

// checkProfileTypes reports wrongly typed values, unknown fields of the workspace, and near misses of
// the profile's own keys. Keys that are neither belong to other parts of Kandev.
func (d *Document) checkProfileTypes(node *yaml.Node, root string) *typeChecker {
	t := &typeChecker{doc: d}
	if root != "" {
		t.trail.key(root)
	}
	fields := fieldsOf(reflect.TypeFor[profileFields]())
	eachPair(resolveAlias(node), func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil {
			return
		}
		t.trail.key(name)
		if typ, ok := fields[name]; ok {
			t.check(k, v, typ)
		} else if nearest(name, fields) != "" {
			t.unknown(k, name, fields)
		}
		t.trail.up()
	})
	return t
}

// readEmbedded reads the template in pod_template_yaml, and demands that there is one source of it.
func (d *Document) readEmbedded(p *ProfileDocument, node *yaml.Node, at *field.Path, f profileFields) []Violation {
	const key = "pod_template_yaml"
	value := childOf(node, key)
	if value == nil || value.Kind != yaml.ScalarNode || f.PodTemplateYAML == "" && !isNull(value) && value.Value != "" {
		return nil // absent, or not a string, which is reported
	}
	if f.PodTemplateFile != "" && isNull(value) {
		return nil
	}
	if f.PodTemplateFile != "" {
		return []Violation{d.profileFault(field.Forbidden(field.NewPath("pod_template_file"),
			"pod_template_yaml is set too; a profile has one template"), at)}
	}
	template, violations := readEmbeddedDocument([]byte(f.PodTemplateYAML), d.embedded(value, f.PodTemplateYAML))
	p.Template = template
	return violations
}

// readEmbeddedDocument is ReadDocument with every place translated.
func readEmbeddedDocument(data []byte, outer func(span) Range) (*Document, []Violation) {
	d, violations := ReadDocument(data)
	if d != nil {
		d.outer = outer
	}
	if len(violations) == 0 {
		return d, nil
	}
	lines := newLines(bytes.TrimPrefix(data, utf8BOM))
	for i := range violations {
		at := violations[i].Place
		violations[i].Place = outer(span{lines.editorOffset(at.Start), lines.editorOffset(at.End)})
	}
	return d, violations
}

// childOf returns the value of a mapping's key, nil where there is none.
func childOf(m *yaml.Node, name string) *yaml.Node {
	var found *yaml.Node
	eachPair(resolveAlias(m), func(k, v *yaml.Node) {
		if s, err := keyString(k); err == nil && s == name {
			found = resolveAlias(v)
		}
	})
	return found
}

// embedded returns the function that translates a piece of a scalar's text to its place in the file.
func (d *Document) embedded(scalar *yaml.Node, text string) func(span) Range {
	m := d.scalarMap(scalar)
	if text != scalar.Value { // !!binary: no character of the text stands in the file
		m = scalarMap{d.token(scalar)}
	}
	bom := 0
	if strings.HasPrefix(text, string(utf8BOM)) {
		bom = len(utf8BOM)
	}
	return func(s span) Range { return d.rangeOf(m.piece(span{bom + s.start, bom + s.end})) }
}
