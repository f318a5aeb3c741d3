package compose

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// checkEncoding finds what no reader of UTF-8 text accepts.
func checkEncoding(data []byte) *Violation {
	offset, detail := badByte(data)
	if detail == "" {
		return nil
	}
	start := newLines(data[:offset]).place(offset)
	at := Range{Start: start, End: Place{start.Line, start.Column + 1}}
	v := documentViolation(RuleDocumentEncoding, at, detail, "save the file as UTF-8 text")
	return &v
}

// badByte finds the first byte that is no part of a UTF-8 text, and says what it is.
func badByte(data []byte) (offset int, detail string) {
	if bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.HasPrefix(data, []byte{0xFE, 0xFF}) {
		return 0, "the file is UTF-16, not UTF-8"
	}
	text := data
	if nul := bytes.IndexByte(data, 0); nul >= 0 {
		text = data[:nul]
	}
	if !utf8.Valid(text) {
		offset := validPrefix(text)
		return offset, fmt.Sprintf("byte 0x%02X is not UTF-8", data[offset])
	}
	if len(text) < len(data) {
		return len(text), "a NUL byte: the file is binary or UTF-16, not UTF-8 text"
	}
	return 0, ""
}

// validPrefix is the length of the UTF-8 text with which data starts.
func validPrefix(data []byte) int {
	i := 0
	for i < len(data) {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}
