package compose

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML or JSON document and the place of everything in it.
type Document struct {
	// Minor is the Kubernetes minor that the document is for, 36 for 1.36; 0 is the newest known. What an older API
	// server does not know, or refuses where a newer one does not, is a violation then.
	Minor int

	root  *yaml.Node // the document's value
	start Place      // where the document itself starts, as the YAML reader counts
	lines *lines
	json  bool // read by the rules of JSON
	// aliases says why the document's aliases could not be read; they are cut out of root then.
	aliases *Violation
	// outer translates pieces of a document that is embedded in another one; nil for a file's own.
	outer func(span) Range
}

var utf8BOM = []byte("\xEF\xBB\xBF")

// ReadDocument reads the one YAML or JSON document that a template file must hold. The violations say
// why it could not be read; then the Document is nil.
func ReadDocument(data []byte) (*Document, []Violation) {
	if len(data) > MaxTemplateBytes {
		return nil, []Violation{tooLarge(len(data))}
	}
	docs, violations := ReadDocuments(data)
	if len(violations) > 0 {
		return nil, violations
	}
	return onlyDocument(docs, "a v1 PodTemplate")
}

// onlyDocument returns the one readable document of a file that must hold what is named.
func onlyDocument(docs []*Document, what string) (*Document, []Violation) {
	switch {
	case len(docs) == 0:
		return nil, []Violation{documentViolation(RuleDocumentEmpty, startOfFile,
			"the file holds no document, or only comments",
			fmt.Sprintf("write %s; if a command produced the file, that command failed", what))}
	case len(docs) > 1:
		return nil, []Violation{docs[1].isSecond()}
	case docs[0].aliases != nil:
		return nil, []Violation{*docs[0].aliases}
	}
	return docs[0], nil
}

// startOfFile is where a violation of the whole file is shown.
var startOfFile = Range{Start: Place{1, 1}, End: Place{1, 1}}

// ReadDocuments reads every document of a text; a text of comments alone holds none.
func ReadDocuments(data []byte) ([]*Document, []Violation) {
	data = bytes.TrimPrefix(data, utf8BOM)
	if v := checkEncoding(data); v != nil {
		return nil, []Violation{*v}
	}
	lines := newLines(data)
	if root := readJSON(lines); root != nil {
		return []*Document{{root: root, lines: lines, json: true}}, nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	nodes, err := readNodes(dec)
	if err != nil {
		return nil, []Violation{(&Document{lines: lines}).syntaxError(dec, err)}
	}
	if len(nodes) == 1 && isEmpty(nodes[0]) {
		return nil, nil
	}
	docs := make([]*Document, 0, len(nodes))
	for _, n := range nodes {
		docs = append(docs, newDocument(n, lines))
	}
	return docs, nil
}

// newDocument finishes a document of the YAML reader.
func newDocument(n *yaml.Node, lines *lines) *Document {
	d := &Document{lines: lines, start: Place{n.Line, n.Column}}
	if len(n.Content) > 0 {
		d.root = n.Content[0]
	} else {
		d.root = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
	}
	if bytes.IndexByte(lines.text, '!') >= 0 {
		d.markStrings(d.root)
	}
	if bytes.IndexByte(lines.text, '*') >= 0 {
		d.aliases = d.checkAliases()
	}
	return d
}

// markStrings marks what the tag ! makes a string. The YAML reader does not tell.
func (d *Document) markStrings(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 && d.hasBareTag(n) {
		n.Tag, n.Style = "!!str", n.Style|yaml.TaggedStyle
	}
	for _, child := range n.Content {
		d.markStrings(child)
	}
}

// hasBareTag reports whether the tag ! stands before a scalar, alone or after an anchor.
func (d *Document) hasBareTag(n *yaml.Node) bool {
	text := d.lines.text
	at := d.lines.offset(Place{n.Line, n.Column})
	if at < len(text) && text[at] == '&' {
		for at < len(text) && !isSpace(text[at]) {
			at++
		}
		at = skipSpace(text, at)
	}
	return at+1 < len(text) && text[at] == '!' && isSpace(text[at+1]) && n.Value != "<<"
}

// readNodes parses every document of the text.
func readNodes(dec *yaml.Decoder) (nodes []*yaml.Node, err error) {
	// The parser reports some malformed input by panicking with a value that is not its own error type.
	defer func() {
		if r := recover(); r != nil {
			nodes, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	for {
		n := new(yaml.Node)
		err := dec.Decode(n)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
}

// isEmpty reports whether a document holds nothing: no text at all, not even the word null.
func isEmpty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0
}

// isSecond is the violation of a document that is not the first of its file.
func (d *Document) isSecond() Violation {
	const marker = len("---")
	if at := d.lines.offset(d.start); isNull(d.root) && d.root.Value == "" {
		return documentViolation(RuleDocumentMultiple, d.rangeOf(span{at, min(at+marker, len(d.lines.text))}),
			"a second, empty document starts here; a template file holds exactly one", "remove this separator")
	}
	return documentViolation(RuleDocumentMultiple, d.tokenRange(d.root),
		"a second document starts here; a template file holds exactly one",
		"move the second document to a file of its own, and remove the separator above it")
}

// tooLarge is the violation of a document over the size limit.
func tooLarge(size int) Violation {
	return documentViolation(RuleDocumentSize, startOfFile,
		fmt.Sprintf("the document has %d bytes; a template may have %d", size, MaxTemplateBytes),
		"move large literal data out of the template, into the image or a ConfigMap")
}
