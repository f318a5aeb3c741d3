package compose

import (
	"fmt"
	"strings"
)

// aliasBomb writes a list whose items each name the one before ten times.
func aliasBomb(first, item string, levels int) string {
	text := "a:\n" + first + "\n"
	last := "a"
	for i := range levels {
		name := fmt.Sprintf("a%d", i)
		text += fmt.Sprintf(item, name, strings.TrimSuffix(strings.Repeat("*"+last+", ", 10), ", ")) + "\n"
		last = name
	}
	return text
}

// documents_ are texts that are no strict templates, with the place and message of each violation: the
// rows of the public reports first.
var documents_ = []struct {
	name, text string
	want       []string // "line:column-line:column rule: message"
}{}
