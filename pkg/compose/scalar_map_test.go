package compose

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// checkMap holds a scalar's map against the text: each character of the value stands at that very
// character, at the escape for it, or at the line break that it was folded from.
func checkMap(text []byte, value string, m scalarMap) error {
	if len(m) != len(value)+1 {
		return fmt.Errorf("%d places for %d bytes", len(m), len(value))
	}
	last := -1
	for i, r := range value {
		at := m[i].start
		if at <= last || at >= len(text) {
			return fmt.Errorf("character %d stands at %d after %d", i, at, last)
		}
		last = at
		if m[i].end <= at || i+1 < len(value) && m[i+1].start > at && m[i].end > m[i+1].start {
			return fmt.Errorf("character %d takes %v, the next one %v", i, m[i], m[i+1])
		}
		got, _ := utf8.DecodeRune(text[at:])
		isBreak := breakLen(text[at:]) > 0
		switch {
		case got == r, isBreak && (r == '\n' || r == ' '):
		case got == '\\' && escaped(string(text[at:])) == r:
		default:
			return fmt.Errorf("character %d, %q, stands at %q", i, r, text[at:min(at+8, len(text))])
		}
	}
	if m[len(value)].start <= last {
		return fmt.Errorf("the end stands at %d after %d", m[len(value)].start, last)
	}
	return nil
}

// escaped decodes the escape at the start of a text.
func escaped(s string) rune {
	simple := map[byte]rune{'n': '\n', 't': '\t', '"': '"', '\\': '\\', '/': '/', ' ': ' ', 'e': 0x1B, 'N': 0x85, 'L': 0x2028, '_': 0xA0, 'b': '\b', 'r': '\r', 'f': '\f'}
	if r, ok := simple[s[1]]; ok {
		return r
	}
	var r, low rune
	switch n := escapeLen[s[1]]; n {
	case 0:
		return utf8.RuneError
	default:
		_, _ = fmt.Sscanf(s[2:n], "%x", &r)
	}
	if r >= 0xD800 && r < 0xDC00 {
		_, _ = fmt.Sscanf(s[8:12], "%x", &low)
		return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
	}
	return r
}

// mapOf reads a file with one key, and maps its value.
func mapOf(text string) (value string, m scalarMap, ok bool) {
	docs, _ := ReadDocuments([]byte(text))
	if len(docs) != 1 {
		return "", nil, false
	}
	n := childOf(docs[0].root, "k")
	if n == nil {
		return "", nil, false
	}
	if strings.Trim(n.Value, " \t\n\u2028\u2029") == "" {
		return "", nil, false // no template, so nothing in it is looked up
	}
	return n.Value, docs[0].scalarMap(n), true
}

