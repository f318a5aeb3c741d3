package compose

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML or JSON document and the place of everything in it.
type Document struct {
	root  *yaml.Node // the document's value
	start Place      // where the document itself starts
	lines *lines
	// outer translates places of a document that is embedded in another one; nil for a file's own.
	outer func(Place) Place
}

var utf8BOM = []byte("\xEF\xBB\xBF")

// ReadDocument reads the one YAML or JSON document that a template file must hold. The violations say
// why it could not be read; then the Document is nil.
func ReadDocument(data []byte) (*Document, []Violation) {
	if len(data) > MaxTemplateBytes {
		return nil, []Violation{tooLarge(len(data))}
	}
	docs, violations := readDocuments(data)
	switch {
	case len(violations) > 0:
		return nil, violations
	case len(docs) == 0:
		return nil, []Violation{documentViolation(RuleDocumentEmpty, startOfFile,
			"the file holds no document, or only comments",
			"write a v1 PodTemplate; if a command produced the file, that command failed")}
	case len(docs) > 1:
		return nil, []Violation{docs[1].isSecond()}
	}
	return docs[0], nil
}

// startOfFile is where a violation of the whole file is shown.
var startOfFile = Range{Start: Place{1, 1}, End: Place{1, 1}}

// readDocuments reads every document of a text; a text of comments alone holds none.
func readDocuments(data []byte) ([]*Document, []Violation) {
	data = bytes.TrimPrefix(data, utf8BOM)
	if v := checkEncoding(data); v != nil {
		return nil, []Violation{*v}
	}
	lines := newLines(data)
	nodes, err := readNodes(data)
	if err != nil {
		return nil, []Violation{(&Document{lines: lines}).syntaxError(err)}
	}
	if len(nodes) == 1 && isEmpty(nodes[0]) {
		return nil, nil
	}
	docs := make([]*Document, 0, len(nodes))
	for _, n := range nodes {
		d := &Document{lines: lines, start: Place{n.Line, n.Column}}
		if len(n.Content) > 0 {
			d.root = n.Content[0]
		} else {
			d.root = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// checkEncoding finds what no reader of UTF-8 text accepts.
func checkEncoding(data []byte) *Violation {
	at := func(offset int) Range {
		p := newLines(data[:offset]).at(offset)
		return Range{Start: p, End: Place{p.Line, p.Column + 1}}
	}
	if bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.HasPrefix(data, []byte{0xFE, 0xFF}) {
		v := documentViolation(RuleDocumentEncoding, at(0), "the file is UTF-16, not UTF-8", "save the file as UTF-8")
		return &v
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			v := documentViolation(RuleDocumentEncoding, at(i),
				fmt.Sprintf("byte 0x%02X is not UTF-8", data[i]), "save the file as UTF-8")
			return &v
		}
		if r == 0 {
			v := documentViolation(RuleDocumentEncoding, at(i), "a NUL byte: the file is binary or UTF-16, not UTF-8 text",
				"save the file as UTF-8 text")
			return &v
		}
		i += n
	}
	return nil
}

// readNodes parses every document of the text.
func readNodes(data []byte) (nodes []*yaml.Node, err error) {
	// The parser reports some malformed input by panicking with a value that is not its own error type.
	defer func() {
		if r := recover(); r != nil {
			nodes, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
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
	return documentViolation(RuleDocumentMultiple, d.tokenRange(d.root),
		"a second document starts here; a template file holds exactly one",
		"move the second document to a file of its own, and remove the separator above it")
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntaxError turns the parser's error into a violation at the line that it names.
func (d *Document) syntaxError(err error) Violation {
	m := yamlErrorLine.FindStringSubmatch(err.Error())
	text := strings.TrimPrefix(err.Error(), m[0])
	line, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		line = 1
	}
	at := d.placed(Place{line, d.indent(line) + 1}, utf8.RuneCount(bytes.TrimSpace(d.lines.line(line))))
	if strings.Contains(text, "expected <document start>") {
		return documentViolation(RuleDocumentMultiple, at,
			"content after the end of the document; a template file holds exactly one",
			"remove what follows the document's end, or move it to a file of its own")
	}
	return documentViolation(RuleDocumentSyntax, at, "not YAML or JSON: "+text, syntaxRemedy(text))
}

func syntaxRemedy(text string) string {
	switch {
	case strings.Contains(text, "cannot start any token"):
		return "indent with spaces, and quote a value that starts with a special character"
	case strings.Contains(text, "mapping values are not allowed"):
		return "quote a value that holds \": \", and check the indentation of this line"
	case strings.Contains(text, "unknown anchor"):
		return "define the anchor before its first use, or write the value out"
	}
	return "correct the indentation, quotes or brackets at or just above this line"
}

// indent returns the number of blanks at the start of a line.
func (d *Document) indent(line int) int {
	s := d.lines.line(line)
	return len(s) - len(bytes.TrimLeft(s, " \t"))
}

// placed returns the range of n characters from a place of the YAML reader, as an editor counts.
func (d *Document) placed(p Place, n int) Range {
	return d.translate(Range{Start: p, End: Place{p.Line, p.Column + n}})
}

func (d *Document) translate(r Range) Range {
	r = Range{Start: d.lines.editor(r.Start), End: d.lines.editor(r.End)}
	if d.outer != nil {
		r = Range{Start: d.outer(r.Start), End: d.outer(r.End)}
	}
	return r
}

// tokenRange is the range of a scalar's own text, or of the first character of a list or object.
func (d *Document) tokenRange(n *yaml.Node) Range {
	return d.translate(d.token(n))
}

func (d *Document) token(n *yaml.Node) Range {
	start := Place{n.Line, n.Column}
	if n.Kind != yaml.ScalarNode {
		if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 {
			return d.token(n.Content[0])
		}
		return Range{Start: start, End: Place{n.Line, n.Column + d.symbolLen(n)}}
	}
	s := d.lines.from(start)
	skipped := propertiesLen(s)
	return Range{Start: start, End: Place{n.Line, n.Column + skipped + scalarLen(skip(s, skipped), n.Value)}}
}

// symbolLen is the length of what stands for a node that is no scalar: *alias, or one bracket.
func (d *Document) symbolLen(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return 1 + utf8.RuneCountInString(n.Value)
	}
	return 1
}

// propertiesLen is the length, in characters, of the anchor and tag before a value.
func propertiesLen(s []byte) int {
	n := 0
	for len(s) > 0 && (s[0] == '&' || s[0] == '!') {
		end := bytes.IndexAny(s, " \t")
		if end < 0 {
			return n
		}
		rest := bytes.TrimLeft(s[end:], " \t")
		n += utf8.RuneCount(s[:len(s)-len(rest)])
		s = rest
	}
	return n
}

// skip drops n characters.
func skip(s []byte, n int) []byte {
	for range n {
		_, size := utf8.DecodeRune(s)
		s = s[size:]
	}
	return s
}

// pairRange covers a key and, where it stands on the same line, its scalar value.
func (d *Document) pairRange(key, value *yaml.Node) Range { return d.translate(d.pair(key, value)) }

func (d *Document) pair(key, value *yaml.Node) Range {
	r := d.token(key)
	if value.Line != key.Line || value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode ||
		value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || value.Value == "" && value.Style == 0 {
		return r
	}
	r.End = d.token(value).End
	return r
}
