package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runnerCommands opens the log commands of GitHub Actions and Azure Pipelines (##[, ##vso[) and
// TeamCity's, which runners obey anywhere in a line. The second # becomes a look-alike of one cell.
var runnerCommands = strings.NewReplacer("##[", "#♯[", "##vso[", "#♯vso[", "##teamcity[", "#♯teamcity[")

// visible makes every character of s one that is shown and does nothing else. It replaces character by
// character, so columns stay.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	return runnerCommands.Replace(strings.Map(shown, s))
}

// oneLine is visible for a sentence: line breaks and tabs become single spaces.
func oneLine(s string) string {
	if isPlain(s) {
		return s
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' })
	return visible(strings.Join(fields, " "))
}

// isPlain is the common case: printable ASCII without a # that could open a command.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '#' {
			return false
		}
	}
	return true
}

// shown maps a control character to its picture, and anything else that acts unseen (or is not
// Unicode at all) to the replacement character.
func shown(r rune) rune {
	switch {
	case r < ' ':
		return '␀' + r
	case r == 0x7f:
		return '␡'
	case hidden(r):
		return utf8.RuneError
	}
	return r
}

// hidden tells characters that act on a terminal or on the reading order, or that nobody can see: controls,
// bidirectional marks and overrides, line and paragraph separators, zero-width space, soft hyphen,
// byte order mark, interlinear and tag characters, and what is no character at all (XML has no place for
// those). The joiners of emoji and of Indic scripts are not among them.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f || r&0xfffe == 0xfffe
}
