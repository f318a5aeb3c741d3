package compose

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFieldsByVersion: a field that the API server meant does not know yet is refused where it stands; a template
// without one reads the same for every version.
func TestFieldsByVersion(t *testing.T) {
	const young = agent + "    schedulingGroup: {podGroupName: g}\n    volumes:\n    - name: x\n      emptyDir: {mode: 493}\n"
	const group = `8:5 document-unknown-field: unknown field "schedulingGroup" in Kubernetes 1.%d: 1.36 is the first that has it`
	const mode = `11:18 document-unknown-field: unknown field "mode" in Kubernetes 1.%d: 1.37 is the first that has it`
	for minor, texts := range map[int][]string{0: nil, 37: nil, 36: {mode}, 35: {group, mode}, 30: {group, mode}} {
		var want, got []string
		for _, text := range texts {
			want = append(want, fmt.Sprintf(text, minor))
		}
		d, violations := ReadDocument([]byte(example(young)))
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		d.Minor = minor
		template, violations := d.Template()
		for _, v := range violations {
			got = append(got, fmt.Sprintf("%d:%d %s: %s", v.Place.Start.Line, v.Place.Start.Column, v.Rule, v.Detail))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("1.%d: %s", minor, diff)
		}
		if template == nil || template.Spec.Spec.SchedulingGroup == nil {
			t.Errorf("1.%d: the field is not read", minor)
		}
	}
}

// TestRulesByVersion: the API server's rules are those of the version that the document is for.
func TestRulesByVersion(t *testing.T) {
	const text = agent + "    securityContext: {seLinuxChangePolicy: MountOption}\n"
	for minor, want := range map[int]int{0: 0, 37: 0, 36: 1} {
		d, violations := ReadDocument([]byte(example(text)))
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		d.Minor = minor
		template, violations := d.Template()
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		if got := template.Validate(Profile{}); len(got) != want {
			t.Errorf("1.%d: %v", minor, got)
		}
	}
}
