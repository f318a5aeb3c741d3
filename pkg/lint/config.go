package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// ConfigName is the configuration file's name, looked for from a linted file upwards.
const ConfigName = ".kandev-podlint.yaml"

// RuleSeverity is one of finding's severities, or Off.
type RuleSeverity finding.Severity

// Off switches a rule off.
const Off RuleSeverity = "off"

// UnmarshalJSON takes false for Off: so YAML reads the bare word.
func (s *RuleSeverity) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		*s = Off
		return nil
	}
	return json.Unmarshal(data, (*string)(s))
}

// Config is the configuration file. Its globs and directories are relative to the file.
type Config struct {
	// Profiles give templates that stand alone the profile with which they will be used; the first that
	// matches counts.
	Profiles []ConfigProfile `json:"profiles,omitempty"`
	// Rules sets the severity of policy rules: error, warning, info or off.
	Rules map[string]RuleSeverity `json:"rules,omitempty"`
	// Parameters are what policy rules are told, by the rule's name and the parameter's.
	Parameters map[string]map[string]any `json:"parameters,omitempty"`
	// Exclude takes findings out.
	Exclude []Exclude `json:"exclude,omitempty"`
	// Policies are directories of a user's Rego.
	Policies []string `json:"policies,omitempty"`

	file     string
	relative *relative // to the file's directory
}

// ConfigProfile is a profile for the files that a glob selects.
type ConfigProfile struct {
	Files []string `json:"files"`
	compose.Profile
}

// Exclude takes the findings of some rules out of some files.
type Exclude struct {
	Files   []string `json:"files,omitempty"` // globs; none means every file
	Rules   []string `json:"rules"`
	Reason  string   `json:"reason"`
	Expires string   `json:"expires,omitempty"` // the last day on which it counts, 2006-01-02

	until time.Time // the first moment at which it no longer counts; zero means never
}

// ConfigError says what is wrong with a configuration file.
type ConfigError struct {
	File     string
	Content  []byte            // as read, nil where it could not be
	Findings []finding.Finding // at least one, each of the rule configuration
}

// Error puts each fault on a line of its own, its place in front.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s; %s", e.File, f.Line, f.Column, f.Message, f.Remediation)
	}
	return strings.Join(lines, "\n")
}

// result reports the faults as those of any other file.
func (e *ConfigError) result() FileResult {
	r := FileResult{File: e.File, Content: e.Content, Findings: e.Findings, Unusable: true}
	finish(&r, nil)
	return r
}

// add notes a fault.
func (e *ConfigError) add(at compose.Range, message, remedy string) {
	f := ownFinding(RuleConfig, message)
	f.Remediation = remedy
	if !at.IsZero() {
		setPlace(&f, at)
	}
	e.Findings = append(e.Findings, f)
}

// ReadConfig reads a configuration file. The error is a *ConfigError; errors.Is tells a missing file.
func ReadConfig(file string) (*Config, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the user names the file, or it is found beside the templates
	if err != nil {
		return nil, err
	}
	c := &Config{file: file, relative: newRelative(filepath.Dir(file))}
	e := &ConfigError{File: file, Content: data}
	d, violations := readConfigDocument(data)
	if d != nil {
		violations = d.Decode(c)
	}
	for _, v := range violations {
		e.add(v.Place, v.Detail, v.Remedy)
	}
	if d != nil && len(violations) == 0 {
		check := configCheck{config: c, document: d, fault: e}
		check.run()
	}
	if len(e.Findings) > 0 {
		finding.Sort(e.Findings)
		return nil, e
	}
	return c, nil
}

// readConfigDocument reads the one document of a configuration; comments alone hold none, and configure nothing.
func readConfigDocument(data []byte) (*compose.Document, []compose.Violation) {
	if docs, violations := compose.ReadDocuments(data); len(docs) == 0 {
		return nil, violations
	}
	d, violations := compose.ReadDocument(data)
	for i := range violations {
		if violations[i].Rule == compose.RuleDocumentMultiple {
			violations[i].Detail = "a second document starts here; a configuration is one"
		}
	}
	return d, violations
}

// path is where a path in the configuration leads.
func (c *Config) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(c.file), p)
}

// parameters returns what policy rules are told; a nil configuration tells them nothing.
func (c *Config) parameters() map[string]map[string]any {
	if c == nil {
		return nil
	}
	return c.Parameters
}

// PolicyDirs returns the directories of the configuration's policies; a nil configuration has none.
func (c *Config) PolicyDirs() []string {
	if c == nil {
		return nil
	}
	dirs := make([]string, 0, len(c.Policies))
	for _, p := range c.Policies {
		dirs = append(dirs, c.path(p))
	}
	return dirs
}

// profile returns the profile for a template that stands alone.
func (c *Config) profile(file string) compose.Profile {
	if c == nil || len(c.Profiles) == 0 {
		return compose.Profile{}
	}
	rel := c.relative.of(file)
	for _, p := range c.Profiles {
		if matchesAny(p.Files, rel) {
			return p.Profile
		}
	}
	return compose.Profile{}
}
