package compose

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// rangeOf translates a piece of the document's text to places in its file.
func (d *Document) rangeOf(s span) Range {
	if d.outer != nil {
		return d.outer(s)
	}
	return Range{Start: d.lines.place(s.start), End: d.lines.place(s.end)}
}

// tokenRange is the range of a scalar's own text, or of the first character of a list or object.
func (d *Document) tokenRange(n *yaml.Node) Range { return d.rangeOf(d.token(n)) }

func (d *Document) token(n *yaml.Node) span {
	start := d.lines.offset(Place{n.Line, n.Column})
	switch n.Kind {
	case yaml.AliasNode:
		return span{start, start + len("*") + len(n.Value)}
	case yaml.ScalarNode:
		return d.scalarToken(n, start)
	case yaml.MappingNode:
		if n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 {
			return d.token(n.Content[0])
		}
	}
	return d.character(skipProperties(d.lines.text, start))
}

// character is the piece of one character at most.
func (d *Document) character(start int) span { return span{start, min(start+1, len(d.lines.text))} }

func (d *Document) scalarToken(n *yaml.Node, start int) span {
	text := d.lines.text
	if n.Value == "" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		if start > 0 && text[start-1] == '-' { // an empty list item is shown at its dash
			return span{start - 1, start}
		}
		return span{start, start}
	}
	start = skipProperties(text, start)
	switch {
	case start >= len(text):
		return span{start, start}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return span{start, start + 1}
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return span{start, quotedEnd(text, start)}
	}
	return span{start, start + commonPrefix(text[start:], n.Value)}
}

// skipProperties passes the anchor and tag before a value.
func skipProperties(text []byte, at int) int {
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		for at < len(text) && !isSpace(text[at]) {
			at++
		}
		at = skipSpace(text, at)
	}
	return at
}

// skipSpace passes blanks, line breaks and comments.
func skipSpace(text []byte, at int) int {
	for at < len(text) && (isSpace(text[at]) || text[at] == '#') {
		if text[at] == '#' {
			if end := bytes.IndexAny(text[at:], "\r\n"); end >= 0 {
				at += end
				continue
			}
			return len(text)
		}
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// quotedEnd is the offset after the quote that closes the one at start. A quote that does not close on
// its line takes the rest of the line.
func quotedEnd(text []byte, start int) int {
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n' || c == '\r':
			return start + len(bytes.TrimRight(text[start:i], " \t"))
		case c == '\\' && quote == '"' && i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r':
			i++
		case c != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// commonPrefix is the length of what a text and a value start with, blanks at its end not counted.
func commonPrefix(text []byte, value string) int {
	n := 0
	for n < len(text) && n < len(value) && text[n] == value[n] {
		n++
	}
	return len(bytes.TrimRight(text[:n], " \t\r\n"))
}

// pair covers a key and, where it stands on the same line, its scalar value.
func (d *Document) pair(key, value *yaml.Node) span {
	s := d.token(key)
	const block = yaml.LiteralStyle | yaml.FoldedStyle
	if value.Line != key.Line || value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode ||
		value.Style&block != 0 || value.Value == "" && value.Style == 0 {
		return s
	}
	v := d.token(value)
	if bytes.IndexByte(d.lines.text[s.start:v.start], '\n') >= 0 { // the value's tag or anchor stands alone
		return s
	}
	return span{s.start, v.end}
}
