package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/kandev/kandev-podlint/pkg/lint"
)

// yamlPrinter prints the document of the json format, its keys in the same order.
type yamlPrinter struct {
	findingBuffer
	w       io.Writer
	version string
}

func newYAML(w io.Writer, o Options) Printer { return &yamlPrinter{w: w, version: o.ToolVersion} }

// Close encodes finding by finding: the encoder's time and memory grow with the size of what it is given.
func (p *yamlPrinter) Close(s lint.Summary) error {
	out := newStream(p.w)
	data, err := encodeYAML(newHead(p.version, s))
	if err != nil {
		return err
	}
	out.print(string(data), "findings:")
	if len(p.findings) == 0 {
		out.print(" []")
	}
	out.print("\n")
	for i := range p.findings {
		data, err := encodeYAML(p.findings[i : i+1])
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) { // no value has more than one
			out.print("  ", string(line))
		}
	}
	return out.Flush()
}

// encodeYAML goes by way of JSON, which is YAML too: the json tags stay the only description of the output.
func encodeYAML(v any) ([]byte, error) {
	data, err := encodeJSON(v)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(escape(data, appendYAML), &root); err != nil {
		return nil, err
	}
	blockStyle(&root)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&root); err != nil {
		return nil, err
	}
	return escape(b.Bytes(), appendYAML), e.Close()
}

// blockStyle undoes JSON's braces, and its quotes where a string needs none.
func blockStyle(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !plain(n.Value):
		n.Style = yaml.DoubleQuotedStyle
	case len(n.Content) > 0 || n.Kind == yaml.ScalarNode:
		n.Style = 0
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// plain tells strings that may go without quotes. Others need an escape, or readers of YAML 1.1 take them
// for something else (no, 1:30), or a CI runner could take a line of them for a command.
func plain(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	if len(s) <= len("off") || !unicode.IsLetter(first) {
		return false
	}
	return !strings.Contains(s, "##") && !strings.ContainsFunc(s, hidden)
}

// appendYAML escapes as YAML does, which knows no surrogates.
func appendYAML(out []byte, r rune) []byte {
	if r > 0xffff {
		return fmt.Appendf(out, `\U%08x`, r)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
