package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

const (
	toolName = "kandev-podlint"
	toolURI  = "https://github.com/kandev/kandev-podlint"
)

// stream collects a few writes. bufio keeps the first error, so one look at flush is enough.
type stream struct{ *bufio.Writer }

func newStream(w io.Writer) stream { return stream{bufio.NewWriter(w)} }

func (s stream) print(parts ...string) {
	for _, p := range parts {
		_, _ = s.WriteString(p)
	}
}

// located returns a file's findings, each with its file named.
func located(r lint.FileResult) []finding.Finding {
	fs := make([]finding.Finding, len(r.Findings))
	copy(fs, r.Findings)
	for i := range fs {
		if fs[i].File == "" {
			fs[i].File = r.File
		}
	}
	return fs
}

// findingBuffer keeps the findings of a run, but not the files' contents, for formats that print counts first.
type findingBuffer struct{ findings []finding.Finding }

func (b *findingBuffer) File(r lint.FileResult) error {
	b.findings = append(b.findings, located(r)...)
	return nil
}

// where is a finding's place as editors and terminals link it: FILE:LINE:COLUMN, as far as it is known.
func where(f finding.Finding) string {
	file := shownPath(f.File)
	switch {
	case f.Line <= 0:
		return file
	case f.Column <= 0:
		return fmt.Sprintf("%s:%d", file, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, f.Line, f.Column)
}

// headline says a whole finding in one line, without colour.
func headline(f finding.Finding) string {
	return fmt.Sprintf("%s: %s: %s [%s]", where(f), visible(string(f.Severity)), oneLine(f.Message), visible(f.Rule))
}

// shownPath is a path fit for the start of a line: a CI runner takes a line that opens with :: for a command.
func shownPath(file string) string {
	file = visible(file)
	if strings.HasPrefix(strings.TrimSpace(file), ":") {
		return "./" + file
	}
	return file
}

// repoPath is the path under which CI systems know a file: slashes, no leading ./
func repoPath(file string) string {
	if file == "" {
		return file
	}
	return path.Clean(filepath.ToSlash(file))
}

// lastLine is the line on which a finding's last character stands; its end is exclusive.
func lastLine(f finding.Finding) int {
	if f.EndLine > f.Line && f.EndColumn == 1 {
		return f.EndLine - 1
	}
	return max(f.EndLine, f.Line)
}

// fingerprint is the finding's own, or one that line numbers do not enter.
func fingerprint(f finding.Finding) string {
	if f.Fingerprint != "" {
		return f.Fingerprint
	}
	return digest(f.Rule, f.File, f.Path, f.Message)
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// fails tells whether a finding fails the test that stands for its file.
func (o Options) fails(f finding.Finding) bool {
	least := o.FailOn
	if least == "" {
		least = finding.Error
	}
	return least.Rank() > 0 && f.Severity.Rank() >= least.Rank()
}

func (o Options) rule(name string) (finding.Rule, bool) {
	if o.Rules == nil {
		return finding.Rule{}, false
	}
	return o.Rules(name)
}
