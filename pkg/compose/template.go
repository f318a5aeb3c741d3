package compose

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
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

	partial bool // some value could not be decoded and is missing in Spec
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
	violations := append(c.violations, d.checkKind(object)...)
	decoded, partial, faults := d.decode(c)
	if decoded == nil {
		return nil, append(violations, faults...)
	}
	return &Template{Document: d, Object: object, Spec: &decoded.Template, Style: c.style(), partial: partial},
		append(violations, faults...)
}

// Validate returns every rule that the template breaks when it is used with a profile. What the API
// server would refuse is left out where parts of the template could not be decoded: it would be a guess.
func (t *Template) Validate(p Profile) []Violation {
	if t.partial {
		return validateOwned(t.Spec, p).violations
	}
	return Validate(t.Spec, p)
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
		detail := fmt.Sprintf("%s is %v; a template is a %s %s", f.name, got, TemplateAPIVersion, TemplateKind)
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
// checker then says where it is not, and what must be left out to decode the rest, which is then partial.
func (d *Document) decode(c *converter) (decoded *corev1.PodTemplate, partial bool, faults []Violation) {
	decoded = new(corev1.PodTemplate)
	strict, err := kjson.UnmarshalStrict(c.json, decoded)
	if err == nil && len(strict) == 0 && !c.nullItems {
		return decoded, false, nil
	}
	t := &typeChecker{doc: d}
	t.check(nil, d.root, reflect.TypeFor[corev1.PodTemplate]())
	if err == nil && len(t.violations) == 0 && len(strict) > 0 {
		err = strict[0]
	}
	if err == nil {
		return decoded, false, t.violations
	}
	if len(t.unfit) == 0 {
		return nil, true, append(t.violations, d.undecodable(err))
	}
	rest := &converter{doc: d, omit: t.unfit}
	rest.value(d.root)
	decoded = new(corev1.PodTemplate)
	if _, err := kjson.UnmarshalStrict(rest.json, decoded); err != nil {
		decoded = nil
	}
	return decoded, true, t.violations
}

// style lists the booleans that only YAML 1.1 reads as such.
func (c *converter) style() []Violation {
	var out []Violation
	for _, b := range c.oddBools {
		v := documentViolation(RuleDocumentBoolean, c.doc.tokenRange(b.node),
			fmt.Sprintf("%s is written %s, which only YAML 1.1 reads as %t", b.path, b.node.Value, b.is),
			fmt.Sprintf("write %t", b.is))
		v.Path = b.path
		out = append(out, v)
	}
	return out
}
