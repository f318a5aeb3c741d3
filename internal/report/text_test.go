package report_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// at is a finding that marks columns start to before end of a line.
func at(line, start, end int) finding.Finding {
	return finding.Finding{Rule: "r", Severity: finding.Error, Message: "m", Line: line, Column: start, EndLine: line, EndColumn: end}
}

// excerptOf prints one finding and returns what stands after the bars: the source line and the mark.
func excerptOf(t *testing.T, content string, width int, f finding.Finding) (source, mark string) {
	t.Helper()
	out := run(t, "text", report.Options{Width: width}, lint.FileResult{File: "f", Content: []byte(content), Findings: []finding.Finding{f}})
	lines := strings.Split(out, "\n")
	if len(lines) < 4 || !strings.Contains(lines[1], "|") {
		t.Fatalf("no excerpt in %q", out)
	}
	after := func(s string) string {
		_, s, _ = strings.Cut(s, "|")
		return strings.TrimPrefix(s, " ")
	}
	return after(lines[2]), after(lines[3])
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 60) + "MARK" + strings.Repeat("z", 60)
	for _, c := range []struct {
		name, content string
		width         int
		f             finding.Finding
		source, mark  string
	}{
		{"a value", "k: value\n", 0, at(1, 4, 9), "k: value", "   ^~~~~"},
		{"one character", "k: value\n", 0, at(1, 4, 5), "k: value", "   ^"},
		{"no end known", "k: value\n", 0, finding.Finding{Line: 1, Column: 4}, "k: value", "   ^"},
		{"no column known", "k: value\n", 0, finding.Finding{Line: 1}, "k: value", "^"},
		{"an end before the start", "k: value\n", 0, at(1, 4, 2), "k: value", "   ^"},
		{"the last line, without a line end", "a: 1\nb: 2", 0, at(2, 1, 5), "b: 2", "^~~~"},
		{"just after the end of the line", "k:\n", 0, at(1, 3, 4), "k:", "  ^"},
		{"far after the end of the line", "k:\n", 0, at(1, 90, 95), "k:", "  ^"},
		{"an end after the end of the line", "k: v\n", 0, at(1, 4, 90), "k: v", "   ^"},
		{"an empty line", "\n\nk: v\n", 0, at(2, 1, 1), "", "^"},
		{"several lines end with the first", "ab: |\n  cd\n", 0, finding.Finding{Line: 1, Column: 5, EndLine: 2, EndColumn: 5}, "ab: |", "    ^"},
		{"several lines, blanks at the end", "ab: cd  \n  cd\n", 0, finding.Finding{Line: 1, Column: 1, EndLine: 2, EndColumn: 5}, "ab: cd", "^~~~~~"},
		{"several lines, the mark after the end", "ab:\n  cd\n", 0, finding.Finding{Line: 1, Column: 9, EndLine: 2, EndColumn: 5}, "ab:", "   ^"},
		{"a byte order mark", "\ufeffk: v\n", 0, at(1, 1, 2), "k: v", "^"},
		{"CRLF", "a: 1\r\nk: v\r\n", 0, at(2, 4, 5), "k: v", "   ^"},
		{"a lone CR is a character", "a\rb: v\n", 0, at(1, 3, 4), "a␍b: v", "  ^"},
		{"tabs reach to the next stop of four", "\ta\tb: v\n", 0, at(1, 4, 5), "    a   b: v", "        ^"},
		{"a marked tab", "a\tb\n", 0, at(1, 2, 3), "a   b", " ^~~"},
		{"wide characters", "名: 値段\n", 0, at(1, 4, 6), "名: 値段", "    ^~~~"},
		{"an emoji", "k: 🚀 x\n", 0, at(1, 6, 7), "k: 🚀 x", "      ^"},
		{"an emoji of five characters", "k: 👩‍👩‍👧 x\n", 0, at(1, 10, 11), "k: 👩‍👩‍👧 x", "      ^"},
		{"inside an emoji", "k: 👩‍👩‍👧 x\n", 0, at(1, 5, 6), "k: 👩‍👩‍👧 x", "   ^~"},
		{"a flag", "k: 🇳🇴 x\n", 0, at(1, 7, 8), "k: 🇳🇴 x", "      ^"},
		{"a combining accent", "e\u0301: v\n", 0, at(1, 5, 6), "e\u0301: v", "   ^"},
		{"a combining accent alone", "\u0301: v\n", 0, at(1, 1, 2), "\u0301: v", "^"},
		{"an escape sequence", "k: \x1b[31mred\n", 0, at(1, 9, 12), "k: ␛[31mred", "        ^~~"},
		{"an eight-bit escape sequence", "k: \u009b31mred\n", 0, at(1, 8, 11), "k: \ufffd31mred", "       ^~~"},
		{"an override of the reading order", "k: \u202ev\n", 0, at(1, 5, 6), "k: \ufffdv", "    ^"},
		{"bytes that are not UTF-8", "k: \xff\xfev\n", 0, at(1, 6, 7), "k: \ufffd\ufffdv", "     ^"},
		{"a command to a CI runner", "k: 1 ##[add-mask]x\n", 0, at(1, 6, 9), "k: 1 #♯[add-mask]x", "     ^~~"},
		{"fits", "k: " + strings.Repeat("v", 23) + "\n", 30, at(1, 4, 5), "k: " + strings.Repeat("v", 23), "   ^"},
		{"cut at the right", long, 30, at(1, 3, 5), strings.Repeat("a", 24) + "…", "  ^~"},
		{"cut at both sides", long, 30, at(1, 61, 65), "…aaaaaaMARKzzzzzzzzzzzzzz…", "       ^~~~"},
		{"cut at the left", long, 30, at(1, 124, 125), "…" + strings.Repeat("z", 24), "                        ^"},
		{"a mark longer than the width", long, 30, at(1, 2, 125), strings.Repeat("a", 24) + "…", " " + "^" + strings.Repeat("~", 22)},
		{"a mark longer than the width in the middle", long, 30, at(1, 41, 125), "…" + strings.Repeat("a", 24) + "…", "       ^" + strings.Repeat("~", 17)},
		{"wide characters cut", strings.Repeat("値", 40) + "m" + strings.Repeat("段", 40), 30, at(1, 41, 42), "…値値値m段段段段段段段段…", "       ^"},
		{"a terminal of no use", long, 3, at(1, 61, 65), "…aaaaMARKzzzzzzzzzz…", "     ^~~~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, mark := excerptOf(t, c.content, c.width, c.f)
			if source != c.source || mark != c.mark {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", source, mark, c.source, c.mark)
			}
		})
	}
}

