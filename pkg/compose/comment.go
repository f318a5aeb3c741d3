package compose

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Comment is one comment of a document.
type Comment struct {
	Range Range
	Text  string // without the # and the blanks around it
	// Line is the line that the comment is about: its own, or for a comment that has its line to itself
	// the next one that holds something else.
	Line int
	// About is that whole line, where it stands in the file: a string of a profile may hold several.
	About Range
}

// Comments returns the comments that hold a marker, in order. A # inside a scalar starts none.
func (d *Document) Comments(marker string) []Comment {
	text := d.lines.text
	if d.json || !bytes.Contains(text, []byte(marker)) {
		return nil
	}
	var out []Comment
	scalars := d.scalarSpans()
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], '#')
		if i < 0 {
			break
		}
		at += i
		if end := endOfScalar(scalars, at); end > at {
			at = end
			continue
		}
		if at > 0 && !isSpace(text[at-1]) {
			at++
			continue
		}
		end := commentEnd(text, at)
		if bytes.Contains(text[at:end], []byte(marker)) {
			out = append(out, d.comment(span{at, end}))
		}
		at = end
	}
	return out
}

func commentEnd(text []byte, at int) int {
	for at < len(text) && breakLen(text[at:]) == 0 {
		at++
	}
	return at
}

func (d *Document) comment(s span) Comment {
	text := d.lines.text
	about := s.start
	line := bytes.LastIndexByte(text[:s.start], '\n') + 1
	if len(bytes.TrimSpace(text[line:s.start])) == 0 {
		about = skipSpace(text, s.end)
	}
	return Comment{
		Range: d.rangeOf(span{s.start, s.start + len(bytes.TrimRight(text[s.start:s.end], " \t"))}),
		Text:  strings.Trim(string(text[s.start:s.end]), "# \t"),
		Line:  d.rangeOf(span{about, about}).Start.Line,
		About: d.rangeOf(span{bytes.LastIndexByte(text[:about], '\n') + 1, commentEnd(text, about)}),
	}
}

// scalarSpans lists where scalars stand, in order.
func (d *Document) scalarSpans() []span {
	var out []span
	var visit func(*yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			out = append(out, d.scalarSpan(n))
		}
		for _, c := range n.Content {
			visit(c)
		}
	}
	visit(d.root)
	return out
}

// scalarSpan is the whole text of a scalar; a block scalar's starts below its header, which may end in a
// comment of its own.
func (d *Document) scalarSpan(n *yaml.Node) span {
	token := d.token(n)
	if n.Style == 0 && !strings.ContainsAny(n.Value, " \n") {
		return token
	}
	s := d.scanScalar(n)
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		token.start = commentEnd(d.lines.text, token.start)
	}
	return span{token.start, max(s.at, token.end)}
}

// endOfScalar returns the end of the scalar that an offset lies in, 0 if there is none.
func endOfScalar(scalars []span, at int) int {
	i, found := slices.BinarySearchFunc(scalars, at, func(s span, at int) int { return s.start - at })
	if !found {
		i--
	}
	if i >= 0 && at < scalars[i].end {
		return scalars[i].end
	}
	return 0
}
