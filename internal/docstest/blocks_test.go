package docstest

import (
	"strings"
	"testing"
)

// block is a fenced block of a page.
type block struct {
	info string // what follows the opening fence
	text string // the lines between the fences
	line int    // of the opening fence, 1-based
}

// rewriteBlocks calls f with each fenced block of a page and puts what it returns in the block's place.
func rewriteBlocks(t *testing.T, page string, f func(block) string) string {
	t.Helper()
	var out, body strings.Builder
	var open *block
	for i, line := range strings.SplitAfter(page, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case open == nil && fence:
			open = &block{info: strings.TrimSpace(strings.TrimPrefix(line, "```")), line: i + 1}
			out.WriteString(line)
		case open == nil:
			out.WriteString(line)
		case fence:
			open.text = body.String()
			out.WriteString(f(*open))
			out.WriteString(line)
			body.Reset()
			open = nil
		default:
			body.WriteString(line)
		}
	}
	if open != nil {
		t.Errorf("the block of line %d has no end", open.line)
	}
	return out.String()
}

// eachBlock calls f with each fenced block of a page.
func eachBlock(t *testing.T, page string, f func(block)) {
	t.Helper()
	rewriteBlocks(t, page, func(b block) string {
		f(b)
		return b.text
	})
}

// TestFiles holds the blocks that show a file against it.
func TestFiles(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		same(t, page, []byte(rewriteBlocks(t, text, func(b block) string {
			file, ok := strings.CutPrefix(b.info, "yaml ")
			if !ok || file == configName {
				return b.text
			}
			return read(t, file)
		})))
	}
}
