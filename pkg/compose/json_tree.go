package compose

import (
	"bytes"
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// jsonNumberTag marks a number of a JSON document, which keeps the form in which it is written.
const jsonNumberTag = "!json-number"

// readJSON reads a text that is one JSON object as the API server's JSON reader does, which takes
// escapes that the YAML reader refuses. It returns nil for every other text.
func readJSON(l *lines) *yaml.Node {
	if !bytes.HasPrefix(bytes.TrimLeft(l.text, " \t\r\n"), []byte{'{'}) || !json.Valid(l.text) {
		return nil
	}
	r := &jsonReader{lines: l, tokens: json.NewDecoder(bytes.NewReader(l.text))}
	r.tokens.UseNumber()
	return r.value()
}

// jsonReader builds the tree of a valid JSON text.
type jsonReader struct {
	lines  *lines
	tokens *json.Decoder
}

// value reads the next value; nil stands for a closing bracket.
func (r *jsonReader) value() *yaml.Node {
	place := r.next()
	token, err := r.tokens.Token()
	if err != nil { // unreachable: the text is valid
		return nil
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: place.Line, Column: place.Column}
	switch v := token.(type) {
	case json.Delim:
		return r.composite(n, v)
	case string:
		n.Tag, n.Style, n.Value = "!!str", yaml.DoubleQuotedStyle, v
	case json.Number:
		n.Tag, n.Value = jsonNumberTag, v.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n
}

func (r *jsonReader) composite(n *yaml.Node, d json.Delim) *yaml.Node {
	switch d {
	case '{':
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	case '[':
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	default:
		return nil
	}
	n.Style = yaml.FlowStyle
	for child := r.value(); child != nil; child = r.value() {
		n.Content = append(n.Content, child)
	}
	return n
}

// next is the place of the token after the last one.
func (r *jsonReader) next() Place {
	at := int(r.tokens.InputOffset())
	for at < len(r.lines.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.lines.text[at]) >= 0 {
		at++
	}
	return r.lines.readerPlace(at)
}
