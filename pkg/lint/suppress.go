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
func suppressible(f *finding.Finding) bool { return mayTakeOut(f.Source, f.Severity) }

// mayBeTakenOut reports whether a user may take findings of a rule out.
func mayBeTakenOut(r finding.Rule) bool { return mayTakeOut(r.Source, r.Severity) }

func mayTakeOut(source finding.Source, severity finding.Severity) bool {
	switch source {
	case finding.Config, finding.Deployment:
		return false
	case finding.Document, finding.Ownership, finding.Grant:
		return severity != finding.Error
	}
	return true
}

// whyItStays ends a sentence about a rule whose findings nobody may take out.
func whyItStays(r finding.Rule) string {
	switch r.Source {
	case finding.Config:
		return "it is about suppressions and configuration themselves"
	case finding.Deployment:
		return "it was asked whether the template can be deployed"
	case finding.Document:
		return "without it there is no template to check"
	}
	return "it is an invariant of Kandev's"
}

// suppression is one rule of one suppression comment.
type suppression struct {
	rule    string
	comment compose.Comment
	used    bool
}

// suppress takes out what comments of the documents of one file suppress, and reports comments that are
// wrong or suppress nothing. A nil document has none. Where the user has policies, rules may have any name. Of a rule
// that is not asked nobody knows whether a comment suppresses something.
func suppress(fs []finding.Finding, docs []*compose.Document, asked Selection, user bool) (kept []finding.Finding, suppressed int) {
	var active []*suppression
	var faults []finding.Finding
	for _, c := range commentsOf(docs) {
		s, f := readSuppression(c, user)
		active = append(active, s...)
		faults = append(faults, f...)
	}
	if len(active)+len(faults) == 0 {
		return fs, 0
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
		if !s.used && asked.includes(s.rule, sourceOf(s.rule)) {
			faults = append(faults, suppressionFault(RuleSuppressionUnused, s.comment,
				fmt.Sprintf("nothing to suppress: %s does not fire on line %d", s.rule, s.comment.Line),
				"remove the suppression, or move it to the finding's line or the line above"))
		}
	}
	return append(kept, faults...), suppressed
}

func commentsOf(docs []*compose.Document) []compose.Comment {
	var out []compose.Comment
	for _, d := range docs {
		if d != nil {
			out = append(out, d.Comments(ignoreMarker)...)
		}
	}
	return out
}

// covered reports whether a suppression takes the finding out, and marks every one that does as used.
func covered(active []*suppression, f *finding.Finding) bool {
	found := false
	for _, s := range active {
		if s.rule == f.Rule && within(s.comment.About, f) && suppressible(f) {
			s.used, found = true, true
		}
	}
	return found
}

// within reports whether a finding starts in a range.
func within(r compose.Range, f *finding.Finding) bool {
	afterStart := f.Line > r.Start.Line || f.Line == r.Start.Line && f.Column >= r.Start.Column
	beforeEnd := f.Line < r.End.Line || f.Line == r.End.Line && f.Column <= r.End.Column
	return afterStart && beforeEnd
}

// readSuppression reads one comment: the suppressions in it, or what is wrong with it.
func readSuppression(c compose.Comment, user bool) (active []*suppression, faults []finding.Finding) {
	text, ok := strings.CutPrefix(c.Text, ignoreMarker)
	if !ok || text != "" && text[0] != ' ' && text[0] != '\t' {
		return nil, nil // a comment about suppressions, not one
	}
	rules, reason := ruleList(text)
	if reason == "" {
		return nil, []finding.Finding{suppressionFault(RuleSuppressionReason, c,
			"the suppression has no reason, so it has no effect",
			"write: # "+ignoreMarker+" RULE[,RULE] reason")}
	}
	for _, name := range rules {
		rule, known := Rule(name)
		switch {
		case !known && !user:
			faults = append(faults, suppressionFault(RuleSuppressionUnknown, c,
				fmt.Sprintf("no rule is named %q%s", name, DidYouMean(name)), "correct the name; kandev-podlint rules lists them"))
		case known && !mayBeTakenOut(rule):
			faults = append(faults, suppressionFault(RuleSuppressionForbidden, c,
				fmt.Sprintf("%s cannot be suppressed: %s", name, whyItStays(rule)), "remove the suppression and mend the template"))
		default:
			active = append(active, &suppression{rule: name, comment: c})
		}
	}
	return active, faults
}

// ruleList splits "RULE,RULE reason". A blank after a comma does not end the list.
func ruleList(text string) (rules []string, reason string) {
	words := strings.Fields(text)
	more := true
	for len(words) > 0 && more {
		for name := range strings.SplitSeq(words[0], ",") {
			if name != "" {
				rules = append(rules, name)
			}
		}
		more = strings.HasSuffix(words[0], ",")
		words = words[1:]
	}
	return rules, strings.Join(words, " ")
}

func suppressionFault(rule string, c compose.Comment, message, remedy string) finding.Finding {
	f := ownFinding(rule, message)
	f.Remediation = remedy
	setPlace(&f, c.Range)
	return f
}
