package lint

import (
	"fmt"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// ignoreMarker starts a suppression: "# kandev-podlint:ignore RULE[,RULE] reason".
const ignoreMarker = "kandev-podlint:ignore"

// suppressible reports whether a user may take a finding out. Kandev's invariants, an unreadable
// document and what is wrong with suppressions themselves always stay.
func suppressible(f *finding.Finding) bool {
	switch f.Source {
	case finding.Config:
		return false
	case finding.Document, finding.Ownership, finding.Grant:
		return f.Severity != finding.Error
	}
	return true
}

// suppression is one rule of one suppression comment.
type suppression struct {
	rule    string
	comment compose.Comment
	used    bool
}

// suppress takes out what the template's own comments suppress, and reports comments that are wrong or
// suppress nothing.
func suppress(fs []finding.Finding, d *compose.Document, user bool) (kept []finding.Finding, suppressed int) {
	comments := d.Comments(ignoreMarker)
	if len(comments) == 0 {
		return fs, 0
	}
	var active []*suppression
	var faults []finding.Finding
	for _, c := range comments {
		s, f := readSuppression(c, user)
		active = append(active, s...)
		faults = append(faults, f...)
	}
	kept = fs[:0]
	for _, f := range fs {
		if covered(active, &f) {
			suppressed++
			continue
		}
		kept = append(kept, f)
	}
	for _, s := range active {
		if !s.used {
			faults = append(faults, suppressionFault(RuleSuppressionUnused, s.comment,
				fmt.Sprintf("nothing to suppress: %s does not fire on line %d", s.rule, s.comment.Line),
				"remove the suppression, or move it to the finding's line or the line above"))
		}
	}
	return append(kept, faults...), suppressed
}

// covered reports whether a suppression takes the finding out, and marks every one that does as used.
func covered(active []*suppression, f *finding.Finding) bool {
	found := false
	for _, s := range active {
		if s.rule == f.Rule && s.comment.Line == f.Line && suppressible(f) {
			s.used, found = true, true
		}
	}
	return found
}

// readSuppression reads one comment: the suppressions in it, or what is wrong with it.
func readSuppression(c compose.Comment, user bool) (active []*suppression, faults []finding.Finding) {
	text, ok := strings.CutPrefix(c.Text, ignoreMarker)
	if !ok || text != "" && text[0] != ' ' && text[0] != '\t' {
		return nil, nil // a comment about suppressions, not one
	}
	rules, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	if rules == "" || strings.TrimSpace(reason) == "" {
		return nil, []finding.Finding{suppressionFault(RuleSuppressionReason, c,
			"the suppression has no reason, so it has no effect",
			"write: # "+ignoreMarker+" RULE[,RULE] reason")}
	}
	for name := range strings.SplitSeq(rules, ",") {
		rule, known := Rule(name)
		switch {
		case !known && !user:
			faults = append(faults, suppressionFault(RuleSuppressionUnknown, c,
				fmt.Sprintf("no rule is named %q%s", name, DidYouMean(name)), "correct the name; kandev-podlint rules lists them"))
		case known && !suppressible(&finding.Finding{Source: rule.Source, Severity: rule.Severity}):
			faults = append(faults, suppressionFault(RuleSuppressionForbidden, c,
				fmt.Sprintf("%s cannot be suppressed: it is an invariant of Kandev's", name), "remove the suppression and mend the template"))
		default:
			active = append(active, &suppression{rule: name, comment: c})
		}
	}
	return active, faults
}

func suppressionFault(rule string, c compose.Comment, message, remedy string) finding.Finding {
	r, _ := Rule(rule)
	f := finding.Finding{
		Rule: rule, Severity: r.Severity, Source: r.Source, Message: message, Remediation: remedy,
	}
	setPlace(&f, c.Range)
	return f
}
