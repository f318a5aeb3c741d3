package compose

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Locate returns the range of what a path names: the key with its value on the same line, or a list
// item. Where the document does not hold it, the nearest parent that it holds is taken. Paths are
// written as k8s.io/apimachinery's field.Path writes them.
func (d *Document) Locate(path string) Range {
	r, _ := d.find(path)
	return r
}

// Has reports whether the document holds what the path names.
func (d *Document) Has(path string) bool {
	_, ok := d.find(path)
	return ok
}

func (d *Document) find(path string) (Range, bool) {
	_, at, ok := d.walk(path)
	return d.rangeOf(at), ok
}

// nodeAt returns the node that a path names, nil where the document does not hold it.
func (d *Document) nodeAt(path string) *yaml.Node {
	if n, _, ok := d.walk(path); ok {
		return resolveAlias(n)
	}
	return nil
}

// walk follows a path as far as the document goes.
func (d *Document) walk(path string) (node *yaml.Node, at span, ok bool) {
	node = d.root
	at = d.token(node)
	for path != "" {
		node = resolveAlias(node)
		switch node.Kind {
		case yaml.MappingNode:
			key, value, rest := stepInto(node, path)
			if key == nil {
				return node, at, false
			}
			at, node, path = d.pair(key, value), value, rest
		case yaml.SequenceNode:
			index, rest, ok := leadingIndex(path)
			if !ok || index >= len(node.Content) {
				return node, at, false
			}
			node, path = node.Content[index], rest
			at = d.token(node)
		default:
			return node, at, false
		}
	}
	return node, at, true
}

func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// stepInto finds the key of a mapping with which the path starts, and what is left of the path.
// A key may itself hold dots and brackets, so the mapping decides where it ends.
func stepInto(m *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	bracket := strings.HasPrefix(path, "[")
	path = strings.TrimPrefix(strings.TrimPrefix(path, "."), "[")
	best := -1
	eachPair(m, func(k, v *yaml.Node) {
		name, err := keyString(k)
		if err != nil || len(name) <= best || !strings.HasPrefix(path, name) {
			return
		}
		tail := path[len(name):]
		if bracket {
			if !strings.HasPrefix(tail, "]") {
				return
			}
			tail = tail[1:]
		} else if tail != "" && tail[0] != '.' && tail[0] != '[' {
			return
		}
		best, key, value, rest = len(name), k, v, tail
	})
	return key, value, rest
}

// eachPair visits the pairs of a mapping: its own, then those that it merges.
func eachPair(m *yaml.Node, visit func(k, v *yaml.Node)) {
	eachOwnPair(m, visit)
	eachMergeKey(m, func(_, value *yaml.Node) {
		for _, source := range mergeSources(value) {
			if source.Kind == yaml.MappingNode {
				eachPair(source, visit)
			}
		}
	})
}

func eachOwnPair(m *yaml.Node, visit func(k, v *yaml.Node)) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !isMerge(m.Content[i]) {
			visit(m.Content[i], m.Content[i+1])
		}
	}
}

func eachMergeKey(m *yaml.Node, visit func(k, v *yaml.Node)) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if isMerge(m.Content[i]) {
			visit(m.Content[i], m.Content[i+1])
		}
	}
}

// mergeSources lists the mappings that a merge key names.
func mergeSources(v *yaml.Node) []*yaml.Node {
	v = resolveAlias(v)
	if v.Kind != yaml.SequenceNode {
		return []*yaml.Node{v}
	}
	out := make([]*yaml.Node, 0, len(v.Content))
	for _, n := range v.Content {
		out = append(out, resolveAlias(n))
	}
	return out
}

// isMerge reports whether a key is the merge key: << without quotes.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.ShortTag() == "!!merge"
}

// leadingIndex reads "[3]" from the start of a path.
func leadingIndex(path string) (index int, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		return 0, "", false
	}
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return 0, "", false
	}
	index, err := strconv.Atoi(path[1:end])
	return index, path[end+1:], err == nil && index >= 0
}
