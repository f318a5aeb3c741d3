package lint

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

func TestCatalogue(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Name] || !kebab.MatchString(r.Name) {
			t.Errorf("rule %q: repeated or badly named", r.Name)
		}
		seen[r.Name] = true
		if r.Title == "" || r.Description == "" || r.Remedy == "" || r.Bad == "" || r.Good == "" || groupOrder(r) < 0 || r.Severity.Rank() == 0 {
			t.Errorf("rule %s is incomplete: %+v", r.Name, r)
		}
		if !strings.HasSuffix(DocsURL(r.Name), "/docs/rules/"+r.Name+".md") {
			t.Error(DocsURL(r.Name))
		}
	}
}

// The examples of this package's own rules that a template can show.
func TestOwnExamples(t *testing.T) {
	for _, r := range ownRules() {
		if !strings.Contains(r.Bad, "PodTemplate") {
			continue
		}
		bad := lintText(t, Options{}, "t.yaml", r.Bad)
		if rule(bad[0].Findings, r.Name) == nil {
			t.Errorf("%s does not fire on its bad example: %v", r.Name, brief(bad...))
		}
		if good := lintText(t, Options{}, "t.yaml", r.Good); rule(good[0].Findings, r.Name) != nil {
			t.Errorf("%s fires on its good example", r.Name)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	if got := DidYouMean("hostnamespace"); got != "; did you mean host-namespace?" {
		t.Error(got)
	}
	if got := DidYouMean("xxxxxxxxxxxxxxx"); got != "" {
		t.Error(got)
	}
}

func TestRemedyOf(t *testing.T) {
	if remedyOf(finding.Rule{}) != "" || remedyOf(finding.Rule{Remedy: "Do it."}) != "do it" {
		t.Error("a remedy is a clause")
	}
}
