package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// ConfigName is the configuration file's name, looked for from a linted file upwards.
const ConfigName = ".kandev-podlint.yaml"

// Off is the severity that switches a policy rule off.
const Off finding.Severity = "off"

// Config is the configuration file. Its globs and directories are relative to the file.
type Config struct {
	// Profiles give templates that stand alone the profile with which they will be used; the first that
	// matches counts.
	Profiles []ConfigProfile `json:"profiles,omitempty"`
	// Rules sets the severity of rules: error, warning, info or off.
	Rules map[string]finding.Severity `json:"rules,omitempty"`
	// Exclude takes findings out.
	Exclude []Exclude `json:"exclude,omitempty"`
	// Policies are directories of a user's Rego.
	Policies []string `json:"policies,omitempty"`

	file string
	dir  string
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

// ConfigError says what is wrong with a configuration file, place by place.
type ConfigError struct {
	File  string
	Lines []string // "line:column: what; remedy"
}

// Error puts each fault on a line of its own, after the file's name.
func (e *ConfigError) Error() string {
	return e.File + ":" + strings.Join(e.Lines, "\n"+e.File+":")
}

// ReadConfig reads a configuration file.
func ReadConfig(file string) (*Config, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the user names the file, or it is found beside the templates
	if err != nil {
		return nil, err
	}
	c := &Config{file: file, dir: filepath.Dir(file)}
	d, violations := compose.ReadDocument(data)
	if len(violations) == 0 {
		violations = d.Decode(c)
	}
	if len(violations) > 0 {
		e := &ConfigError{File: file}
		for _, v := range violations {
			e.add(v.Place, v.Detail, v.Remedy)
		}
		return nil, e
	}
	if e := c.check(d); e != nil {
		return nil, e
	}
	return c, nil
}

func (e *ConfigError) add(at compose.Range, what, remedy string) {
	e.Lines = append(e.Lines, fmt.Sprintf("%d:%d: %s; %s", at.Start.Line, at.Start.Column, what, remedy))
}

// check finds values that decode but mean nothing.
func (c *Config) check(d *compose.Document) error {
	e := &ConfigError{File: c.file}
	fault := func(path, remedy, format string, args ...any) {
		e.add(d.Locate(path), fmt.Sprintf(format, args...), remedy)
	}
	for i, p := range c.Profiles {
		at := fmt.Sprintf("profiles[%d]", i)
		if len(p.Files) == 0 {
			fault(at, "add files: [GLOB]", "%s selects no files", at)
		}
		checkGlobs(p.Files, at, fault)
		for _, err := range p.WithDefaults().Validate() {
			fault(at+"."+err.Field, "correct the value", "%s.%s", at, err.Error())
		}
	}
	c.checkRules(fault)
	for i := range c.Exclude {
		c.checkExclude(&c.Exclude[i], fmt.Sprintf("exclude[%d]", i), fault)
	}
	for i, dir := range c.Policies {
		if _, err := os.Stat(c.path(dir)); err != nil {
			fault(fmt.Sprintf("policies[%d]", i), "correct the path; it is relative to this file", "policies[%d]: %v", i, err)
		}
	}
	if len(e.Lines) > 0 {
		return e
	}
	return nil
}

type faultFunc func(path, remedy, format string, args ...any)

func checkGlobs(globs []string, at string, fault faultFunc) {
	for i, g := range globs {
		if !doublestar.ValidatePattern(g) {
			fault(fmt.Sprintf("%s.files[%d]", at, i), "write a glob such as templates/**/*.yaml", "%s.files[%d]: %q is no glob", at, i, g)
		}
	}
}

func (c *Config) checkRules(fault faultFunc) {
	names := make([]string, 0, len(c.Rules))
	for name := range c.Rules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := "rules." + name
		if s := c.Rules[name]; s.Rank() == 0 && s != Off {
			fault(at, "write error, warning, info or off", "%s: %q is no severity", at, s)
		}
		if rule, ok := Rule(name); ok && rule.Source != finding.Policy {
			fault(at, "remove the line", "%s is no policy rule, so its severity is fixed", name)
		} else if !ok && len(c.Policies) == 0 {
			fault(at, "correct the name; kandev-podlint rules lists them", "no rule is named %q%s", name, DidYouMean(name))
		}
	}
}

func (c *Config) checkExclude(x *Exclude, at string, fault faultFunc) {
	if len(x.Rules) == 0 {
		fault(at, "add rules: [RULE]", "%s names no rules", at)
	}
	if strings.TrimSpace(x.Reason) == "" {
		fault(at, "add reason: why the finding is accepted", "%s has no reason", at)
	}
	checkGlobs(x.Files, at, fault)
	for i, name := range x.Rules {
		rule, known := Rule(name)
		at := fmt.Sprintf("%s.rules[%d]", at, i)
		switch {
		case !known && len(c.Policies) == 0:
			fault(at, "correct the name; kandev-podlint rules lists them", "no rule is named %q%s", name, DidYouMean(name))
		case known && !suppressible(&finding.Finding{Source: rule.Source, Severity: rule.Severity}):
			fault(at, "remove it and mend the templates", "%s cannot be excluded: it is an invariant of Kandev's", name)
		}
	}
	if x.Expires == "" {
		return
	}
	day, err := time.ParseInLocation(time.DateOnly, x.Expires, time.Local)
	if err != nil {
		fault(at+".expires", "write a date such as 2027-01-31", "%s.expires: %q is no date", at, x.Expires)
		return
	}
	x.until = day.AddDate(0, 0, 1)
}

