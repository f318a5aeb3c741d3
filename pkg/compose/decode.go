package compose

import (
	"reflect"

	kjson "sigs.k8s.io/json"
)

// Decode decodes the document into a value with JSON tags, as strictly as a template. The violations
// say at which places it does not fit; the value is then of no use.
func (d *Document) Decode(into any) []Violation {
	c := d.convert()
	if len(c.violations) > 0 {
		return c.violations
	}
	strict, err := kjson.UnmarshalStrict(c.json, into)
	if err == nil && len(strict) == 0 {
		return nil
	}
	t := &typeChecker{doc: d}
	t.check(nil, d.root, reflect.TypeOf(into))
	if len(t.violations) > 0 {
		return t.violations
	}
	if err == nil {
		err = strict[0]
	}
	return []Violation{d.undecodable(err)}
}

// undecodable reports what the decoder refuses and no place is known for.
func (d *Document) undecodable(err error) Violation {
	return documentViolation(RuleDocumentWrongType, d.tokenRange(d.root),
		"the document cannot be decoded: "+err.Error(), "write the field that this names as its documentation says")
}

// JSON returns the document as JSON. The violations say what keeps it from being read one way only.
func (d *Document) JSON() ([]byte, []Violation) {
	c := d.convert()
	return c.json, c.violations
}
