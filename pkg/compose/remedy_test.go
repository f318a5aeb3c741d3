package compose

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// applyRemedy does to a document what a violation's remedy says, where that is one of the simple ones.
func applyRemedy(text string, v Violation) (string, bool) {
	d, _ := ReadDocument([]byte(text))
	if d == nil || v.Path == nil {
		return "", false
	}
	path := v.Path.String()
	switch r := v.Remedy; {
	case strings.HasPrefix(r, "remove this mount"), strings.HasPrefix(r, "remove this device"), strings.HasPrefix(r, "remove this volume"),
		strings.HasPrefix(r, "remove this requirement"), strings.HasPrefix(r, "rename this container, or remove it"), strings.HasPrefix(r, "remove it, or choose a name"):
		return without(text, path[:strings.LastIndexByte(path, ']')+1])
	case strings.HasPrefix(r, "remove the quotes: "), strings.HasPrefix(r, "quote it: "):
		_, value, _ := strings.Cut(r, ": ")
		return with(text, path, value)
	case regexp.MustCompile(`^write (true|false)$`).MatchString(r), r == "write apiVersion: v1", r == "write kind: PodTemplate", strings.HasPrefix(r, "write mountPath: "):
		return with(text, path, r[strings.LastIndexByte(r, ' ')+1:])
	case strings.HasPrefix(r, "write a"), r == "set name", strings.HasPrefix(r, "set image"):
		return "", false
	case strings.HasPrefix(r, "remove"), strings.HasPrefix(r, "write \""), strings.HasPrefix(r, "fill the item in, or remove it"):
		return without(text, path)
	}
	return "", false
}

// edit finds the parent of what a path names, and its index there.
func edit(text, path string, change func(parent *yaml.Node, at int)) (string, bool) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return "", false
	}
	d := &Document{root: doc.Content[0], lines: newLines([]byte(text))}
	target := d.nodeAt(path)
	if target == nil {
		return "", false
	}
	done := false
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i, c := range n.Content {
			if c == target && !done {
				done = true
				change(n, i)
				return
			}
			visit(c)
		}
	}
	visit(&doc)
	out, err := yaml.Marshal(&doc)
	return string(out), err == nil && done
}

func without(text, path string) (string, bool) {
	return edit(text, path, func(n *yaml.Node, at int) {
		if n.Kind == yaml.MappingNode {
			n.Content = slices.Delete(n.Content, at-1, at+1)
		} else {
			n.Content = slices.Delete(n.Content, at, at+1)
		}
	})
}

func with(text, path, value string) (string, bool) {
	return edit(text, path, func(n *yaml.Node, at int) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(value), &doc) == nil {
			n.Content[at] = doc.Content[0]
		}
	})
}

// TestRemediesRemoveTheFinding applies each remedy that a program can apply.
func TestRemediesRemoveTheFinding(t *testing.T) {
	applied := map[string]bool{}
	for _, text := range messageExamples() {
		for _, v := range findings([]byte(text)) {
			if v.Source == "api" {
				continue // those follow the field's own rule
			}
			better, ok := applyRemedy(text, v)
			if !ok {
				continue
			}
			applied[v.Rule] = true
			for _, left := range findings([]byte(better)) {
				if left.Rule == v.Rule && left.Detail == v.Detail && left.Path.String() == v.Path.String() {
					t.Errorf("%v\nis not removed by %q:\n%s", v, v.Remedy, better)
				}
			}
		}
	}
	for _, rule := range []string{
		RuleDocumentBoolean, RuleDocumentWrongType, RuleDocumentUnknownField, RuleDocumentKind, RuleDocumentNullItem,
		RuleOwnedMetadata, RuleReservedMetadata, RuleOwnedRestartPolicy, RuleOwnedNodeName, RuleOwnedOS, RuleOwnedNodeSelector, RuleOwnedNodeAffinity,
		RuleOwnedVolume, RuleEphemeralContainers, RuleMainContainerDuplicate, RuleOwnedEntrypoint, RuleOwnedVolumeMount, RuleReservedEnv,
		RuleGrantRecipient, RuleGrantShape, RuleGrantDuplicate,
	} {
		if !applied[rule] {
			t.Errorf("no remedy of %s was applied", rule)
		}
	}
}
