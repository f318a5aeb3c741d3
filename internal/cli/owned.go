package cli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

// ownedMark ends every line of a rendered object that does not come from the template.
const ownedMark = "  # kandev"

// markOwned marks the lines of a rendered object that the template does not hold. Composing only adds
// to a template, at the end of its lists, so that what both hold stands under the same path.
func markOwned(text []byte, template *corev1.PodTemplateSpec, object any) ([]byte, error) {
	var theirs any
	if _, isPod := object.(*corev1.Pod); isPod {
		data, err := json.Marshal(template)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &theirs); err != nil {
			return nil, err
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read back what was rendered: %w", err)
	}
	owned := map[int]bool{}
	ownedLines(doc.Content[0], theirs, theirs != nil, owned)
	var out bytes.Buffer
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		line, end := bytes.CutSuffix(line, []byte("\n"))
		out.Write(line)
		if owned[i+1] {
			out.WriteString(ownedMark)
		}
		if end {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// ownedLines collects the lines below a node that the template's value does not account for.
func ownedLines(n *yaml.Node, theirs any, known bool, owned map[int]bool) {
	switch n.Kind {
	case yaml.MappingNode:
		m, _ := theirs.(map[string]any)
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			child, ok := m[key.Value]
			mark(key.Line, known && ok, owned)
			ownedLines(value, child, known && ok, owned)
		}
	case yaml.SequenceNode:
		list, _ := theirs.([]any)
		for i, item := range n.Content {
			ok := i < len(list)
			var child any
			if ok {
				child = list[i]
			}
			if item.Kind == yaml.ScalarNode {
				mark(item.Line, known && ok, owned)
			}
			ownedLines(item, child, known && ok, owned)
		}
	}
}

// mark notes a line as Kandev's, unless it is the template's too.
func mark(line int, theirs bool, owned map[int]bool) {
	if _, seen := owned[line]; !seen || theirs {
		owned[line] = !theirs
	}
}