func (c *Config) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.dir, p)
}

// policyDirs returns the directories of the configuration's policies.
func (c *Config) policyDirs() []string {
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
	rel := relativeTo(c.dir, file)
	for _, p := range c.Profiles {
		if matchesAny(p.Files, rel) {
			return p.Profile
		}
	}
	return compose.Profile{}
}

func matchesAny(globs []string, file string) bool {
	for _, g := range globs {
		if ok, err := doublestar.Match(g, file); ok && err == nil {
			return true
		}
	}
	return false
}

// apply sets severities and takes out what is excluded. An exclude past its expiry is reported where it
// would have counted.
func (c *Config) apply(file string, fs []finding.Finding, now time.Time) (kept []finding.Finding, suppressed int) {
	if c == nil || len(c.Rules) == 0 && len(c.Exclude) == 0 {
		return fs, 0
	}
	rel := relativeTo(c.dir, file)
	var expired []finding.Finding
	kept = fs[:0]
	for _, f := range fs {
		if s, ok := c.Rules[f.Rule]; ok && (f.Source == finding.Policy || f.Source == finding.User) {
			if s == Off {
				continue
			}
			f.Severity = s
		}
		x := c.excludes(rel, &f)
		switch {
		case x == nil:
		case x.until.IsZero() || now.Before(x.until):
			suppressed++
			continue
		default:
			expired = append(expired, c.expiredFinding(x, &f))
		}
		kept = append(kept, f)
	}
	return append(kept, expired...), suppressed
}

// excludes returns the exclude that covers a finding: one that still counts, if there is one.
func (c *Config) excludes(rel string, f *finding.Finding) *Exclude {
	if !suppressible(f) {
		return nil
	}
	var found *Exclude
	for i := range c.Exclude {
		x := &c.Exclude[i]
		if !slices.Contains(x.Rules, f.Rule) || len(x.Files) > 0 && !matchesAny(x.Files, rel) {
			continue
		}
		if found == nil || x.until.IsZero() || !found.until.IsZero() && x.until.After(found.until) {
			found = x
		}
	}
	return found
}

func (c *Config) expiredFinding(x *Exclude, f *finding.Finding) finding.Finding {
	r, _ := Rule(RuleExcludeExpired)
	out := *f
	out.Rule, out.Severity, out.Source, out.PSS = r.Name, r.Severity, r.Source, nil
	out.Message = fmt.Sprintf("the exclude of %s in %s expired after %s", f.Rule, c.file, x.Expires)
	out.Remediation = "mend the finding, or renew the exclude with a new date and reason"
	return out
}

// DidYouMean ends a sentence about an unknown rule with the one that was probably meant; it may be empty.
func DidYouMean(name string) string {
	best, bestDistance := "", 4
	for _, r := range Rules() {
		if d := levenshtein.ComputeDistance(r.Name, name); d < bestDistance {
			best, bestDistance = r.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// configs finds and keeps the configuration of each directory.
type configs struct {
	fixed *Config // named on the command line: no search

	mu    sync.Mutex
	byDir map[string]*configEntry
}

type configEntry struct {
	config *Config
	err    error
}

// forFile returns the configuration of a file, nil where there is none.
func (c *configs) forFile(file string) (*Config, error) {
	if c.fixed != nil {
		return c.fixed, nil
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forDir(dir)
}

func (c *configs) forDir(dir string) (*Config, error) {
	if e, ok := c.byDir[dir]; ok {
		return e.config, e.err
	}
	e := &configEntry{}
	e.config, e.err = ReadConfig(filepath.Join(dir, ConfigName))
	if errors.Is(e.err, fs.ErrNotExist) {
		e.err = nil
		if parent := filepath.Dir(dir); parent != dir {
			e.config, e.err = c.forDir(parent)
		}
	}
	if c.byDir == nil {
		c.byDir = map[string]*configEntry{}
	}
	c.byDir[dir] = e
	return e.config, e.err
}

// Override returns a profile with every value that another states written over it.
func Override(p, by compose.Profile) compose.Profile {
	p.MainContainer = cmp.Or(by.MainContainer, p.MainContainer)
	p.Platform = cmp.Or(by.Platform, p.Platform)
	if by.Workspace.Mode != "" && by.Workspace.Mode != p.Workspace.Mode {
		p.Workspace = compose.Workspace{Mode: by.Workspace.Mode}
	}
	p.Workspace.ClaimName = cmp.Or(by.Workspace.ClaimName, p.Workspace.ClaimName)
	return p
}
