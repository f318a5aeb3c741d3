// Package finding holds the one type in which every part of kandev-podlint reports what it found.
package finding

import (
	"cmp"
	"slices"
)

// Severity says how much a finding matters.
type Severity string

// The severities, gravest first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Rank orders severities: 3 for an error, 2 for a warning, 1 for an info, 0 for anything else.
func (s Severity) Rank() int {
	switch s {
	case Error:
		return 3
	case Warning:
		return 2
	case Info:
		return 1
	}
	return 0
}

// Source says whose rule was broken.
type Source string

// The sources.
const (
	Document   Source = "document"   // not a readable strict template
	Ownership  Source = "ownership"  // reserved for Kandev
	Grant      Source = "grant"      // the workspace grant
	API        Source = "api"        // the API server would refuse it
	Deployment Source = "deployment" // it can be looked at, not deployed
	Policy     Source = "policy"     // the policy pack
	User       Source = "user"       // a user's policy
	Config     Source = "config"     // suppressions and configuration
)

// PSS names the control of the Pod Security Standards that a finding is about.
type PSS struct {
	Level string `json:"level"` // baseline or restricted
	Check string `json:"check"` // the check ID of k8s.io/pod-security-admission
}

// Finding is one thing found in one template. Lines and columns are 1-based, columns counted in
// characters; the end is exclusive. Zero means unknown.
type Finding struct {
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	Source      Source   `json:"source"`
	Message     string   `json:"message"`     // one sentence: what and where
	Remediation string   `json:"remediation"` // what to do in this case
	Path        string   `json:"path,omitempty"`
	Container   string   `json:"container,omitempty"`
	File        string   `json:"file,omitempty"`
	Line        int      `json:"line,omitempty"`
	Column      int      `json:"column,omitempty"`
	EndLine     int      `json:"endLine,omitempty"`
	EndColumn   int      `json:"endColumn,omitempty"`
	Docs        string   `json:"docs,omitempty"`
	PSS         *PSS     `json:"pss,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"` // stable when lines move
}

// Sort orders findings by file, line, column, rule, path and message, so that equal input prints equal bytes.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		switch {
		case a.File != b.File:
			return cmp.Compare(a.File, b.File)
		case a.Line != b.Line:
			return cmp.Compare(a.Line, b.Line)
		case a.Column != b.Column:
			return cmp.Compare(a.Column, b.Column)
		case a.Rule != b.Rule:
			return cmp.Compare(a.Rule, b.Rule)
		case a.Path != b.Path:
			return cmp.Compare(a.Path, b.Path)
		}
		return cmp.Compare(a.Message, b.Message)
	})
}
