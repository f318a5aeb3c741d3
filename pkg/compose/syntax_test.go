package compose

import (
	"strings"
	"testing"
)

// TestSyntaxErrorsAtTheirLine marks the faulty line of each document with an X.
func TestSyntaxErrorsAtTheirLine(t *testing.T) {
	for _, text := range []string{
		"a:\n    b: 1\n   cX: 2\n",
		"a: 1\nb: 2\n- X\nc: 3\n",
		"a:\n- b\n- c\nd: [X, }\ne: 1\n",
		"a:\n  b: 1\n  c: {X: 1, d: ]}\n",
		"a: {\n  b: 1,\n  c: 2\n  X: 3\n}\n",
		"a: [\n  b,\n  c\n  X: 3, [\n]\ne: 1\n",
		"a: 1\nb: *X\nc: 1\n",
		"a: 1\nb: \"X\n",
		"a: 1\nX: b: c\n",
		"a: 1\n\tX: b\n",
		"a: 1\nb: @X\n",
		"X: [\n",
		"a: 1\n...\nX: 2\n",
		"a: 1\n# c\n... # c\n\nX: 2\n",
		"a: &a\n  &X 1\n",
		"a: 1\nb: !x!X 1\n",
		"é: 1\n\n# comment\nb:\n  - 1\n c: X\n",
		"a: |\n  b\n c: X\nd: 1",
	} {
		_, violations := ReadDocument([]byte(text))
		if len(violations) != 1 || violations[0].Source != "document" {
			t.Errorf("%q: %v", text, violations)
			continue
		}
		where, err := slice([]byte(text), violations[0].Place)
		if err != nil || !strings.Contains(where, "X") || strings.Contains(where, "\n") {
			t.Errorf("%q: %v at %v, %q (%v)", text, violations[0], violations[0].Place, where, err)
		}
	}
}
