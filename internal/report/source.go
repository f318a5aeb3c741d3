package report

import (
	"bytes"
	"unicode/utf8"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// source gives the lines of one file.
type source struct {
	file    string
	content []byte
	starts  []int // byte offset of each line; nil until a line is asked for
}

func newSource(r lint.FileResult) *source {
	// Columns are counted from after the byte order mark.
	return &source{file: r.File, content: bytes.TrimPrefix(r.Content, []byte("\ufeff"))}
}

// excerpt returns the line that a finding is about, at most limit cells of it. There is none for a
// finding without a line or about another file, nor from a binary file.
func (s *source) excerpt(f finding.Finding, limit int) (excerpt, bool) {
	if f.Line <= 0 || f.File != s.file {
		return excerpt{}, false
	}
	line, ok := s.line(f.Line)
	if !ok || bytes.IndexByte(line, 0) >= 0 {
		return excerpt{}, false
	}
	start := max(f.Column, 1)
	return newExcerpt(line, start, endOnLine(f, line, start), limit), true
}

// endOnLine is the exclusive column at which the mark ends: where the finding ends, or with its first line.
func endOnLine(f finding.Finding, line []byte, start int) int {
	if f.EndLine > f.Line {
		return utf8.RuneCount(bytes.TrimRight(line, " \t")) + 1
	}
	return max(f.EndColumn, start+1)
}

// line returns the n-th line, counted from 1, without its end. Lines end with LF or CRLF, as where findings
// are placed; a lone CR is a character of its line.
func (s *source) line(n int) ([]byte, bool) {
	if s.starts == nil {
		s.starts = lineStarts(s.content)
	}
	if len(s.content) == 0 || n > len(s.starts) {
		return nil, false
	}
	line, _, _ := bytes.Cut(s.content[s.starts[n-1]:], []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), true
}

func lineStarts(content []byte) []int {
	starts := []int{0}
	for at := 0; ; {
		end := bytes.IndexByte(content[at:], '\n')
		if end < 0 {
			return starts
		}
		at += end + 1
		starts = append(starts, at)
	}
}
