package compose

import (
	"encoding/json"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// converter turns a document's nodes into JSON, the form in which the API server decodes them, and
// into the generic value that policies read, in one pass.
type converter struct {
	doc        *Document
	json       []byte
	object     any // the generic value of the whole document
	violations []Violation

	trail trail
	omit  map[*yaml.Node]bool // values to leave out

	nullItems bool      // some list item is null: the types decide whether that is an error
	oddBools  []oddBool // booleans written as on, y, ...
}

// oddBool is a boolean that is written neither true nor false.
type oddBool struct {
	node *yaml.Node
	path *field.Path
	is   bool
}

func (c *converter) fail(rule string, n *yaml.Node, detail, remedy string) {
	v := documentViolation(rule, c.doc.tokenRange(n), detail, remedy)
	v.Path = c.trail.path()
	c.violations = append(c.violations, v)
}

// convert converts the whole document.
func (d *Document) convert() *converter {
	c := &converter{doc: d, json: make([]byte, 0, 2*len(d.lines.text))}
	if d.aliases != nil {
		c.violations = append(c.violations, *d.aliases)
	}
	c.object = c.value(d.root)
	return c
}

// value converts one node and everything below it.
func (c *converter) value(n *yaml.Node) any {
	n = resolveAlias(n)
	if c.omit[n] {
		return c.null()
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n)
	case yaml.SequenceNode:
		return c.sequence(n)
	}
	return c.scalar(n)
}

func (c *converter) null() any {
	c.json = append(c.json, "null"...)
	return nil
}

func (c *converter) sequence(n *yaml.Node) any {
	out := make([]any, 0, len(n.Content))
	c.json = append(c.json, '[')
	for i, item := range n.Content {
		if i > 0 {
			c.json = append(c.json, ',')
		}
		c.trail.item(i)
		v := c.value(item)
		c.trail.up()
		c.nullItems = c.nullItems || v == nil
		out = append(out, v)
	}
	c.json = append(c.json, ']')
	return out
}

func (c *converter) mapping(n *yaml.Node) any {
	pairs := c.pairs(n)
	out := make(map[string]any, len(pairs))
	c.json = append(c.json, '{')
	for i, p := range pairs {
		if i > 0 {
			c.json = append(c.json, ',')
		}
		c.json = appendJSONString(c.json, p.name)
		c.json = append(c.json, ':')
		c.trail.key(p.name)
		out[p.name] = c.value(p.value)
		c.trail.up()
	}
	c.json = append(c.json, '}')
	return out
}

// pair is one key of a mapping, its own or merged.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs lists what a mapping holds, each name once, and reports every collision.
func (c *converter) pairs(m *yaml.Node) []pair {
	set := pairSet{list: make([]pair, 0, len(m.Content)/2)}
	own := true
	add := func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil {
			c.fail(RuleDocumentKey, k, err.Error(), "write the key as a plain or quoted word")
		} else if first := set.add(pair{name: name, key: k, value: v}); first != nil {
			c.collision(first, k, own)
		}
	}
	eachOwnPair(m, add)
	own = false
	eachMergeKey(m, func(k, v *yaml.Node) { c.merge(k, v, add) })
	return set.list
}

// merge visits the pairs that a merge key brings in.
func (c *converter) merge(key, value *yaml.Node, add func(k, v *yaml.Node)) {
	for _, source := range mergeSources(value) {
		if source.Kind != yaml.MappingNode {
			c.fail(RuleDocumentSyntax, key, "the merge key << names something that is no object",
				"merge an alias of an object, or a list of them")
			continue
		}
		eachPair(source, add)
	}
}

// pairSet holds pairs by name.
type pairSet struct {
	list   []pair
	byName map[string]int // only for a set that is too large to search
}

const searchedPairs = 16

// add adds a pair. Where its name is there already, it returns the first pair of the name instead.
func (s *pairSet) add(p pair) (first *pair) {
	if len(s.list) < searchedPairs {
		for i := range s.list {
			if s.list[i].name == p.name {
				return &s.list[i]
			}
		}
		s.list = append(s.list, p)
		return nil
	}
	if s.byName == nil {
		s.byName = make(map[string]int, cap(s.list))
		for i := range s.list {
			s.byName[s.list[i].name] = i
		}
	}
	if i, ok := s.byName[p.name]; ok {
		return &s.list[i]
	}
	s.byName[p.name] = len(s.list)
	s.list = append(s.list, p)
	return nil
}

func (c *converter) collision(first *pair, k *yaml.Node, own bool) {
	c.trail.key(first.name)
	defer c.trail.up()
	if own {
		c.fail(RuleDocumentDuplicateKey, k,
			fmt.Sprintf("key %q stands twice in one object; its first place is line %d", first.name, c.doc.tokenRange(first.key).Start.Line),
			"remove one of the two")
		return
	}
	// The key that a reader sees in this place is the one to point at.
	c.fail(RuleDocumentMerge, first.key,
		fmt.Sprintf("key %q is set here and also by a merge (<<); readers disagree on which one wins", first.name),
		fmt.Sprintf("keep %q in one of the two places", first.name))
}

func (c *converter) scalar(n *yaml.Node) any {
	v, err := scalarValue(n)
	if err != nil {
		c.fail(RuleDocumentSyntax, n, c.trail.last()+": "+err.Error(), "write the value without a tag, or quoted if it is text")
		return c.null()
	}
	switch v := v.(type) {
	case nil:
		return c.null()
	case bool:
		return c.bool(n, v)
	case int64:
		return c.number(strconv.FormatInt(v, 10))
	case uint64:
		return c.number(strconv.FormatUint(v, 10))
	case json.Number:
		return c.number(v.String())
	case float64:
		return c.float(n, v)
	case string:
		c.json = appendJSONString(c.json, v)
	}
	return v
}

func (c *converter) number(s string) any {
	c.json = append(c.json, s...)
	return json.Number(s)
}

func (c *converter) bool(n *yaml.Node, v bool) any {
	c.json = strconv.AppendBool(c.json, v)
	switch n.Value {
	case "true", "True", "TRUE", "false", "False", "FALSE":
	default:
		c.oddBools = append(c.oddBools, oddBool{node: n, path: c.trail.path(), is: v})
	}
	return v
}

func (c *converter) float(n *yaml.Node, v float64) any {
	b, err := json.Marshal(v)
	if err != nil { // infinite, or not a number
		c.fail(RuleDocumentWrongType, n, fmt.Sprintf("%s is not a number that JSON can hold", n.Value),
			"write a finite number, or quote it if it is text")
		return c.null()
	}
	return c.number(string(b))
}

// appendJSONString appends a string as JSON.
func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7F {
			quoted, err := json.Marshal(s)
			if err != nil { // unreachable: a string always has a JSON form
				return append(b, `""`...)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