func TestScalarMap(t *testing.T) {
	for _, text := range []string{
		"k: |\n  a\n  b\n", "k: |-\n  a\n   b\n\n", "k: |+\n  a\n\n\n", "k: |2\n    a\n  b\n", "k: |1-\n   a\n", "k: |\n\n  a\nz: 1\n",
		"k: |2\n     \n  a\n", "k: |\n  a", "k: | # comment\n  a\n  # no comment\n", "a: 1\nk: &x !!str |\n  é😀\n  b\n",
		"k: >\n  a\n  b\n", "k: >-\n  a\n\n  b\n\n\n  c\n", "k: >\n  a\n   b\n   c\n  d\n", "k: >+\n\n  a\n\n", "k: >\n  a\n\n   b\n\n  c\n",
		"k: \"a\\nb\"", "k: \"a\\u00e9\\x41\\U0001F600b\"", "k: \"a\n  b\"", "k: \"a\n\n  b\\\n  c\\\n\n  d\"", "k: \"a  \\\n   \\ b\"", "k: \"a \t b\"",
		"k: 'it''s'", "k: 'a\n  b\n\n  c'", "k: a b", "k: a\n  b\n\n  c\n", "k:\n  a", "k: &x\n  a # c", "k: !!str\n\n  'a'",
		"k: |\r\n  a\r\n  b\r\n", "k: >\r\n  a\r\n  b\r\n\r\n  c\r\n", "k: \"a\r\n  b\"", "k: |\r  a\r  b\r",
		"k: |\n  a\u0085  b\n", "k: |\n  a\u2028  b\n", "k: >\n  a\u2028  b\n", "k: \"a\u2028  b\"", "k: 'a\u0085  b'", "\u00e9: 1\nk: |2\n  \t a\n  b",
		`{"k": "a\ud83d\ude00b\n\u0041\/"}`, "{\"k\": \"a\u2028 b\u0085c  d\"}", "{\n\t\"k\":\t\"\\\"\"}", `{"j": 1, "k": "é"}`,
	} {
		value, m, ok := mapOf(text)
		if !ok {
			t.Errorf("%q was not read", text)
			continue
		}
		if err := checkMap([]byte(text), value, m); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// drawLines draws a text of a few lines with everything that a scalar may hold.
func drawLines(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b: c", " ", "  ", "\t", "\n", "\n", "\n\n", "é", "😀", "e\u0301", "'", "\"", "\\", "#", " # c", "- ", "*x", "&x", "!", "|", ">", "{", "}", ":", "...", "---", "\u0085", "\u2028", "\u2029", "\u00A0"})
	return strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "text"), "")
}

// styles writes a text as the value of k, or as something that the reader takes for another text.
var styles = map[string]func(text string) string{
	"literal":       func(s string) string { return "k: |\n" + indented(s, "  ") },
	"literal strip": func(s string) string { return "k: |-\n" + indented(s, "   ") + "z: 1\n" },
	"literal keep":  func(s string) string { return "k: |+\n" + indented(s, " ") },
	"literal 2":     func(s string) string { return "a: 1\nk: |2 # c\n" + indented(s, "  ") },
	"folded":        func(s string) string { return "k: >\n" + indented(s, "  ") + "z: 1\n" },
	"folded 4":      func(s string) string { return "k: >4-\n" + indented(s, "    ") },
	"single":        func(s string) string { return "k: '" + strings.ReplaceAll(indented(s, " "), "'", "''") + "'\n" },
	"double": func(s string) string {
		return "k: \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\n\\\n  ").Replace(s) + "\"\n"
	},
	"double folded": func(s string) string {
		return "k: \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(indented(s, " ")) + "\"\n"
	},
	"ascii": func(s string) string { return "k: " + asciiQuote(s) + "\n" },
	"plain": func(s string) string { return "k: a" + indented(s, " ") + "\n" },
	"json": func(s string) string {
		b, _ := json.Marshal(s)
		return `{"j": "é", "k": ` + string(b) + `}`
	},
	"ascii json": func(s string) string {
		b, _ := json.Marshal(s)
		var out strings.Builder
		for _, r := range string(b) {
			switch {
			case r < 0x80:
				out.WriteRune(r)
			case r > 0xFFFF:
				r -= 0x10000
				fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
			default:
				fmt.Fprintf(&out, `\u%04x`, r)
			}
		}
		return `{"k":` + out.String() + `}`
	},
}

func indented(s, pad string) string {
	return pad + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+pad) + "\n"
}

func asciiQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		case r > 0x7E || r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func TestScalarMapOfEveryStyle(t *testing.T) {
	for name, write := range styles {
		t.Run(name, func(t *testing.T) {
			read := 0
			rapid.Check(t, func(t *rapid.T) {
				eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "eol")
				text := strings.ReplaceAll(write(drawLines(t)), "\n", eol)
				value, m, ok := mapOf(text)
				if !ok {
					return
				}
				read++
				if err := checkMap([]byte(text), value, m); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			})
			if read == 0 {
				t.Error("no text was read")
			}
		})
	}
}
