package compose

import "strings"

// Kind says what a file holds, as far as this project is concerned.
type Kind int

// The kinds of contents.
const (
	KindOther    Kind = iota // neither a template nor a profile
	KindTemplate             // a PodTemplate, or what was meant to be one
	KindProfile              // a profile that holds or names a template
)

// Recognize reads a file and says what it holds. A file of several documents counts as a template or
// profile when any of them is one; that there are several is then a violation.
func Recognize(data []byte) (Kind, *Document, []Violation) {
	docs, violations := ReadDocuments(data)
	if len(violations) > 0 {
		return KindOther, nil, violations
	}
	for _, d := range docs {
		kind := d.kind()
		if kind == KindOther {
			continue
		}
		if len(docs) > 1 {
			return kind, nil, []Violation{docs[1].isSecond()}
		}
		if d.aliases != nil {
			return kind, nil, []Violation{*d.aliases}
		}
		if kind == KindTemplate && len(data) > MaxTemplateBytes {
			return kind, nil, []Violation{tooLarge(len(data))}
		}
		return kind, d, nil
	}
	return KindOther, nil, nil
}

func (d *Document) kind() Kind {
	switch {
	case d.isTemplate():
		return KindTemplate
	case d.profileRoot() != "" || d.isProfile(""):
		return KindProfile
	}
	return KindOther
}

// isTemplate reports whether the document is a PodTemplate or nearly one: its kind up to case and
// number, or its shape under another kind or none.
func (d *Document) isTemplate() bool {
	kind := strings.ToLower(d.scalarAt("kind"))
	if kind == "podtemplate" || kind == "podtemplates" {
		return true
	}
	return d.Has("template.spec.containers") && !d.Has("spec") && !d.Has("template.apiVersion")
}

// scalarAt returns the text of the scalar that a path names, "" if there is none.
func (d *Document) scalarAt(path string) string {
	if n := d.nodeAt(path); n != nil {
		return n.Value
	}
	return ""
}
