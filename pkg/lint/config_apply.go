package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// apply sets severities and takes out what is excluded. An exclude past its expiry is reported where it
// would have counted.
func (c *Config) apply(file string, fs []finding.Finding, now time.Time) (kept []finding.Finding, suppressed int) {
	if c == nil || len(c.Rules) == 0 && len(c.Exclude) == 0 {
		return fs, 0
	}
	excludes := c.excludesOf(file)
	var expired []finding.Finding
	kept = fs[:0]
	for _, f := range fs {
		if s, ok := c.Rules[f.Rule]; ok && (f.Source == finding.Policy || f.Source == finding.User) {
			if s == Off {
				continue
			}
			f.Severity = finding.Severity(s)
		}
		x := excludeOf(&f, excludes)
		if x != nil && x.counts(now) {
			suppressed++
			continue
		}
		if x != nil {
			expired = append(expired, c.expiredFinding(x, &f))
		}
		kept = append(kept, f)
	}
	return append(kept, expired...), suppressed
}

// excludesOf lists the excludes that cover a file.
func (c *Config) excludesOf(file string) []*Exclude {
	var out []*Exclude
	file = c.relative.of(file)
	for i := range c.Exclude {
		if x := &c.Exclude[i]; len(x.Files) == 0 || matchesAny(x.Files, file) {
			out = append(out, x)
		}
	}
	return out
}

// excludeOf returns the exclude that covers a finding: the one that counts longest.
func excludeOf(f *finding.Finding, excludes []*Exclude) *Exclude {
	if !suppressible(f) {
		return nil
	}
	var found *Exclude
	for _, x := range excludes {
		if slices.Contains(x.Rules, f.Rule) && (found == nil || x.outlasts(found)) {
			found = x
		}
	}
	return found
}

func (x *Exclude) counts(now time.Time) bool { return x.until.IsZero() || now.Before(x.until) }

func (x *Exclude) outlasts(y *Exclude) bool {
	return !y.until.IsZero() && (x.until.IsZero() || x.until.After(y.until))
}

func (c *Config) expiredFinding(x *Exclude, f *finding.Finding) finding.Finding {
	out := ownFinding(RuleExcludeExpired, fmt.Sprintf("the exclude of %s in %s expired after %s", f.Rule, c.file, x.Expires))
	out.Path, out.Container = f.Path, f.Container
	out.Line, out.Column, out.EndLine, out.EndColumn = f.Line, f.Column, f.EndLine, f.EndColumn
	return out
}

func matchesAny(globs []string, file string) bool {
	for _, g := range globs {
		if ok, err := doublestar.Match(g, file); ok && err == nil {
			return true
		}
	}
	return false
}
