package compose

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Place is a position in a text: line and column, both 1-based, columns counted in characters.
// The zero Place means unknown.
type Place struct {
	Line, Column int
}

// Range is a piece of a text; End is exclusive.
type Range struct {
	Start, End Place
}

// IsZero reports whether the range is unknown.
func (r Range) IsZero() bool { return r.Start.Line == 0 }

// lines gives access to a text by line number, and translates the line numbers of the YAML reader
// to those of an editor: YAML 1.1 also ends a line at a lone CR, NEL, LS or PS.
type lines struct {
	text   []byte
	starts []int // byte offset at which the YAML reader starts each line
	exotic bool  // some line ends in something else than LF or CRLF
}

func newLines(text []byte) *lines {
	l := &lines{text: text, starts: make([]int, 1, bytes.Count(text, []byte{'\n'})+1)}
	for i := 0; i < len(text); {
		n := breakLen(text[i:])
		if n == 0 {
			i++
			continue
		}
		if text[i] != '\n' && (n != 2 || text[i] != '\r') {
			l.exotic = true
		}
		i += n
		l.starts = append(l.starts, i)
	}
	return l
}

// breakLen returns the length of the YAML 1.1 line break at the start of b, 0 if there is none.
func breakLen(b []byte) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2
		}
		return 1
	case b[0] == 0xC2 && len(b) > 1 && b[1] == 0x85:
		return 2
	case b[0] == 0xE2 && len(b) > 2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9):
		return 3
	}
	return 0
}

// line returns the text of a line as the YAML reader counts, without its line break.
func (l *lines) line(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n]
	}
	s := l.text[l.starts[n-1]:end]
	for i := range s {
		if breakLen(s[i:]) > 0 {
			return s[:i]
		}
	}
	return s
}

// from returns the rest of a line from a column on.
func (l *lines) from(p Place) []byte {
	s := l.line(p.Line)
	for range p.Column - 1 {
		if len(s) == 0 {
			return nil
		}
		_, n := utf8.DecodeRune(s)
		s = s[n:]
	}
	return s
}

// editor translates a place of the YAML reader to the place at which an editor shows it.
func (l *lines) editor(p Place) Place {
	if !l.exotic || p.Line < 1 || p.Line > len(l.starts) {
		return p
	}
	before := l.text[:l.starts[p.Line-1]]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Place{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: p.Column + utf8.RuneCount(before[start:]),
	}
}

// at returns the place of a byte offset, as an editor counts.
func (l *lines) at(offset int) Place {
	before := l.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Place{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: 1 + utf8.RuneCount(before[start:]),
	}
}

// scalarLen returns the length, in characters, of the scalar that starts s: up to its closing quote,
// or for a plain one what its value takes.
func scalarLen(s []byte, value string) int {
	if len(s) == 0 {
		return 0
	}
	switch s[0] {
	case '"':
		return quotedLen(s, func(i int) int {
			if s[i] == '\\' {
				return 2
			}
			return 0
		})
	case '\'':
		return quotedLen(s, func(i int) int {
			if bytes.HasPrefix(s[i:], []byte("''")) {
				return 2
			}
			return 0
		})
	}
	if strings.HasPrefix(string(s), value) {
		return utf8.RuneCountInString(value)
	}
	return 1
}

// quotedLen finds the quote that closes the one at s[0]; escape returns the length of the escape at
// an offset, 0 if there is none. A quote that does not close on its line takes the rest of it.
func quotedLen(s []byte, escape func(int) int) int {
	for i := 1; i < len(s); {
		if n := escape(i); n > 0 {
			i += n
			continue
		}
		if s[i] == s[0] {
			return utf8.RuneCount(s[:i+1])
		}
		i++
	}
	return utf8.RuneCount(bytes.TrimRight(s, " \t"))
}
