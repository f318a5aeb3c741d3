package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// schemaVersion names the shape of document; docs/schema/findings.schema.json describes it.
const schemaVersion = 1

// document is the json output, and the yaml one.
type document struct {
	head
	Findings []finding.Finding `json:"findings"`
}

type head struct {
	SchemaVersion int          `json:"schemaVersion"`
	Tool          tool         `json:"tool"`
	Summary       lint.Summary `json:"summary"`
}

type tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func newHead(version string, s lint.Summary) head {
	return head{SchemaVersion: schemaVersion, Tool: tool{toolName, version}, Summary: s}
}

type jsonPrinter struct {
	findingBuffer
	w       io.Writer
	version string
}

func newJSON(w io.Writer, o Options) Printer { return &jsonPrinter{w: w, version: o.ToolVersion} }

func (p *jsonPrinter) Close(s lint.Summary) error {
	d := document{newHead(p.version, s), p.findings}
	if d.Findings == nil {
		d.Findings = []finding.Finding{} // an empty list, not null
	}
	return writeJSON(p.w, d)
}

// writeJSON writes v indented by two spaces.
func writeJSON(w io.Writer, v any) error {
	data, err := encodeJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(escape(data, appendJSON))
	return err
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// escape writes what encoders leave bare and a terminal or a CI runner would obey as \u escapes. Such
// characters stand only inside double quotes, so nothing is lost.
func escape(data []byte, appendRune func([]byte, rune) []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("##"), []byte(`#\u0023`))
	if !bytes.ContainsFunc(data, escaped) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if escaped(r) {
			out = appendRune(out, r)
		} else {
			out = append(out, data[:size]...)
		}
		data = data[size:]
	}
	return out
}

func escaped(r rune) bool { return r != '\n' && hidden(r) }

// appendJSON escapes as JSON does: a character beyond 16 bits takes two surrogates.
func appendJSON(out []byte, r rune) []byte {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, r1, r2)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
