package compose

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalarMap says for each byte of a scalar's value which piece of the text stands for its character. It
// serves a template inside a profile's string: indented, folded, quoted or escaped.
type scalarMap []span

// piece is the piece of the text in which a piece of the value stands.
func (m scalarMap) piece(s span) span {
	start := m[min(max(s.start, 0), len(m)-1)].start
	if s.end <= s.start {
		return span{start, start}
	}
	return span{start, max(start, m[min(s.end, len(m))-1].end)}
}

// scalarMap maps the value of a scalar in the document. Where the scan does not yield the value, all of
// it stands at the scalar's start.
func (d *Document) scalarMap(n *yaml.Node) scalarMap {
	s := d.scanScalar(n)
	if s.failed || s.value != "" {
		return scalarMap{d.token(n)}
	}
	return append(s.out, span{s.at, s.at})
}

func (d *Document) scanScalar(n *yaml.Node) *scalarScanner {
	text := d.lines.text
	start := skipProperties(text, d.lines.offset(Place{n.Line, n.Column}))
	s := &scalarScanner{text: text, value: n.Value, at: start, json: d.json, out: make([]span, 0, len(n.Value)+1)}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		s.block(n.Style&yaml.LiteralStyle != 0)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		s.at++
		s.flow('"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		s.at++
		s.flow('\'')
	default:
		s.flow(0)
	}
	return s
}

// scalarScanner walks the text of one scalar as the YAML reader does.
type scalarScanner struct {
	text   []byte
	at     int
	value  string // what is not yet found
	json   bool   // line breaks inside quotes are not folded
	out    []span
	failed bool // the text is not what the value says
}

// emit notes which piece of the text stands for the next character of the value, and returns the character.
func (s *scalarScanner) emit(start, end int) rune {
	r, size := utf8.DecodeRuneInString(s.value)
	for range size {
		s.out = append(s.out, span{start, end})
	}
	s.value = s.value[size:]
	s.failed = s.failed || size == 0
	return r
}

// emitBreak notes that the next character of the value is the line break at an offset.
func (s *scalarScanner) emitBreak(at int) {
	size := 0
	if at < len(s.text) {
		size = breakLen(s.text[at:])
	}
	s.emit(at, at+size)
}

// copy takes the character at the current offset as it stands.
func (s *scalarScanner) copy() {
	r, size := utf8.DecodeRune(s.text[s.at:])
	if s.emit(s.at, s.at+size) != r {
		s.failed = true
	}
	s.at += size
}

func (s *scalarScanner) ended() bool { return s.failed || s.at >= len(s.text) }

// breakAt is the length of the line break at the current offset.
func (s *scalarScanner) breakAt() int {
	if s.at >= len(s.text) {
		return 0
	}
	return breakLen(s.text[s.at:])
}

// spaces passes up to limit spaces and returns their number.
func (s *scalarScanner) spaces(limit int) int {
	n := 0
	for n < limit && s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
		n++
	}
	return n
}

// flow scans a quoted or plain scalar; quote is 0 for a plain one.
func (s *scalarScanner) flow(quote byte) {
	for !s.ended() {
		c := s.text[s.at]
		switch {
		case quote == 0 && s.value == "":
			return
		case c == quote && quote == '\'' && s.at+1 < len(s.text) && s.text[s.at+1] == quote:
			s.emit(s.at, s.at+2)
			s.at += 2
		case c == quote && quote != 0:
			return
		case c == '\\' && quote == '"':
			s.escape()
		case s.json:
			s.copy()
		case c == ' ' || c == '\t' || s.breakAt() > 0:
			s.gap(false)
		default:
			s.copy()
		}
	}
}