func TestNoExcerpt(t *testing.T) {
	for _, c := range []struct {
		name, content string
		f             finding.Finding
	}{
		{"no line known", "k: v\n", finding.Finding{}},
		{"a line after the last", "k: v\n", at(3, 1, 2)},
		{"no content", "", at(1, 1, 2)},
		{"a binary file", "\x00\x01\n", at(1, 1, 2)},
		{"another file", "k: v\n", finding.Finding{File: "g", Line: 1, Column: 1}},
	} {
		f := c.f
		f.Rule, f.Severity, f.Message = "r", finding.Error, "m"
		out := run(t, "text", report.Options{}, lint.FileResult{File: "f", Content: []byte(c.content), Findings: []finding.Finding{f}})
		if strings.Contains(out, "|") {
			t.Errorf("%s: %q", c.name, out)
		}
	}
}

func TestMinifiedLineIsCutWithoutATerminal(t *testing.T) {
	content := strings.Repeat("x", 1<<18)
	source, mark := excerptOf(t, content, 0, at(1, 1<<17, 1<<17+3))
	if n := utf8.RuneCountInString(source); n > 400 || !strings.HasSuffix(mark, "^~~") {
		t.Errorf("%d characters, mark %q", n, mark)
	}
}

func TestHeadIsOneHarmlessLine(t *testing.T) {
	for _, c := range []struct {
		file, message, want string
	}{
		{"f", "two\nlines\tand a tab", "f:1:1: error: two lines and a tab [r]"},
		{"f", "\x1b]0;title\x07 café 名", "f:1:1: error: ␛]0;title␇ café 名 [r]"},
		{"f\n::error::x", "m", "f␊::error::x:1:1: error: m [r]"},
		{"::error::x", "m", "./::error::x:1:1: error: m [r]"},
		{"f", "see #5, ##vso[task.x]", "f:1:1: error: see #5, #♯vso[task.x] [r]"},
		{"f\xff", "m\xff", "f\ufffd:1:1: error: m\ufffd [r]"},
		{"f", "a\U000e0041b\u00adc\u061cd\u180ee\u200bf\u2066g\ufff9h\x7f", "f:1:1: error: a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh␡ [r]"},
	} {
		f := at(1, 1, 2)
		f.Message = c.message
		out := run(t, "text", report.Options{}, lint.FileResult{File: c.file, Findings: []finding.Finding{f}})
		if head, _, _ := strings.Cut(out, "\n"); head != c.want {
			t.Errorf("got %q, want %q", head, c.want)
		}
	}
}

