package compose

import "k8s.io/apimachinery/pkg/util/validation/field"

// trail is the way from the document's root to a node. It becomes a path only where a violation needs one.
type trail []step

// step is one key or list index.
type step struct {
	kind  stepKind
	name  string
	index int
}

type stepKind int

const (
	keyStep    stepKind = iota // a field where its name allows it, else a map's key
	fieldStep                  // a field whatever its name, as the API server writes an unknown one
	mapKeyStep                 // a key of a map, written in brackets
	itemStep
)

func (t *trail) key(name string)    { *t = append(*t, step{kind: keyStep, name: name}) }
func (t *trail) field(name string)  { *t = append(*t, step{kind: fieldStep, name: name}) }
func (t *trail) mapKey(name string) { *t = append(*t, step{kind: mapKeyStep, name: name}) }
func (t *trail) item(index int)     { *t = append(*t, step{kind: itemStep, index: index}) }
func (t *trail) up()                { *t = (*t)[:len(*t)-1] }

// path writes the trail as a field.Path, nil for the root.
func (t trail) path() *field.Path {
	var p *field.Path
	for _, s := range t {
		switch {
		case s.kind == itemStep:
			p = p.Index(s.index)
		case s.kind == mapKeyStep || s.kind == keyStep && !isIdentifier(s.name):
			p = p.Key(s.name)
		case p == nil:
			p = field.NewPath(s.name)
		default:
			p = p.Child(s.name)
		}
	}
	return p
}

// last is the last name of the trail, for a sentence.
func (t trail) last() string {
	if len(t) == 0 {
		return "the document"
	}
	return lastName(t.path().String())
}

// isIdentifier reports whether a key can be a field name, written after a dot.
func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != ""
}
