package lint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // each "line:column: message; remedy"
	}{
		{"nothing", "", nil},
		{"comments", "# nothing yet\n", nil},
		{"whole", "profiles:\n- files: ['a/**']\n  main_container: x\nrules: {root-user: off}\nexclude:\n- rules: [root-user]\n  reason: x\n  expires: 2027-01-31\n", nil},
		{"syntax", "rules: [\n", []string{"1:1: not YAML or JSON: did not find expected node content; correct the indentation, quotes or brackets at or just above this line"}},
		{"two documents", "rules: {}\n---\nrules: {}\n", []string{"3:1: a second document starts here; a configuration is one; move the second document to a file of its own, and remove the separator above it"}},
		{"unknown field", "ruls: {}\n", []string{`1:1: unknown field "ruls"; did you mean "rules"?; write "rules", or remove the field`}},
		{"wrong type", "exclude: {}\n", []string{"1:1: exclude must be a list, not an object; write a list: start each item with \"- \""}},
		{"profile without files", "profiles: [{main_container: a}]\n", []string{"1:12: profiles[0] selects no files; add files: [GLOB]"}},
		{"profile of no glob", "profiles: [{files: ['[']}]\n", []string{`1:21: profiles[0].files[0]: "[" is no glob; write a glob such as templates/**/*.yaml`}},
		{"profile of no platform", "profiles: [{files: [a], platform: x}]\n", []string{`1:25: profiles[0].platform: Unsupported value: "x": supported values: "linux/amd64", "linux/arm64"; correct the value`}},
		{"unknown rule", "rules: {root-usr: off}\n", []string{`1:9: no rule is named "root-usr"; did you mean root-user?; correct the name; kandev-podlint rules lists them`}},
		{"no severity", "rules: {root-user: bad}\n", []string{`1:9: rules: "bad" is no severity for root-user; write error, warning, info or off`}},
		{"severity of an invariant", "rules: {owned-path: off}\n", []string{"1:9: rules: owned-path is no policy rule, so its severity is fixed; remove the line"}},
		{"parameters", "parameters: {host-path: {allowed: [/data]}}\n", nil},
		{"parameters of a rule without", "parameters: {root-user: {allowed: []}}\n", []string{"1:14: parameters: root-user has none; remove the rule here"}},
		{"parameters of an unknown rule", "parameters: {host-pat: {}}\n", []string{`1:14: no rule is named "host-pat"; did you mean host-path?; correct the name; kandev-podlint rules lists them`}},
		{"unknown parameter", "parameters: {host-path: {allow: [/data]}}\n", []string{`1:26: parameters: host-path has no parameter "allow"; remove it; kandev-podlint rules host-path lists the rule's parameters`}},
		{"parameter of another type", "parameters: {host-path: {allowed: [/data, 1]}}\n", []string{"1:26: parameters: allowed of host-path is no list of strings; write a list of strings"}},
		{"parameters of a user's rule", "policies: [.]\nparameters: {deny: {registries: {a: 1}}}\n", nil},
		{"empty exclude", "exclude: [{}]\n", []string{
			"1:11: exclude[0] has no reason; add reason: why the finding is accepted", "1:11: exclude[0] names no rules; add rules: [RULE]",
		}},
		{"exclude of no glob", "exclude: [{rules: [root-user], reason: x, files: ['{']}]\n", []string{`1:51: exclude[0].files[0]: "{" is no glob; write a glob such as templates/**/*.yaml`}},
		{"exclude of an invariant", "exclude: [{rules: [owned-path], reason: x}]\n", []string{"1:20: owned-path cannot be excluded: it is an invariant of Kandev's; remove it and mend the templates"}},
		{"exclude of an unknown rule", "exclude: [{rules: [nope-nope], reason: x}]\n", []string{`1:20: no rule is named "nope-nope"; correct the name; kandev-podlint rules lists them`}},
		{"exclude until no date", "exclude: [{rules: [root-user], reason: x, expires: soon}]\n", []string{`1:43: exclude[0].expires: "soon" is no date; write a date such as 2027-01-31`}},
		{"policies nowhere", "policies: [nowhere]\n", []string{"1:12: policies[0]: nowhere: no such file or directory; correct the path; it is relative to this file"}},
		{"rules of a user's policies", "policies: [.]\nrules: {deny: off}\nexclude: [{rules: [deny], reason: x}]\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{ConfigName: c.text}), ConfigName)
			_, err := ReadConfig(file)
			var got []string
			if err != nil {
				for line := range strings.SplitSeq(err.Error(), "\n") {
					got = append(got, strings.TrimPrefix(line, file+":"))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A broken configuration is reported once; the files that it does not govern are linted.
func TestBrokenConfig(t *testing.T) {
	dir := write(t, map[string]string{
		"a/t.yaml":                   template("hostPID: true"),
		"b/" + ConfigName:            "rules: {root-user: bad}\n",
		"b/t.yaml":                   template("hostPID: true"),
		"b/sub/t.yaml":               template("hostPID: true"),
		"b/sub/other.yaml":           "kind: ConfigMap\n",
		"c/t.yaml":                   template("hostPID: true"),
		"d/" + ConfigName + "/x.txt": "",
		"d/t.yaml":                   template("hostPID: true"),
	})
	rs := paths(t, Options{}, dir)
	want := []string{
		"a/t.yaml", "b/sub/other.yaml skipped", "b/.kandev-podlint.yaml unusable",
		"c/t.yaml", "d/.kandev-podlint.yaml unusable",
	}
	if diff := cmp.Diff(want, names(dir, rs)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	r := rs[2]
	if f := r.Findings[0]; len(r.Findings) != 1 || f.Rule != RuleConfig || f.File != r.File || f.Fingerprint == "" || len(r.Content) == 0 {
		t.Errorf("%+v", r)
	}
}

func TestConfigDiscovery(t *testing.T) {
	dir := write(t, map[string]string{
		ConfigName:           "rules: {host-namespace: info}\n",
		"t.yaml":             template("hostPID: true"),
		"a/b/t.yaml":         template("hostPID: true"),
		"near/" + ConfigName: "rules: {host-namespace: error}\n",
		"near/x/t.yaml":      template("hostPID: true"),
	})
	want := []string{"5:5 info host-namespace"}
	for _, file := range []string{"t.yaml", "a/b/t.yaml"} {
		if diff := cmp.Diff(want, brief(paths(t, Options{}, filepath.Join(dir, file))...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", file, diff)
		}
	}
	nearest := brief(paths(t, Options{}, filepath.Join(dir, "near", "x", "t.yaml"))...)
	if diff := cmp.Diff([]string{"5:5 error host-namespace"}, nearest); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	t.Chdir(filepath.Join(dir, "a"))
	rs := paths(t, Options{Stdin: strings.NewReader(template("hostPID: true"))}, Stdin)
	if diff := cmp.Diff(want, brief(rs...)); diff != "" {
		t.Errorf("standard input: -want +got\n%s", diff)
	}
	c, err := FindConfig("b")
	if err != nil || c == nil || len(c.Rules) != 1 {
		t.Error(c, err)
	}
	fixed := &Config{Rules: map[string]RuleSeverity{"host-namespace": Off}, Exclude: []Exclude{{Files: []string{"b/**"}, Rules: []string{"x"}}}}
	if got := brief(paths(t, Options{Config: fixed}, "b/t.yaml")...); len(got) != 0 {
		t.Error(got)
	}
}

func TestExclude(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 5, d, 12, 0, 0, 0, time.Local) }
	const rest = "\n  rules: [host-namespace]\n  reason: the profiler needs it\n"
	for _, c := range []struct {
		name, config string
		now          time.Time
		want         []string
		suppressed   int
	}{
		{"everywhere", "exclude:\n-" + rest, day(1), []string{}, 1},
		{"this file", "exclude:\n- files: ['tools/*.yaml']" + rest, day(1), []string{}, 1},
		{"other files", "exclude:\n- files: ['*.yaml']" + rest, day(1), []string{"5:5 warning host-namespace"}, 0},
		{"on its last day", "exclude:\n- expires: 2026-05-20" + rest, day(20), []string{}, 1},
		{"past it", "exclude:\n- expires: 2026-05-20" + rest, day(21), []string{"5:5 warning exclude-expired", "5:5 warning host-namespace"}, 0},
		{"renewed by another", "exclude:\n- expires: 2026-05-20" + rest + "- expires: 2026-06-20" + rest, day(21), []string{}, 1},
		{"renewed for ever", "exclude:\n-" + rest + "- expires: 2026-05-20" + rest, day(21), []string{}, 1},
		{"another rule", "exclude:\n- rules: [root-user]\n  reason: x\n", day(1), []string{"5:5 warning host-namespace"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, map[string]string{ConfigName: c.config, "tools/t.yaml": template("hostPID: true")})
			rs := paths(t, Options{Now: c.now}, filepath.Join(dir, "tools"))
			if diff := cmp.Diff(c.want, brief(rs...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if rs[0].Suppressed != c.suppressed {
				t.Errorf("%d suppressed", rs[0].Suppressed)
			}
		})
	}
}

func TestConfigOffIsNoUseOfAComment(t *testing.T) {
	dir := write(t, map[string]string{
		ConfigName: "rules: {host-namespace: off}\n", "t.yaml": template("hostPID: true # kandev-podlint:ignore host-namespace x"),
	})
	if diff := cmp.Diff([]string{"5:19 warning suppression-unused"}, brief(paths(t, Options{}, filepath.Join(dir, "t.yaml"))...)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFromHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := fromHere(filepath.Join(here, "a", "b")); got != filepath.Join("a", "b") {
		t.Error(got)
	}
	if far := filepath.Join(filepath.Dir(here), "x"); fromHere(far) != far {
		t.Error(fromHere(far))
	}
}
