package compose

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

// yamlError takes the YAML reader's error apart.
var yamlError = lazyregexp.New(`^(?:yaml: )?(?:line (\d+): )?`)

// unplaced are the errors for which the YAML reader names the line of an enclosing list or object, or none.
var unplaced = lazyregexp.New(`did not find expected (key|node content|<|'-'|',')|^unknown anchor|%YAML|%TAG|tag handle`)

// syntaxError turns the YAML reader's error into a violation at the line where it arose.
func (d *Document) syntaxError(dec *yaml.Decoder, err error) Violation {
	m := yamlError().FindStringSubmatch(err.Error())
	text := strings.TrimPrefix(err.Error(), m[0])
	line, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		line = 1
	}
	if unplaced().MatchString(text) {
		line = max(failureLine(dec, err), 1)
	}
	for line > 1 && d.lines.isBlankLine(line) { // the end of the text says nothing to a reader
		line--
	}
	at := d.rangeOf(d.lines.lineSpan(line))
	if strings.Contains(text, "expected <document start>") {
		return documentViolation(RuleDocumentMultiple, at,
			"content after the end of the document; a template file holds exactly one",
			"remove what follows the document's end, or move it to a file of its own")
	}
	return documentViolation(RuleDocumentSyntax, at, "not YAML or JSON: "+text, syntaxRemedy(text))
}

func syntaxRemedy(text string) string {
	switch {
	case strings.Contains(text, "cannot start any token"):
		return "indent with spaces, and quote a value that starts with a special character"
	case strings.Contains(text, "mapping values are not allowed"):
		return "quote a value that holds \": \", and check the indentation of this line"
	case strings.Contains(text, "unknown anchor"):
		return "define the anchor before its first use, or write the value out"
	}
	return "correct the indentation, quotes or brackets at or just above this line"
}

// failureLine is the line at which the YAML reader failed, 0 where it does not tell. It keeps the place to
// itself; the line in its message is that of the list or object around it.
func failureLine(dec *yaml.Decoder, err error) int {
	parser := fieldNamed(reflect.ValueOf(dec).Elem(), "parser")
	mark := fieldNamed(fieldNamed(parser, "parser"), "problem_mark")
	if strings.Contains(err.Error(), "unknown anchor") {
		mark = fieldNamed(fieldNamed(parser, "event"), "start_mark")
	}
	if line := fieldNamed(mark, "line"); line.CanInt() {
		return int(line.Int()) + 1
	}
	return 0
}

// fieldNamed returns a field of a struct or of what a pointer points at, the zero Value if there is none.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}