// gap scans blanks and line breaks inside a flow scalar: blanks alone stay, one break becomes a blank,
// more become one break fewer. After an escaped break, every further break stays.
func (s *scalarScanner) gap(escaped bool) {
	start, first, folded := s.at, -1, escaped
	var kept []int
	for !s.ended() {
		n := s.breakAt()
		if n == 0 && !isSpace(s.text[s.at]) {
			break
		}
		switch {
		case n == 0:
			n = 1
		case !folded:
			folded, first = true, s.at
		default:
			kept = append(kept, s.at)
		}
		s.at += n
	}
	switch {
	case !folded:
		s.at, start = start, s.at
		for s.at < start {
			s.copy()
		}
		return
	case first >= 0 && (len(kept) == 0 || s.text[first] == 0xE2): // LS and PS are never folded away
		s.emitBreak(first)
	}
	for _, at := range kept {
		s.emitBreak(at)
	}
}

// escapeLen is the length of each escape of a double-quoted scalar that is longer than two bytes.
var escapeLen = map[byte]int{'x': 4, 'u': 6, 'U': 10}

func (s *scalarScanner) escape() {
	start := s.at
	s.at++
	if n := s.breakAt(); n > 0 { // an escaped line break, which yields nothing
		s.at += n
		s.gap(true)
		return
	}
	if s.ended() {
		s.failed = true
		return
	}
	s.at = start + max(escapeLen[s.text[s.at]], 2)
	if r, _ := utf8.DecodeRuneInString(s.value); s.json && r > 0xFFFF { // two escapes make one character
		s.at += escapeLen['u']
	}
	s.emit(start, s.at)
}

// block scans a literal or folded scalar.
func (s *scalarScanner) block(literal bool) {
	for !s.ended() && s.breakAt() == 0 { // the header
		s.at++
	}
	s.at += s.breakAt()
	indent := s.blockIndent()
	last := -1 // where the last line ended
	wasBlank := false
	for {
		blankLines, more := s.blankLines(indent)
		if !more || s.failed {
			s.finish(last, blankLines)
			return
		}
		isBlank := s.text[s.at] == ' ' || s.text[s.at] == '\t'
		s.join(last, blankLines, !literal && !wasBlank && !isBlank)
		for !s.ended() && s.breakAt() == 0 {
			s.copy()
		}
		last, wasBlank = s.at, isBlank
		s.at += s.breakAt()
	}
}

// join notes what became of the break after the last line and of the blank lines after it.
func (s *scalarScanner) join(last int, blankLines []int, fold bool) {
	folded := fold && len(blankLines) > 0 && last >= 0 && s.text[last] != 0xE2 // LS and PS are never folded away
	if last >= 0 && !folded {
		s.emitBreak(last)
	}
	for _, at := range blankLines {
		s.emitBreak(at)
	}
}

// finish notes the breaks at the end of a block scalar, as far as its header keeps them.
func (s *scalarScanner) finish(last int, blankLines []int) {
	if last >= 0 && s.value != "" {
		s.emitBreak(last)
	}
	for _, at := range blankLines {
		if s.value != "" {
			s.emitBreak(at)
		}
	}
	if n := len(s.out); n > 0 {
		s.at = s.out[n-1].end
	}
}

// blankLines passes the lines that hold nothing beyond the indentation. It returns their breaks, and
// whether a line of the scalar follows.
func (s *scalarScanner) blankLines(indent int) (breaks []int, more bool) {
	for {
		n := s.spaces(indent)
		size := s.breakAt()
		if size == 0 {
			return breaks, n == indent && s.at < len(s.text)
		}
		breaks = append(breaks, s.at)
		s.at += size
	}
}

// blockIndent is the indentation of a block scalar: that of its first line that is not blank, less the
// blanks with which the value itself starts there.
func (s *scalarScanner) blockIndent() int {
	lead := s.value[:len(s.value)-len(strings.TrimLeft(s.value, " \t\n\u2028\u2029"))]
	own := len(lead) - len(strings.TrimRight(lead, " \t"))
	line, at := s.at, s.at
	for at < len(s.text) {
		if n := breakLen(s.text[at:]); n > 0 {
			at += n
			line = at
		} else if s.text[at] == ' ' || s.text[at] == '\t' {
			at++
		} else {
			break
		}
	}
	return max(at-line-own, 0)
}
