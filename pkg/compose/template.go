package compose

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// Template is a strictly decoded v1 PodTemplate and the document that it stands in.
type Template struct {
	Document *Document
	// Object is the document as a policy reads it: maps, slices, strings, booleans and json.Number.
	Object map[string]any
	// Spec is what the document's template field holds.
	Spec *corev1.PodTemplateSpec
	// Style lists what is readable but should be written otherwise; nothing in it is an error.
	Style []Violation

	unread map[string]bool // paths of values that could not be decoded and are missing in Spec
}

// The only kind of document that is a template.
const (
	TemplateAPIVersion = "v1"
	TemplateKind       = "PodTemplate"
)

// ParseTemplate reads a template document. The violations say what is not as a strict template must be;
// the template is nil where nothing could be read at all.
func ParseTemplate(data []byte) (*Template, []Violation) {
	d, violations := ReadDocument(data)
	if len(violations) > 0 {
		return nil, violations
	}
	return d.Template()
}

// Template decodes the document as a v1 PodTemplate, as strictly as the API server can be asked to.
// What it cannot take is left out of the template and reported.
func (d *Document) Template() (*Template, []Violation) {
	c := d.convert()
	object, isObject := c.object.(map[string]any)
	if !isObject {
		return nil, append(c.violations, documentViolation(RuleDocumentKind, d.tokenRange(d.root),
			"the document is no object, so no PodTemplate", "start with apiVersion: v1 and kind: PodTemplate"))
	}
	kind := d.checkKind(object)
	if _, ok := object["template"]; !ok && len(kind) > 0 {
		return nil, append(c.violations, kind...) // what it says about Pods is not meant for this project
	}
	decoded, t := d.decode(c)
	violations := slices.Concat(c.violations, kind, withoutKind(t.violations, kind))
	if decoded == nil {
		return nil, violations
	}
	return &Template{Document: d, Object: object, Spec: &decoded.Template, Style: c.style(t.unfit), unread: unreadPaths(violations)}, violations
}

// unreadPaths lists where a value could not be read.
func unreadPaths(violations []Violation) map[string]bool {
	out := map[string]bool{}
	for _, v := range violations {
		switch v.Rule {
		case RuleDocumentWrongType, RuleDocumentNullItem, RuleDocumentSyntax:
			out[v.Path.String()] = true
		}
	}
	return out
}

// withoutKind drops the faults of apiVersion and kind that checkKind has reported.
func withoutKind(faults, kind []Violation) []Violation {
	return slices.DeleteFunc(faults, func(v Violation) bool {
		return slices.ContainsFunc(kind, func(k Violation) bool { return k.Path.String() == v.Path.String() })
	})
}

// Validate returns every rule that the template breaks when it is used with a profile. Where parts of the
// template could not be read, nothing is said about them, nor about what the API server would refuse: it
// would be a guess.
func (t *Template) Validate(p Profile) []Violation {
	if len(t.unread) == 0 {
		return validate(t.Spec, p, t.Document.Minor)
	}
	return slices.DeleteFunc(validateOwned(t.Spec, p).violations, func(v Violation) bool { return t.isUnread(v) })
}

// isUnread reports whether a violation is about a value that could not be read.
func (t *Template) isUnread(v Violation) bool {
	path := v.Path.String()
	if v.Rule == RuleMainContainerMissing {
		for unread := range t.unread {
			if strings.HasPrefix(unread, path) {
				return true
			}
		}
	}
	for i := range len(path) {
		if (path[i] == '.' || path[i] == '[') && t.unread[path[:i]] {
			return true
		}
	}
	return t.unread[path]
}

// checkKind refuses every kind but v1 PodTemplate.
func (d *Document) checkKind(object map[string]any) []Violation {
	var out []Violation
	for _, f := range []struct{ name, want string }{{"apiVersion", TemplateAPIVersion}, {"kind", TemplateKind}} {
		got, ok := object[f.name]
		if got == f.want {
			continue
		}
		at := field.NewPath(f.name)
		detail := fmt.Sprintf("%s is %.64v; a template is a %s %s", f.name, got, TemplateAPIVersion, TemplateKind)
		if !ok {
			detail = fmt.Sprintf("%s is missing; a template is a %s %s", f.name, TemplateAPIVersion, TemplateKind)
		}
		v := violation(RuleDocumentKind, at, "", detail, fmt.Sprintf("write %s: %s", f.name, f.want))
		v.Place = d.Locate(f.name)
		out = append(out, v)
	}
	return out
}

// decode decodes the converted document. The decoder of the API server decides what is right; the type
// checker then says where it is not, and what must be left out to decode the rest.
func (d *Document) decode(c *converter) (*corev1.PodTemplate, *typeChecker) {
	t := &typeChecker{doc: d}
	decoded, err := unmarshal(c.json)
	if err == nil && !c.nullItems && !d.isForOlder() {
		return decoded, t
	}
	t.check(nil, d.root, reflect.TypeFor[corev1.PodTemplate]())
	if err != nil && len(t.violations) == 0 {
		t.violations = append(t.violations, d.undecodable(err))
		return nil, t
	}
	if len(t.unfit) > 0 {
		rest := &converter{doc: d, omit: t.unfit}
		rest.value(d.root)
		decoded, _ = unmarshal(rest.json)
	}
	return decoded, t
}

// isForOlder reports whether the document is for an API server that lacks fields of the decoder's types.
func (d *Document) isForOlder() bool { return d.Minor != 0 && d.Minor < podrules.NewestMinor }

// unmarshal decodes strictly. With an error about the form alone there is a result too.
func unmarshal(data []byte) (*corev1.PodTemplate, error) {
	decoded := new(corev1.PodTemplate)
	strict, err := kjson.UnmarshalStrict(data, decoded)
	if err != nil {
		return nil, err
	}
	if len(strict) > 0 {
		return decoded, strict[0]
	}
	return decoded, nil
}

// style lists the booleans that only YAML 1.1 reads as such. One that should be text is reported as that.
func (c *converter) style(unfit map[*yaml.Node]bool) []Violation {
	var out []Violation
	for _, b := range c.oddBools {
		if unfit[b.node] {
			continue
		}
		v := documentViolation(RuleDocumentBoolean, c.doc.tokenRange(b.node),
			fmt.Sprintf("%s is written %s, which only YAML 1.1 reads as %t", lastName(b.path.String()), b.node.Value, b.is),
			fmt.Sprintf("write %t", b.is))
		v.Path = b.path
		out = append(out, v)
	}
	return out
}
