package compose

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalarMap says where each character of a scalar's value stands in the text that holds the scalar.
// It serves a template inside a profile's string: indented, folded, quoted or escaped.
type scalarMap struct {
	places []Place // one per character of the value, and one for its end
}

// at returns the place of the value's character at an offset.
func (m *scalarMap) at(offset int) Place {
	return m.places[min(max(offset, 0), len(m.places)-1)]
}

func newScalarMap(l *lines, n *yaml.Node) *scalarMap {
	s := &scalarScanner{lines: l, pos: Place{n.Line, n.Column}}
	s.pos.Column += propertiesLen(l.from(s.pos))
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		s.block(n.Value)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		s.pos.Column++
		s.flow('"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		s.pos.Column++
		s.flow('\'')
	default:
		s.flow(0)
	}
	want := utf8.RuneCountInString(n.Value) + 1
	for len(s.out) < want {
		s.out = append(s.out, l.editor(s.pos))
	}
	return &scalarMap{places: s.out[:want]}
}

// scalarScanner walks the text of one scalar and notes a place for each character of its value.
type scalarScanner struct {
	lines *lines
	pos   Place
	out   []Place
}

func (s *scalarScanner) emit(p Place) { s.out = append(s.out, s.lines.editor(p)) }

// rest returns what is left of the current line.
func (s *scalarScanner) rest() []byte { return s.lines.from(s.pos) }

// lastLine is the number of the text's last line.
func (s *scalarScanner) lastLine() int { return len(s.lines.starts) }

// flow scans a quoted or plain scalar; quote is 0 for a plain one.
func (s *scalarScanner) flow(quote rune) {
	for s.pos.Line <= s.lastLine() {
		rest := s.rest()
		if len(rest) == 0 || isBlank(rest) {
			s.foldLines()
			continue
		}
		r, _ := utf8.DecodeRune(rest)
		next, _ := utf8.DecodeRune(skip(rest, 1))
		switch {
		case r == quote && quote == '\'' && next == '\'':
			s.emit(s.pos)
			s.pos.Column += 2
		case r == quote && quote != 0:
			return
		case r == '\\' && quote == '"':
			s.escape(rest, next)
		default:
			s.emit(s.pos)
			s.pos.Column++
		}
	}
}

// escapeLen is the length of each escape of a double-quoted scalar that is longer than two characters.
var escapeLen = map[rune]int{'x': 4, 'u': 6, 'U': 10}

func (s *scalarScanner) escape(rest []byte, next rune) {
	if isBlank(skip(rest, 1)) { // an escaped line break, which yields nothing
		s.pos = Place{s.pos.Line + 1, 1}
		s.pos.Column += blanks(s.rest())
		return
	}
	s.emit(s.pos)
	s.pos.Column += max(escapeLen[next], 2)
}

// foldLines scans the end of a line: one break becomes a blank, more become one break fewer.
func (s *scalarScanner) foldLines() {
	end := s.pos
	breaks := 0
	for s.pos.Line <= s.lastLine() && isBlank(s.rest()) {
		s.pos = Place{s.pos.Line + 1, 1}
		breaks++
		if breaks > 1 {
			s.emit(Place{s.pos.Line - 1, 1})
		}
	}
	if breaks == 1 {
		s.emit(end)
	}
	s.pos.Column += blanks(s.rest())
}

// block scans a literal or folded scalar. Its value decides how its line breaks were folded.
func (s *scalarScanner) block(value string) {
	s.pos = Place{s.pos.Line + 1, 1}
	indent := s.blockIndent(value)
	for value != "" && s.pos.Line <= s.lastLine() {
		line := skip(s.lines.line(s.pos.Line), min(indent, blanks(s.lines.line(s.pos.Line))))
		s.pos.Column = indent + 1
		for len(line) > 0 && value != "" {
			_, size := utf8.DecodeRune(line)
			s.emit(s.pos)
			s.pos.Column++
			_, valueSize := utf8.DecodeRuneInString(value)
			line, value = line[size:], value[valueSize:]
		}
		value = s.endBlockLine(value)
	}
}

// endBlockLine notes what the break after a line became: a break, a blank, or nothing when blank lines
// that follow are folded.
func (s *scalarScanner) endBlockLine(value string) string {
	end := s.pos
	s.pos = Place{s.pos.Line + 1, 1}
	if value == "" {
		return value
	}
	if value[0] != '\n' && value[0] != ' ' {
		return value
	}
	if value[0] == '\n' && end.Column > 1 && s.breaksFold(value) {
		return value
	}
	s.emit(end)
	return value[1:]
}

// breaksFold reports whether the breaks at the start of the value are one fewer than the text's: then
// the first of them was folded away.
func (s *scalarScanner) breaksFold(value string) bool {
	inValue, inText := 0, 1
	for inValue < len(value) && value[inValue] == '\n' {
		inValue++
	}
	for n := s.pos.Line; n <= s.lastLine() && isBlank(s.lines.line(n)); n++ {
		inText++
	}
	return inValue < len(value) && inValue == inText-1
}

// blockIndent is the indentation of a block scalar: that of its first line that is not blank, less the
// blanks with which the value itself starts there.
func (s *scalarScanner) blockIndent(value string) int {
	for len(value) > 0 && value[0] == '\n' {
		value = value[1:]
	}
	for n := s.pos.Line; n <= s.lastLine(); n++ {
		if line := s.lines.line(n); !isBlank(line) {
			return max(blanks(line)-blanks([]byte(value)), 0)
		}
	}
	return 0
}

// blanks is the number of blanks at the start of a line.
func blanks(line []byte) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}

func isBlank(line []byte) bool { return blanks(line) == len(line) }
