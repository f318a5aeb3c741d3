// Package lazyregexp compiles regular expressions at their first use. A run of the command needs few of
// them, and compiling all at the start is time that every run would pay.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression once, at its first call, and then returns it. It
// panics at that call where the expression is wrong, as regexp.MustCompile does.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
