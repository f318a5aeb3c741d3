package report

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	// maxExcerpt bounds a printed source line, in cells, where no terminal does: a document minified to
	// one line would otherwise be printed whole with each finding.
	maxExcerpt = 400
	minExcerpt = 20
	tabCells   = 4
	ellipsis   = "…"
)

// excerpt is a source line as printed, in three parts, and the mark beneath it, in terminal cells.
type excerpt struct {
	before, marked, after string
	indent, width         int
}

// cell is one grapheme cluster: some characters that a terminal shows as one.
type cell struct {
	text         string
	chars, width int
}

// newExcerpt marks the characters from start to before end (1-based), and trims the line around them to limit cells.
func newExcerpt(line []byte, start, end, limit int) excerpt {
	limit = min(max(limit, minExcerpt), maxExcerpt)
	near, skipped, more := around(line, start-1, limit)
	cells := layout(near)
	first, last := span(cells, start-1-skipped, end-1-skipped)
	from, to := window(cells, first, last, limit, skipped > 0, more)
	e := excerpt{before: join(cells[from:first]), marked: join(cells[first:min(last, to)]), after: join(cells[min(last, to):to])}
	if from > 0 || skipped > 0 {
		e.before = ellipsis + e.before
	}
	if to < len(cells) || more {
		e.after += ellipsis
	}
	e.indent = displaywidth.String(e.before)
	e.width = max(displaywidth.String(e.marked), 1)
	return e
}

// around cuts a long line down to the characters that could be printed, so that the work for one finding does
// not grow with the line. It returns how many characters it skipped and whether any follow.
func around(line []byte, at, limit int) (near string, skipped int, more bool) {
	skipped = max(at-limit, 0)
	from := advance(line, skipped)
	to := advance(line[from:], 2*limit) + from
	return string(line[from:to]), skipped, to < len(line)
}

// advance is the offset in bytes of n characters, or the line's length.
func advance(line []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}

// layout splits a line into what a terminal shows, with tabs as spaces up to the next tab stop.
func layout(line string) []cell {
	cells := make([]cell, 0, len(line))
	column := 0
	for rest := line; rest != ""; {
		text, tail, tab := strings.Cut(rest, "\t")
		g := displaywidth.StringGraphemes(visible(text))
		for g.Next() {
			c := cell{text: g.Value(), chars: utf8.RuneCountInString(g.Value()), width: g.Width()}
			column += c.width
			cells = append(cells, c)
		}
		if tab {
			width := tabCells - column%tabCells
			column += width
			cells = append(cells, cell{text: strings.Repeat(" ", width), chars: 1, width: width})
		}
		rest = tail
	}
	return cells
}

// span returns the half-open range of cells that hold the characters start to before end (0-based).
func span(cells []cell, start, end int) (first, last int) {
	at := 0
	for first < len(cells) && at+cells[first].chars <= start {
		at += cells[first].chars
		first++
	}
	for last = first; last < len(cells) && at < end; last++ {
		at += cells[last].chars
	}
	return first, last
}

// window returns the half-open range of cells to print: all that fit into limit with their ellipses, the
// mark's start always among them, with a quarter of the room before it unless the end leaves more.
func window(cells []cell, first, last, limit int, cutLeft, cutRight bool) (from, to int) {
	if total := widthOf(cells); !cutLeft && !cutRight && total <= limit {
		return 0, len(cells)
	}
	room := limit - 2
	if !cutLeft && widthOf(cells[:last]) <= room {
		return 0, fit(cells, 0, room)
	}
	for from = first; from > 0 && widthOf(cells[from-1:first]) <= room/4; {
		from--
	}
	to = fit(cells, from, room)
	for to == len(cells) && from > 0 && widthOf(cells[from-1:]) <= room {
		from--
	}
	return from, to
}

// fit returns the end of the longest range from a cell on that needs no more than room.
func fit(cells []cell, from, room int) int {
	to := from
	for used := 0; to < len(cells); to++ {
		if used += cells[to].width; used > room {
			break
		}
	}
	return to
}

func widthOf(cells []cell) int {
	sum := 0
	for _, c := range cells {
		sum += c.width
	}
	return sum
}

func join(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.text)
	}
	return b.String()
}