func TestPlaceAsFarAsKnown(t *testing.T) {
	for want, f := range map[string]finding.Finding{
		"f: error: m [r]":     {},
		"f:7: error: m [r]":   {Line: 7},
		"f:7:2: error: m [r]": {Line: 7, Column: 2},
	} {
		f.Rule, f.Severity, f.Message = "r", finding.Error, "m"
		out := run(t, "text", report.Options{}, lint.FileResult{File: "f", Findings: []finding.Finding{f}})
		if head, _, _ := strings.Cut(out, "\n"); head != want {
			t.Errorf("got %q, want %q", head, want)
		}
	}
}

func TestMoreOncePerKnownRule(t *testing.T) {
	out := run(t, "text", options(), sample()...)
	for rule, want := range map[string]int{"workspace-grant-shape": 1, "privileged": 1, "team-label": 0} {
		if got := strings.Count(out, "= more: kandev-podlint rules "+rule+"\n"); got != want {
			t.Errorf("%s: %d times, want %d", rule, got, want)
		}
	}
}

func TestSummaryLine(t *testing.T) {
	for want, s := range map[string]lint.Summary{
		"no templates, no findings":                                      {},
		"1 template, no findings":                                        {Files: 1, Templates: 1},
		"3 templates, no findings, 2 suppressed":                         {Files: 3, Templates: 3, Suppressed: 2},
		"3 templates, 1 error, 2 warnings (4 other files skipped)":       {Files: 3, Templates: 3, Errors: 1, Warnings: 2, Skipped: 4},
		"1 template, 2 errors, 1 warning, 1 info (1 other file skipped)": {Files: 1, Templates: 1, Errors: 2, Warnings: 1, Infos: 1, Skipped: 1},
		"2 templates, 3 infos, 1 suppressed":                             {Files: 2, Templates: 2, Infos: 3, Suppressed: 1},
		"no templates, no findings (2 files skipped)":                    {Skipped: 2},
	} {
		var b bytes.Buffer
		p, err := report.New("text", &b, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want+"\n", b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// ownColor matches the only escape sequences that the text format may print.
var ownColor = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColorAddsOnlyColor(t *testing.T) {
	plain, color := options(), options()
	color.Color = true
	want, got := run(t, "text", plain, sample()...), run(t, "text", color, sample()...)
	if !ownColor.MatchString(got) {
		t.Error("no colour")
	}
	if diff := cmp.Diff(want, ownColor.ReplaceAllString(got, "")); diff != "" {
		t.Error(diff)
	}
}

func FuzzText(f *testing.F) {
	f.Add("f.yaml", "m", "h", []byte("k: v\n"), 1, 4, 1, 5, 80)
	f.Add("\x1b[2J", "a\nb", "##[error]", []byte("\ufeff\t\xff値\u202e\r\nx"), 1, 2, 2, 1, 25)
	f.Add("::x", "\u009b", "", []byte("👩‍👩‍👧🇳🇴e\u0301"), 1, 3, 1, 9, 1)
	f.Add("", "", "", []byte{0}, -1, -5, 1<<40, 1<<62, -3)
	f.Fuzz(func(t *testing.T, file, message, help string, content []byte, line, column, endLine, endColumn, width int) {
		r := lint.FileResult{File: file, Content: content, Findings: []finding.Finding{{
			Rule: message, Severity: finding.Severity(help), Message: message, Remediation: help, Path: file,
			Line: line, Column: column, EndLine: endLine, EndColumn: endColumn,
		}}}
		color := report.Options{Color: true, Width: width}
		for _, o := range []report.Options{{Width: width}, color} {
			out := run(t, "text", o, r)
			if o.Color {
				out = ownColor.ReplaceAllString(out, "")
			}
			harmless(t, out)
		}
	})
}

// harmless fails on any character that acts instead of being shown, line feeds excepted, and on what a CI
// runner would take for a command.
func harmless(t testing.TB, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("not UTF-8: %q", out)
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e) }); i >= 0 {
		t.Fatalf("control character at %d of %q", i, out)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Fatalf("runner command in %q", line)
		}
	}
}

func BenchmarkText(b *testing.B) {
	files := sample()
	p, err := report.New("text", io.Discard, options())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range files {
			if err := p.File(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}
