package compose

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxExpandedNodes bounds what aliases may expand to. A template of the largest allowed size written
// without aliases has fewer nodes than this.
const maxExpandedNodes = 200_000

// converter turns a document's nodes into JSON, the form in which the API server decodes them, and
// into the generic value that policies read, in one pass.
type converter struct {
	doc        *Document
	json       []byte
	violations []Violation

	path      []segment
	expanding []*yaml.Node        // aliases being expanded, to stop at a cycle
	expanded  int                 // nodes visited below an alias
	stopped   bool                // the alias bound was passed
	endless   bool                // an alias stands in what it names, or the bound was passed
	omit      map[*yaml.Node]bool // values to leave out

	nullItems bool      // some list item is null: the types decide whether that is an error
	oddBools  []oddBool // booleans written as on, y, ...
}

// segment is one step of the path to the node being converted: a name, or an index where name is "".
type segment struct {
	name  string
	index int
}

// oddBool is a boolean that is written neither true nor false.
type oddBool struct {
	node *yaml.Node
	path *field.Path
	is   bool
}

// fieldPath writes the current path as a field.Path.
func (c *converter) fieldPath() *field.Path {
	var p *field.Path
	for _, s := range c.path {
		switch {
		case s.name == "":
			p = p.Index(s.index)
		case p == nil:
			p = field.NewPath(s.name)
		case isIdentifier(s.name):
			p = p.Child(s.name)
		default:
			p = p.Key(s.name)
		}
	}
	return p
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

func (c *converter) fail(rule string, n *yaml.Node, detail, remedy string) {
	v := documentViolation(rule, c.doc.tokenRange(n), detail, remedy)
	v.Path = c.fieldPath()
	c.violations = append(c.violations, v)
}

// value converts one node and everything below it.
func (c *converter) value(n *yaml.Node) any {
	if c.stopped || c.omit[resolveAlias(n)] {
		c.null()
		return nil
	}
	if len(c.expanding) > 0 {
		c.expanded++
		if c.expanded > maxExpandedNodes {
			c.stopped, c.endless = true, true
			c.fail(RuleDocumentAliases, n, "aliases expand to more than the document could hold",
				"write the values out instead of nesting aliases")
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.alias(n)
	case yaml.MappingNode:
		return c.mapping(n)
	case yaml.SequenceNode:
		return c.sequence(n)
	}
	return c.scalar(n)
}

func (c *converter) null() { c.json = append(c.json, "null"...) }

func (c *converter) alias(n *yaml.Node) any {
	for _, a := range c.expanding {
		if a == n.Alias {
			c.endless = true
			c.fail(RuleDocumentAliases, n, fmt.Sprintf("alias *%s stands inside what it names", n.Value),
				"remove the alias")
			c.null()
			return nil
		}
	}
	c.expanding = append(c.expanding, n.Alias)
	v := c.value(n.Alias)
	c.expanding = c.expanding[:len(c.expanding)-1]
	return v
}

func (c *converter) sequence(n *yaml.Node) any {
	out := make([]any, 0, len(n.Content))
	c.json = append(c.json, '[')
	for i, item := range n.Content {
		if i > 0 {
			c.json = append(c.json, ',')
		}
		c.path = append(c.path, segment{index: i})
		v := c.value(item)
		c.path = c.path[:len(c.path)-1]
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
		c.path = append(c.path, segment{name: p.name})
		out[p.name] = c.value(p.value)
		c.path = c.path[:len(c.path)-1]
	}
	c.json = append(c.json, '}')
	return out
}

// pair is one key of a mapping, its own or merged.
type pair struct {
	name       string
	key, value *yaml.Node
	merged     bool
}

// pairs lists what a mapping holds, each name once, and reports every collision.
func (c *converter) pairs(m *yaml.Node) []pair {
	out := make([]pair, 0, len(m.Content)/2)
	add := func(k, v *yaml.Node, merged bool) {
		name, err := keyString(k)
		if err != nil {
			c.fail(RuleDocumentKey, k, "not a usable key: "+err.Error(), "write the key as a plain or quoted word")
			return
		}
		for _, p := range out {
			if p.name == name {
				c.collision(p, k, name, merged)
				return
			}
		}
		out = append(out, pair{name: name, key: k, value: v, merged: merged})
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; !isMerge(k) {
			add(k, m.Content[i+1], false)
		}
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; isMerge(k) {
			c.merge(k, m.Content[i+1], func(k, v *yaml.Node) { add(k, v, true) })
		}
	}
	return out
}

// merge visits the pairs that a merge key brings in.
func (c *converter) merge(key, value *yaml.Node, add func(k, v *yaml.Node)) {
	for _, source := range mergeSources(value) {
		if source.Kind != yaml.MappingNode {
			c.fail(RuleDocumentSyntax, key, "the merge key << names something that is no object",
				"merge an alias of an object, or a list of them")
			continue
		}
		if c.isExpanding(source) {
			c.endless = true
			c.fail(RuleDocumentAliases, key, "the merge key << names an object that it stands in", "remove the merge")
			continue
		}
		c.expanding = append(c.expanding, source)
		c.expanded += len(source.Content)
		for _, p := range c.pairs(source) {
			add(p.key, p.value)
		}
		c.expanding = c.expanding[:len(c.expanding)-1]
	}
}

func (c *converter) isExpanding(n *yaml.Node) bool {
	for _, a := range c.expanding {
		if a == n {
			return true
		}
	}
	return false
}

func (c *converter) collision(first pair, k *yaml.Node, name string, merged bool) {
	c.path = append(c.path, segment{name: name})
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if merged {
		// The key that a reader sees in this place is the one to point at.
		c.fail(RuleDocumentMerge, first.key,
			fmt.Sprintf("key %q is set here and also by a merge (<<); readers disagree on which one wins", name),
			fmt.Sprintf("keep %q in one of the two places", name))
		return
	}
	c.fail(RuleDocumentDuplicateKey, k,
		fmt.Sprintf("key %q stands twice in one object; its first place is line %d", name, c.doc.tokenRange(first.key).Start.Line),
		"remove one of the two")
}

func (c *converter) scalar(n *yaml.Node) any {
	v, err := scalarValue(n)
	if err != nil {
		c.fail(RuleDocumentSyntax, n, err.Error(), "write the value without a tag, or quoted if it is text")
		c.null()
		return nil
	}
	switch v := v.(type) {
	case nil:
		c.null()
		return nil
	case bool:
		return c.bool(n, v)
	case int64:
		c.json = strconv.AppendInt(c.json, v, 10)
		return json.Number(strconv.FormatInt(v, 10))
	case uint64:
		c.json = strconv.AppendUint(c.json, v, 10)
		return json.Number(strconv.FormatUint(v, 10))
	case float64:
		return c.float(n, v)
	case string:
		c.json = appendJSONString(c.json, v)
	}
	return v
}

func (c *converter) bool(n *yaml.Node, v bool) any {
	c.json = strconv.AppendBool(c.json, v)
	switch n.Value {
	case "true", "True", "TRUE", "false", "False", "FALSE":
	default:
		c.oddBools = append(c.oddBools, oddBool{node: n, path: c.fieldPath(), is: v})
	}
	return v
}

func (c *converter) float(n *yaml.Node, v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		c.fail(RuleDocumentWrongType, n, fmt.Sprintf("%s is not a number that JSON can hold", n.Value),
			"write a finite number, or quote it if it is text")
		c.null()
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil { // unreachable: every finite float has a JSON form
		c.fail(RuleDocumentWrongType, n, err.Error(), "write a finite number")
		b = []byte("0")
	}
	c.json = append(c.json, b...)
	return json.Number(b)
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
