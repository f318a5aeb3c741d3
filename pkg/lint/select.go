package lint

import (
	"fmt"
	"slices"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/policy"
)

// UserGroup is the group of every rule of a user's policies.
const UserGroup = "user"

// Selection chooses among the rules of policies: those of the groups and those named, or all where neither is given,
// less those to skip. Every other rule is always asked. The zero value selects all.
type Selection struct {
	Groups []string
	Only   []string
	Skip   []string
}

// Check says what keeps a selection from meaning what it says: a group or a rule that does not exist, or a rule that is
// always asked. A user's rules may have any name.
func (s Selection) Check(user bool) error {
	for _, group := range s.Groups {
		if groups := PolicyGroups(); !slices.Contains(groups, group) {
			return fmt.Errorf("no group is named %q; there are %v", group, groups)
		}
	}
	for _, name := range slices.Concat(s.Only, s.Skip) {
		switch rule, known := Rule(name); {
		case !known && !user:
			return fmt.Errorf("no rule is named %q%s", name, DidYouMean(name))
		case known && rule.Source != finding.Policy:
			return fmt.Errorf("%s is no rule of a policy, so it is always asked", name)
		}
	}
	return nil
}

// PolicyGroups lists the groups of policy rules, a user's last.
func PolicyGroups() []string {
	var groups []string
	for _, r := range policy.Catalogue() {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return append(groups, UserGroup)
}

// includes reports whether findings of a rule are wanted.
func (s Selection) includes(rule string, source finding.Source) bool {
	if source != finding.Policy && source != finding.User || len(s.Groups)+len(s.Only)+len(s.Skip) == 0 {
		return true
	}
	if slices.Contains(s.Skip, rule) {
		return false
	}
	if len(s.Groups)+len(s.Only) == 0 {
		return true
	}
	return slices.Contains(s.Only, rule) || slices.Contains(s.Groups, groupOf(rule, source))
}

// groupOf is the group of a policy's rule.
func groupOf(rule string, source finding.Source) string {
	if source == finding.User {
		return UserGroup
	}
	r, _ := Rule(rule)
	return r.Group
}

// sourceOf is the source of a rule's findings; a rule that nobody else has is a user's.
func sourceOf(rule string) finding.Source {
	if r, known := Rule(rule); known {
		return r.Source
	}
	return finding.User
}
