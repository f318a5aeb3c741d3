package pss

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	pack "github.com/kandev/kandev-podlint/policy"
)

// oldestMinor is the oldest Kubernetes version that kandev-podlint knows.
const oldestMinor = 24

// check is one check of k8s.io/pod-security-admission, alone in an evaluator of that package.
type check struct {
	policy.Check

	evaluator policy.Evaluator
}

// allChecks lists that package's checks, by ID.
func allChecks(t testing.TB) []check {
	t.Helper()
	var checks []check
	for _, c := range policy.DefaultChecks() {
		evaluator, err := policy.NewEvaluator([]policy.Check{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		checks = append(checks, check{c, evaluator})
	}
	slices.SortFunc(checks, func(a, b check) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return checks
}

// newestMinor is the newest Kubernetes version in which a check changed.
func newestMinor(checks []check) int {
	newest := 0
	for _, c := range checks {
		newest = max(newest, c.Versions[len(c.Versions)-1].MinimumVersion.Minor())
	}
	return newest
}

// pss is what a finding says when this check forbids a Pod.
func (c check) pss() finding.PSS { return finding.PSS{Level: string(c.Level), Check: string(c.ID)} }

// forbids is that package's verdict.
func (c check) forbids(pod *corev1.Pod, minor int) bool {
	version := psa.LevelVersion{Level: c.Level, Version: psa.MajorMinorVersion(1, minor)}
	return slices.ContainsFunc(c.evaluator.EvaluatePod(version, &pod.ObjectMeta, &pod.Spec), func(r policy.CheckResult) bool { return !r.Allowed })
}

// overridden lists the baseline checks that the restricted standard replaces by stricter ones.
func overridden(checks []check, minor int) []policy.CheckID {
	var ids []policy.CheckID
	for _, c := range checks {
		for _, version := range slices.Backward(c.Versions) {
			if version.MinimumVersion.Minor() <= minor {
				ids = append(ids, version.OverrideCheckIDs...)
				break
			}
		}
	}
	return ids
}

// found holds the messages of findings by the checks that they name.
type found map[finding.PSS][]string

// comparison counts what each check says to Pods, and where the pack says something else.
type comparison struct {
	checks        []check
	counts        map[policy.CheckID]*count
	pods          int
	disagreements int
}

type count struct{ allowed, forbidden, disagreements int }

func newComparison(t testing.TB) *comparison {
	t.Helper()
	c := &comparison{checks: allChecks(t), counts: map[policy.CheckID]*count{}}
	for _, each := range c.checks {
		c.counts[each.ID] = &count{}
	}
	return c
}

// compare holds what the pack finds in a Pod, or in a template of it, against every check. An empty version is the
// newest. It returns what the pack finds, and reports each difference as one of where.
func (c *comparison) compare(t testing.TB, where string, object map[string]any, version string) found {
	t.Helper()
	minor := newestMinor(c.checks)
	if version != "" {
		if _, err := fmt.Sscanf(version, "1.%d", &minor); err != nil {
			t.Fatal(err)
		}
	}
	found, pod := packFindings(t, object, version), decode(t, object)
	c.pods++
	known := 0
	for _, each := range c.checks {
		messages := found[each.pss()]
		forbids, says := each.forbids(pod, minor), len(messages) > 0
		n := c.counts[each.ID]
		if forbids {
			n.forbidden++
		} else {
			n.allowed++
		}
		if says {
			known++
		}
		if forbids != says {
			n.disagreements++
			c.disagreements++
			t.Errorf("%s, Kubernetes %q: %s forbids: %v, the pack: %v %q\n%s", where, version, each.ID, forbids, says, messages, show(object))
		}
	}
	if known != len(found) {
		t.Errorf("%s: a finding names no check or a wrong level: %v", where, found)
	}
	return found
}

// packFindings evaluates the pack, and returns the messages of its findings by their checks.
func packFindings(t testing.TB, object map[string]any, version string) found {
	t.Helper()
	e, err := pack.Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	findings, err := e.Eval(t.Context(), pack.Input{Object: object, KubeVersion: version})
	if err != nil {
		t.Fatalf("%v\n%s", err, show(object))
	}
	found := found{}
	for _, f := range findings {
		if f.PSS != nil {
			found[*f.PSS] = append(found[*f.PSS], f.Message)
		}
	}
	return found
}

// decode reads a Pod, or the Pod of a template, as the API server does before it applies the standards: a volume
// without a type is an emptyDir. No other default of the API server touches a check, but that of hostPort under
// hostNetwork, where the baseline standard forbids hostNetwork as it is.
func decode(t testing.TB, object map[string]any) *corev1.Pod {
	t.Helper()
	if template, ok := object["template"].(map[string]any); ok {
		object = template
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if strict, err := sigsjson.UnmarshalStrict(data, pod); err != nil || len(strict) > 0 {
		t.Fatalf("%v %v\n%s", err, strict, show(object))
	}
	for i := range pod.Spec.Volumes {
		if source := &pod.Spec.Volumes[i].VolumeSource; *source == (corev1.VolumeSource{}) {
			source.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
	return pod
}

func show(object map[string]any) string {
	text, err := yaml.Marshal(object)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// allows is the pack's verdict on a whole level: a check that the level has is named by no finding.
func (c *comparison) allows(level psa.Level, minor int, found found) bool {
	replaced := overridden(c.checks, minor)
	for _, each := range c.checks {
		applies := each.Level == psa.LevelBaseline
		if level == psa.LevelRestricted {
			applies = !slices.Contains(replaced, each.ID)
		}
		if applies && len(found[each.pss()]) > 0 {
			return false
		}
	}
	return true
}

// String is a table of the checks.
func (c *comparison) String() string {
	var b strings.Builder
	const row = "%-27s %-11s %9v %9v %v\n"
	fmt.Fprintf(&b, "%d Pods\n"+row, c.pods, "check", "level", "allowed", "forbidden", "disagreements")
	for _, each := range c.checks {
		n := c.counts[each.ID]
		fmt.Fprintf(&b, row, each.ID, each.Level, n.allowed, n.forbidden, n.disagreements)
	}
	return b.String()
}
