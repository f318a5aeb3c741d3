package compose

import (
	"bytes"
	"sort"
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

// span is a piece of a text by byte offsets; end is exclusive.
type span struct {
	start, end int
}

// lines translates between byte offsets and places, in time that does not grow with a line's length.
// The YAML reader and an editor count lines differently: YAML 1.1 also ends a line at a lone CR, NEL,
// LS or PS.
type lines struct {
	text   []byte
	reader []int // byte offset at which the YAML reader starts each line
	editor []int // byte offset at which an editor starts each line
	runes  []int // characters before each block of the text; nil where every character is a byte
}

// runeBlock is the length of the blocks of lines.runes, in bytes.
const runeBlock = 256

func newLines(text []byte) *lines {
	l := &lines{text: text, editor: editorLines(text)}
	l.reader = l.editor
	ascii := isASCII(text)
	if !ascii {
		l.runes = countRunes(text)
	}
	if !ascii || bytes.IndexByte(text, '\r') >= 0 {
		l.reader = readerLines(text)
	}
	return l
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func editorLines(text []byte) []int {
	starts := make([]int, 1, bytes.Count(text, []byte{'\n'})+1)
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return starts
		}
		at += i + 1
		starts = append(starts, at)
	}
}

func readerLines(text []byte) []int {
	starts := []int{0}
	for i := 0; i < len(text); {
		n := breakLen(text[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		starts = append(starts, i)
	}
	return starts
}

func countRunes(text []byte) []int {
	counts := make([]int, 0, len(text)/runeBlock+1)
	count := 0
	for i, c := range text {
		if i%runeBlock == 0 {
			counts = append(counts, count)
		}
		if utf8.RuneStart(c) {
			count++
		}
	}
	return counts
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

// runesBefore is the number of characters before an offset.
func (l *lines) runesBefore(offset int) int {
	if l.runes == nil || offset == 0 {
		return offset
	}
	block := (offset - 1) / runeBlock
	count := l.runes[block]
	for _, c := range l.text[block*runeBlock : offset] {
		if utf8.RuneStart(c) {
			count++
		}
	}
	return count
}

// offset is the byte offset of a place as the YAML reader counts.
func (l *lines) offset(p Place) int { return l.offsetBy(l.reader, p) }

func (l *lines) offsetBy(starts []int, p Place) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(starts) {
		return len(l.text)
	}
	start := starts[p.Line-1]
	if l.runes == nil {
		return min(start+p.Column-1, len(l.text))
	}
	want := l.runesBefore(start) + p.Column - 1
	block := sort.SearchInts(l.runes, want+1) - 1
	at, count := block*runeBlock, l.runes[block]
	for at < len(l.text) {
		if utf8.RuneStart(l.text[at]) {
			if count == want {
				break
			}
			count++
		}
		at++
	}
	return at
}

// editorOffset is the byte offset of a place as an editor counts.
func (l *lines) editorOffset(p Place) int { return l.offsetBy(l.editor, p) }

// place is the place of a byte offset as an editor counts.
func (l *lines) place(offset int) Place { return l.placeBy(l.editor, offset) }

// readerPlace is the place of a byte offset as the YAML reader counts.
func (l *lines) readerPlace(offset int) Place { return l.placeBy(l.reader, offset) }

func (l *lines) placeBy(starts []int, offset int) Place {
	offset = min(max(offset, 0), len(l.text))
	line := sort.SearchInts(starts, offset+1)
	return Place{Line: line, Column: l.runesBefore(offset) - l.runesBefore(starts[line-1]) + 1}
}

// lineSpan is the text of a line as the YAML reader counts, without blanks around it.
func (l *lines) lineSpan(line int) span {
	start := l.offset(Place{line, 1})
	end := l.offset(Place{line + 1, 1})
	text := l.text[start:end]
	blank := len(text) - len(bytes.TrimLeft(text, " \t"))
	return span{start + blank, max(start+len(bytes.TrimSpace(text))+blank, start+blank)}
}

func (l *lines) isBlankLine(line int) bool {
	s := l.lineSpan(line)
	return s.start == s.end
}
