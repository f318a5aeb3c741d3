package lint

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// FileResult is what linting one file yielded.
type FileResult struct {
	File       string            // the path as given, "<stdin>" for standard input
	Content    []byte            // the file as read, for source lines; nil when it could not be read
	Findings   []finding.Finding // sorted; suppressed ones are not among them
	Suppressed int               // findings that a suppression, an exclude or the baseline took out
	Templates  int               // templates found in it
	Skipped    bool              // true when it holds neither a template nor a profile
	Unusable   bool              // true when it could not be read, or was named and holds no template

	// Template is the template as decoded and Profile what it is used with; nil where it could not be.
	Template *corev1.PodTemplateSpec
	Profile  compose.Profile
}

// Summary counts a whole run.
type Summary struct {
	Files      int `json:"files"` // files read, skipped ones not among them
	Templates  int `json:"templates"`
	Skipped    int `json:"skipped"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Infos      int `json:"infos"`
	Suppressed int `json:"suppressed"`
}

// Add counts one file's result.
func (s *Summary) Add(r FileResult) {
	if r.Skipped {
		s.Skipped++
	} else {
		s.Files++
	}
	s.Templates += r.Templates
	s.Suppressed += r.Suppressed
	for i := range r.Findings {
		switch r.Findings[i].Severity {
		case finding.Error:
			s.Errors++
		case finding.Warning:
			s.Warnings++
		case finding.Info:
			s.Infos++
		}
	}
}
