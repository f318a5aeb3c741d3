package docstest

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/internal/cli"
)

// prompts start the lines that are run.
var prompts = []string{"$ kandev-podlint ", "$ go run ./cmd/kandev-podlint "}

const elision = "...\n"

// command returns the arguments of a line to run; ok is false for any other line.
func command(line string) (args []string, ok bool) {
	for _, p := range prompts {
		if rest, found := strings.CutPrefix(line, p); found {
			return strings.Fields(rest), true
		}
	}
	return nil, false
}

// TestConsole runs the commands of the console blocks.
func TestConsole(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		same(t, page, []byte(rewriteBlocks(t, text, func(b block) string {
			if b.info != "console" {
				return b.text
			}
			return replay(t, page, b)
		})))
	}
}

// replay runs a block's commands and returns the block as it should be.
func replay(t *testing.T, page string, b block) string {
	t.Helper()
	var out strings.Builder
	lines := strings.SplitAfter(b.text, "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		out.WriteString(line)
		args, ok := command(line)
		if !ok {
			if line != "" {
				t.Errorf("%s:%d: %q is no command and no output of one", page, b.line+i, line)
			}
			continue
		}
		if strings.ContainsAny(line, `|<>"';&`) {
			t.Errorf("%s:%d: there is no shell here: %s", page, b.line+i, line)
		}
		start := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		out.WriteString(settle(strings.Join(lines[start:i], ""), run(t, args)))
	}
	return out.String()
}

// run returns what a command prints on both streams, and its exit status unless that is 0.
func run(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	code := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		t.Errorf("%v: the output does not end with a line's end", args)
	}
	if code != 0 {
		fmt.Fprintf(&out, "# exit %d\n", code)
	}
	return out.String()
}

// settle keeps what a page shows where it is the output with lines left out.
func settle(shown, output string) string {
	if !strings.Contains("\n"+shown, "\n"+elision) {
		return output
	}
	pattern := regexp.QuoteMeta("\n" + shown)
	pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("\n"+elision), "\n(?s:.*\n)??")
	if regexp.MustCompile("^" + pattern + "$").MatchString("\n" + output) {
		return shown
	}
	return output
}
