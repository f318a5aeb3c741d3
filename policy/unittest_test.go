package policy

import (
	"testing"
)

// The pack's own Rego tests, each a subtest, and every line of its rules covered by them.
func TestPackRego(t *testing.T) {
	report, err := Test(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tests) < len(catalogue) {
		t.Errorf("only %d tests ran", len(report.Tests))
	}
	for _, result := range report.Tests {
		t.Run(result.Package+"/"+result.Name, func(t *testing.T) {
			if result.Verdict != Pass {
				t.Errorf("%s\n%s", result.Message, result.Output)
			}
		})
	}
	files := 0
	for _, file := range report.Coverage {
		if files++; len(file.Missed) > 0 {
			t.Errorf("%s: %.0f %% covered, not lines %v", file.File, file.Percent(), file.Missed)
		}
	}
	if files < len(catalogue) {
		t.Errorf("coverage of only %d files", files)
	}
}
