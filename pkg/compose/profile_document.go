package compose

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
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

// profileKeys are the keys of profileFields.
var profileKeys = []string{"main_container", "platform", "workspace", "pod_template_yaml", "pod_template_file"}

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
	docs, violations := readDocuments(data)
	switch {
	case len(violations) > 0:
		return nil, violations
	case len(docs) == 0:
		return nil, []Violation{documentViolation(RuleDocumentEmpty, startOfFile, "the file holds no profile", "write a profile")}
	case len(docs) > 1:
		return nil, []Violation{docs[1].isSecond()}
	}
	return docs[0].ReadProfile()
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
	if _, ok := c.value(node).(map[string]any); !ok || c.endless {
		return nil, append(c.violations, documentViolation(RuleProfile, d.tokenRange(d.root),
			"the document is no object, so no profile", "write main_container, platform, workspace and pod_template_yaml"))
	}
	violations := append(c.violations, d.checkProfileTypes(node, at)...)
	var f profileFields
	if err := kjson.UnmarshalCaseSensitivePreserveInts(c.json, &f); err != nil {
		return nil, violations
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
func (d *Document) checkProfileTypes(node *yaml.Node, at *field.Path) []Violation {
	t := &typeChecker{doc: d}
	fields := fieldsOf(reflect.TypeFor[profileFields]())
	eachPair(resolveAlias(node), func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil {
			return
		}
		if typ, ok := fields[name]; ok {
			t.check(v, typ, at.Child(name), d.pairRange(k, v))
			return
		}
		for _, known := range profileKeys {
			if d := levenshtein.ComputeDistance(known, name); d <= 2 {
				t.unknown(k, name, fields, at)
				return
			}
		}
	})
	return t.violations
}

// readEmbedded reads the template in pod_template_yaml, and demands that there is one source of it.
func (d *Document) readEmbedded(p *ProfileDocument, node *yaml.Node, at *field.Path, f profileFields) []Violation {
	const key = "pod_template_yaml"
	value := childOf(node, key)
	if value == nil {
		return nil
	}
	if f.PodTemplateFile != "" {
		return []Violation{d.profileFault(field.Forbidden(field.NewPath("pod_template_file"),
			"pod_template_yaml is set too; a profile has one template"), at)}
	}
	template, violations := ReadDocument([]byte(f.PodTemplateYAML))
	outer := embedded(d, value)
	for i := range violations {
		violations[i].Place = Range{Start: outer(violations[i].Place.Start), End: outer(violations[i].Place.End)}
	}
	if template != nil {
		template.outer = outer
		p.Template = template
	}
	return violations
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

// embedded returns the function that translates a place in a scalar's value to its place in the file.
func embedded(d *Document, scalar *yaml.Node) func(Place) Place {
	start := d.placed(Place{scalar.Line, scalar.Column}, 0).Start
	starts := newScalarMap(d.lines, scalar)
	inner := newLines([]byte(scalar.Value))
	return func(p Place) Place {
		offset, ok := inner.offset(p)
		if !ok {
			return start
		}
		return starts.at(offset)
	}
}

// offset returns the number of characters before a place, as an editor counts.
func (l *lines) offset(p Place) (int, bool) {
	rest, line := l.text, 1
	count := 0
	for line < p.Line {
		i := indexLF(rest)
		if i < 0 {
			return 0, false
		}
		count += utf8.RuneCount(rest[:i+1])
		rest = rest[i+1:]
		line++
	}
	return count + p.Column - 1, true
}

func indexLF(b []byte) int {
	for i, c := range b {
		if c == '\n' {
			return i
		}
	}
	return -1
}

// tooLarge is the violation of a document over the size limit.
func tooLarge(size int) Violation {
	return documentViolation(RuleDocumentSize, startOfFile,
		fmt.Sprintf("the document has %d bytes; a template may have %d", size, MaxTemplateBytes),
		"move large literal data out of the template, into the image or a ConfigMap")
}
