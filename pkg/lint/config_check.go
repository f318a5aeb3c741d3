package lint

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// configCheck finds values of a configuration that decode but mean nothing.
type configCheck struct {
	config   *Config
	document *compose.Document
	fault    *ConfigError
}

func (c *configCheck) run() {
	for i, p := range c.config.Profiles {
		c.profile(p, fmt.Sprintf("profiles[%d]", i))
	}
	for _, name := range slices.Sorted(maps.Keys(c.config.Rules)) {
		c.severity(name, c.config.Rules[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.config.Parameters)) {
		c.parameters(name, c.config.Parameters[name])
	}
	for i := range c.config.Exclude {
		c.exclude(&c.config.Exclude[i], fmt.Sprintf("exclude[%d]", i))
	}
	for i, dir := range c.config.Policies {
		if _, err := os.Stat(c.config.path(dir)); err != nil {
			c.add(fmt.Sprintf("policies[%d]", i), "correct the path; it is relative to this file", "policies[%d]: %s: %v", i, dir, plain(err))
		}
	}
}

// add notes a fault of what a path names.
func (c *configCheck) add(path, remedy, format string, args ...any) {
	c.fault.add(c.document.Locate(path), fmt.Sprintf(format, args...), remedy)
}

func (c *configCheck) profile(p ConfigProfile, at string) {
	if len(p.Files) == 0 {
		c.add(at, "add files: [GLOB]", "%s selects no files", at)
	}
	c.globs(p.Files, at)
	for _, err := range p.WithDefaults().Validate() {
		c.add(at+"."+err.Field, "correct the value", "%s.%s", at, err.Error())
	}
}

func (c *configCheck) globs(globs []string, at string) {
	for i, g := range globs {
		if !doublestar.ValidatePattern(g) {
			at := fmt.Sprintf("%s.files[%d]", at, i)
			c.add(at, "write a glob such as templates/**/*.yaml", "%s: %q is no glob", at, g)
		}
	}
}

func (c *configCheck) severity(name string, s RuleSeverity) {
	at := "rules[" + name + "]"
	if finding.Severity(s).Rank() == 0 && s != Off {
		c.add(at, "write error, warning, info or off", "rules: %q is no severity for %s", s, name)
	}
	if rule, known := Rule(name); known && rule.Source != finding.Policy {
		c.add(at, "remove the line", "rules: %s is no policy rule, so its severity is fixed", name)
	} else if !known {
		c.unknown(at, name)
	}
}

// parameters checks what one rule is told. A rule of the user's own may be told anything.
func (c *configCheck) parameters(rule string, told map[string]any) {
	at := "parameters[" + rule + "]"
	r, known := Rule(rule)
	if !known {
		c.unknown(at, rule)
		return
	}
	if len(r.Parameters) == 0 {
		c.add(at, "remove the rule here", "parameters: %s has none", rule)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		at := at + "[" + name + "]"
		if !slices.ContainsFunc(r.Parameters, func(p finding.Parameter) bool { return p.Name == name }) {
			c.add(at, "remove it; kandev-podlint rules "+rule+" lists the rule's parameters", "parameters: %s has no parameter %q", rule, name)
		} else if !isStrings(told[name]) {
			c.add(at, "write a list of strings", "parameters: %s of %s is no list of strings", name, rule)
		}
	}
}

// isStrings reports whether a JSON value is a list of strings.
func isStrings(value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(item any) bool { _, ok := item.(string); return !ok })
}

// unknown reports a name that no rule has, unless the user's own policies may have it.
func (c *configCheck) unknown(at, name string) {
	if len(c.config.Policies) == 0 {
		c.add(at, "correct the name; kandev-podlint rules lists them", "no rule is named %q%s", name, DidYouMean(name))
	}
}

func (c *configCheck) exclude(x *Exclude, at string) {
	if len(x.Rules) == 0 {
		c.add(at, "add rules: [RULE]", "%s names no rules", at)
	}
	if strings.TrimSpace(x.Reason) == "" {
		c.add(at, "add reason: why the finding is accepted", "%s has no reason", at)
	}
	c.globs(x.Files, at)
	for i, name := range x.Rules {
		c.excluded(fmt.Sprintf("%s.rules[%d]", at, i), name)
	}
	c.expiry(x, at+".expires")
}

func (c *configCheck) excluded(at, name string) {
	rule, known := Rule(name)
	switch {
	case !known:
		c.unknown(at, name)
	case !mayBeTakenOut(rule):
		c.add(at, "remove it and mend the templates", "%s cannot be excluded: %s", name, whyItStays(rule))
	}
}

func (c *configCheck) expiry(x *Exclude, at string) {
	if x.Expires == "" {
		return
	}
	day, err := time.ParseInLocation(time.DateOnly, x.Expires, time.Local)
	if err != nil {
		c.add(at, "write a date such as 2027-01-31", "%s: %q is no date", at, x.Expires)
		return
	}
	x.until = day.AddDate(0, 0, 1)
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
