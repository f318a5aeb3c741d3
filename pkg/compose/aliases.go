package compose

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxAliasBytes bounds what aliases and merges may add to a document, in bytes of values.
const maxAliasBytes = MaxTemplateBytes

// checkAliases refuses a document whose aliases never end, or expand to too much. What remains of a
// refused document has none, so that it can still be looked at.
func (d *Document) checkAliases() *Violation {
	e := &expansion{sizes: map[*yaml.Node]int{}}
	total := e.size(d.root)
	var v Violation
	switch {
	case e.endless != nil:
		v = documentViolation(RuleDocumentAliases, d.tokenRange(e.endless),
			fmt.Sprintf("alias *%s stands inside what it names", e.endless.Value), "remove the alias")
	case total-e.own > maxAliasBytes:
		v = documentViolation(RuleDocumentAliases, d.tokenRange(e.largest),
			fmt.Sprintf("alias *%s and others would expand the document by more than %d bytes", e.largest.Value, maxAliasBytes),
			"write the values out instead of nesting aliases")
	default:
		return nil
	}
	cutAliases(d.root)
	return &v
}

// expansion measures a document with its aliases written out, each alias once.
type expansion struct {
	sizes   map[*yaml.Node]int // what an alias names → its size, or growing
	own     int                // the document's size without its aliases
	inAlias int
	endless *yaml.Node // an alias inside what it names
	largest *yaml.Node // the alias that names most
}

const (
	growing   = -1      // being measured
	sizeLimit = 1 << 40 // keeps sums from overflowing
)

func (e *expansion) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return e.alias(n)
	}
	total := 1 + len(n.Value)
	if e.inAlias == 0 {
		e.own += total
	}
	for _, child := range n.Content {
		total = min(total+e.size(child), sizeLimit)
	}
	return total
}

func (e *expansion) alias(n *yaml.Node) int {
	size, known := e.sizes[n.Alias]
	if !known {
		e.sizes[n.Alias] = growing
		e.inAlias++
		size = e.size(n.Alias)
		e.inAlias--
		e.sizes[n.Alias] = size
	}
	if size == growing {
		e.endless = n
		return 0
	}
	if e.largest == nil || size > e.sizes[e.largest.Alias] {
		e.largest = n
	}
	return size
}

// cutAliases replaces every alias by null.
func cutAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
	}
	for _, child := range n.Content {
		cutAliases(child)
	}
}
