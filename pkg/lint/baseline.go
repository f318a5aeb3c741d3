package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// baselineVersion is the schema version of baseline files.
const baselineVersion = 1

// Baseline is the set of findings that were there before and are accepted for now.
type Baseline struct {
	relative *relative // to the baseline file's directory
	entries  map[baselineEntry]bool
}

type baselineEntry struct {
	File        string `json:"file"` // slash-separated, relative to the baseline file
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint"`
}

type baselineFile struct {
	SchemaVersion int             `json:"schemaVersion"`
	Findings      []baselineEntry `json:"findings"`
}

// NewBaseline starts an empty baseline that will be kept in a file.
func NewBaseline(file string) *Baseline {
	return &Baseline{relative: newRelative(filepath.Dir(file)), entries: map[baselineEntry]bool{}}
}

// ReadBaseline reads a baseline file.
func ReadBaseline(file string) (*Baseline, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	var f baselineFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: not a baseline: %w", file, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: not a baseline: content after its end", file)
	}
	if f.SchemaVersion != baselineVersion {
		return nil, fmt.Errorf("%s: baseline of schema version %d; this version reads %d", file, f.SchemaVersion, baselineVersion)
	}
	b := NewBaseline(file)
	for _, e := range f.Findings {
		b.entries[e] = true
	}
	return b, nil
}

// Accept moves every finding of a file that may be suppressed into the baseline.
func (b *Baseline) Accept(r *FileResult) {
	file := b.relative.of(r.File)
	for i := range r.Findings {
		if f := &r.Findings[i]; suppressible(f) {
			b.entries[baselineEntry{file, f.Rule, f.Fingerprint}] = true
		}
	}
	kept, n := b.apply(r.File, r.Findings)
	r.Findings, r.Suppressed = kept, r.Suppressed+n
}

// Encode returns the baseline as its file holds it.
func (b *Baseline) Encode() ([]byte, error) {
	f := baselineFile{SchemaVersion: baselineVersion, Findings: make([]baselineEntry, 0, len(b.entries))}
	for e := range b.entries {
		f.Findings = append(f.Findings, e)
	}
	slices.SortFunc(f.Findings, func(x, y baselineEntry) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

// Len is the number of accepted findings.
func (b *Baseline) Len() int { return len(b.entries) }

// apply takes out of a file's findings what the baseline accepts.
func (b *Baseline) apply(file string, fs []finding.Finding) (kept []finding.Finding, suppressed int) {
	if b == nil || len(b.entries) == 0 || len(fs) == 0 {
		return fs, 0
	}
	file = b.relative.of(file)
	kept = fs[:0]
	for _, f := range fs {
		if suppressible(&f) && b.entries[baselineEntry{file, f.Rule, f.Fingerprint}] {
			suppressed++
			continue
		}
		kept = append(kept, f)
	}
	return kept, suppressed
}
