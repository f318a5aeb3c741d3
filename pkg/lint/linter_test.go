package lint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// What a whole result holds, for each way in which a file may end.
func TestResults(t *testing.T) {
	fault := func(rule, message, remedy string) finding.Finding {
		return finding.Finding{
			Rule: rule, Severity: finding.Error, Source: finding.Document, Message: message, Remediation: remedy, File: "f.yaml",
			Line: 1, Column: 1, EndLine: 1, EndColumn: 1, Docs: docsBase + rule + ".md",
		}
	}
	for _, c := range []struct {
		name, text string
		named      bool
		want       FileResult
	}{
		{"other file in a directory", "kind: ConfigMap\n", false, FileResult{Skipped: true}},
		{"empty file in a directory", "", false, FileResult{Skipped: true}},
		{"other file named", "kind: ConfigMap\n", true, FileResult{Unusable: true, Findings: []finding.Finding{
			fault(RuleMissing, "the file holds neither a PodTemplate nor a profile with a template",
				"name a file that holds a v1 PodTemplate or a profile with pod_template_yaml"),
		}}},
		{"comments named", "# nothing\n", true, FileResult{Unusable: true, Findings: []finding.Finding{
			fault(compose.RuleDocumentEmpty, "the file holds no document, or only comments",
				"write a v1 PodTemplate; if a command produced the file, look at that command"),
		}}},
		{"too large to read", "kind: PodTemplate\n" + strings.Repeat("# more\n", maxFileBytes/7), false, FileResult{Findings: []finding.Finding{
			fault(compose.RuleDocumentSize, "the file has more than 1048576 bytes; a template may have 262144",
				"move large literal data out of the template, into the image or a ConfigMap"),
		}}},
		{"too large and nothing of ours", "definitions: {}\n" + strings.Repeat("# PodTemplate\n", maxFileBytes/14), false, FileResult{Skipped: true}},
		{"good", template("priority: 5"), false, FileResult{Templates: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs, err := New(Options{}).Bytes(t.Context(), "f.yaml", []byte(c.text), c.named)
			if err != nil {
				t.Fatal(err)
			}
			c.want.File = "f.yaml"
			if !c.want.Skipped {
				c.want.Content = []byte(c.text)
			}
			ignore := cmp.Options{
				cmpopts.IgnoreFields(finding.Finding{}, "Fingerprint"), cmpopts.IgnoreFields(FileResult{}, "Template", "Profile"),
				cmpopts.EquateEmpty(),
			}
			if diff := cmp.Diff([]FileResult{c.want}, rs, ignore); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Programs keep much in .json files that is not quite JSON; one that was meant as a template is still an error.
func TestForeignJSON(t *testing.T) {
	for text, want := range map[string]bool{
		"{\"compilerOptions\": {} // comment\n}":                        true,
		"{\"kind\": \"PodTemplate\" // comment\n}":                      false,
		"{\"pod_template_yaml\": // comment\n}":                         false,
		"{\x00\"kind\x00\": \"PodTemplate\" // UTF-16, more or less\n}": false,
	} {
		rs, err := New(Options{}).Bytes(t.Context(), "tsconfig.json", []byte(text), false)
		if err != nil {
			t.Fatal(err)
		}
		if rs[0].Skipped != want {
			t.Errorf("%q: skipped is %v", text, rs[0].Skipped)
		}
	}
}

func TestProfiles(t *testing.T) {
	owned := "volumes: [{name: x, persistentVolumeClaim: {claimName: work}}]"
	profile := func(body string) string {
		return "main_container: kandev-agent\nworkspace: {mode: existing_claim, claim_name: work}\n" + body
	}
	embedded := "pod_template_yaml: |\n  " + indent(template(owned))
	dir := write(t, map[string]string{
		"alone.yaml":        profile(embedded),
		"config.yaml":       "config:\n  " + indent(profile(embedded)),
		"file.yaml":         profile("pod_template_file: sub/t.yaml\n"),
		"sub/t.yaml":        template(owned),
		"json.json":         `{"workspace": {"mode": "existing_claim", "claim_name": "work"}, "pod_template_file": "sub/t.yaml"}`,
		"none.yaml":         profile("pod_template_file: nowhere.yaml\n"),
		"dir.yaml":          "config: {pod_template_file: sub}\n",
		"stdin.yaml":        "pod_template_file: '-'\n",
		"empty.yaml":        "pod_template_file: ''\n",
		"null.yaml":         "config: {pod_template_file: ~}\n",
		"blank.yaml":        "pod_template_yaml: ''\n",
		"broken.yaml":       "pod_template_file: broken.txt\n",
		"broken.txt":        "kind: [\n",
		"wrong.yaml":        "platform: linux/s390x\npod_template_file: sub/t.yaml\n",
		"suppress.yaml":     "# kandev-podlint:ignore root-user left over\npod_template_file: sub/t.yaml\n",
		"suppressions.yaml": "# kandev-podlint:ignore root-user left over\npod_template_yaml: |\n  # kandev-podlint:ignore root-user left over too\n  " + indent(template("priority: 1")),
	})
	for _, c := range []struct {
		file string
		want []string
	}{
		{"alone.yaml", []string{"8:51 error owned-claim"}},
		{"config.yaml", []string{"9:53 error owned-claim"}},
		{"file.yaml", []string{"5:49 error owned-claim"}},
		{"json.json", []string{"5:49 error owned-claim"}},
		{"none.yaml", []string{"3:1 error document-unreadable"}},
		{"dir.yaml", []string{"1:10 error document-unreadable"}},
		{"stdin.yaml", []string{"1:1 error document-unreadable"}},
		{"empty.yaml", []string{"1:1 error profile-value"}},
		{"null.yaml", []string{"1:10 error profile-value"}},
		{"blank.yaml", []string{"1:21 error document-empty"}},
		{"broken.yaml", []string{"1:1 error document-syntax"}},
		{"wrong.yaml", []string{"1:1 error profile-value"}},
		{"suppress.yaml", []string{"1:1 warning suppression-unused"}},
		{"suppressions.yaml", []string{
			"1:1 warning suppression-unused", "3:3 warning suppression-unused",
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			rs := paths(t, Options{Stdin: iotest.ErrReader(errors.New("read")), Policies: nil}, filepath.Join(dir, c.file))
			var got []string
			for _, s := range brief(rs...) {
				if !strings.Contains(s, " info ") {
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Flags win over --profile, that over the configuration; a profile document stands for itself, flags aside.
func TestProfilePrecedence(t *testing.T) {
	main := func(name string) compose.Profile { return compose.Profile{MainContainer: name} }
	config := "profiles: [{files: ['*.yaml'], main_container: from-config, platform: linux/arm64}]\n"
	dir := write(t, map[string]string{
		ConfigName:     config,
		"t.yaml":       template("priority: 1"),
		"sub/t.yaml":   template("priority: 1"),
		"profile.yaml": "main_container: from-profile\npod_template_file: t.yaml\n",
	})
	for _, c := range []struct {
		name, file, want string
		o                Options
	}{
		{"configuration", "t.yaml", "from-config", Options{}},
		{"the glob does not match", "sub/t.yaml", "", Options{}},
		{"--profile", "t.yaml", "from-base", Options{Base: main("from-base")}},
		{"flag", "t.yaml", "from-flag", Options{Base: main("from-base"), Profile: main("from-flag")}},
		{"profile document", "profile.yaml", "from-profile", Options{Base: main("from-base")}},
		{"profile document and flag", "profile.yaml", "from-flag", Options{Profile: main("from-flag")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := paths(t, c.o, filepath.Join(dir, c.file))
			if got := rs[len(rs)-1].Profile.MainContainer; got != c.want {
				t.Errorf("main container %q, want %q", got, c.want)
			}
		})
	}
}

func TestOverride(t *testing.T) {
	p := compose.Profile{
		MainContainer: "a", Platform: compose.LinuxAMD64,
		Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "1Gi", StorageClass: "fast"},
	}
	for _, c := range []struct {
		name string
		by   compose.Profile
		want compose.Profile
	}{
		{"nothing", compose.Profile{}, p},
		{
			"another mode brings its own values",
			compose.Profile{Workspace: compose.Workspace{Mode: compose.ExistingClaim, ClaimName: "c"}},
			compose.Profile{MainContainer: "a", Platform: compose.LinuxAMD64, Workspace: compose.Workspace{Mode: compose.ExistingClaim, ClaimName: "c"}},
		},
		{
			"the same mode keeps the others",
			compose.Profile{MainContainer: "b", Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "2Gi", AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteMany"}}},
			compose.Profile{MainContainer: "b", Platform: compose.LinuxAMD64, Workspace: compose.Workspace{
				Mode: compose.ManagedPVC, Size: "2Gi", StorageClass: "fast", AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteMany"},
			}},
		},
	} {
		if diff := cmp.Diff(c.want, Override(p, c.by)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestUserPolicies(t *testing.T) {
	dir := write(t, map[string]string{
		"deny/x.rego":       "package main\ndeny contains {\"msg\": \"no\", \"path\": \"template.spec.priority\"} if input.kind\n",
		"fails/x.rego":      "package main\ndeny := \"x\" if input.kind\n",
		"broken/x.rego":     "package main\ndeny contains if\n",
		"cfg/" + ConfigName: "policies: [../deny]\nrules: {deny: info}\n",
		"cfg/t.yaml":        template("priority: 1", "# kandev-podlint:ignore of-the-user any name may be a user's", "priorityClassName: x"),
		"t.yaml":            template("priority: 1 # kandev-podlint:ignore deny we know"),
	})
	rs := paths(t, Options{}, filepath.Join(dir, "cfg", "t.yaml"))
	if diff := cmp.Diff([]string{"5:5 info deny", "6:5 warning suppression-unused"}, brief(rs...)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if f := rule(rs[0].Findings, "deny"); f.Docs != "" {
		t.Errorf("a user's rule has no page, not %s", f.Docs)
	}
	rs = paths(t, Options{Policies: []string{filepath.Join(dir, "deny")}}, filepath.Join(dir, "t.yaml"))
	if len(rs[0].Findings) != 0 || rs[0].Suppressed != 1 {
		t.Errorf("got %v, %d suppressed", brief(rs...), rs[0].Suppressed)
	}
	rs = paths(t, Options{Policies: []string{filepath.Join(dir, "fails")}}, filepath.Join(dir, "t.yaml"))
	if f := rule(rs[0].Findings, RulePolicyFailed); f == nil || !rs[0].Unusable {
		t.Errorf("a policy that fails: %v", brief(rs...))
	}
	err := New(Options{Policies: []string{filepath.Join(dir, "broken")}}).Paths(t.Context(), []string{dir}, func(FileResult) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "x.rego:2") {
		t.Errorf("a policy that does not compile: %v", err)
	}
}

// What render needs never compiles a policy, and takes nothing out.
func TestWithoutPolicies(t *testing.T) {
	l := New(Options{WithoutPolicies: true})
	rs, err := l.Bytes(t.Context(), "t.yaml", []byte(template("hostPID: true # kandev-podlint:ignore nothing")), true)
	if err != nil || len(rs[0].Findings) != 0 {
		t.Error(brief(rs...), err)
	}
	if len(l.evaluators.byKey) != 0 {
		t.Error("policies were compiled")
	}
}

// The version that is meant decides what the API server would refuse.
func TestKubeVersion(t *testing.T) {
	for version, want := range map[string]int{"": 0, "1.37": 0, "v1.36": 1, "1.34": 2} {
		l := New(Options{WithoutPolicies: true, KubeVersion: version})
		rs, err := l.Bytes(t.Context(), "t.yaml", []byte(template("schedulingGroup: {podGroupName: g}\n    evictionResponders: []")), true)
		if err != nil || len(rs[0].Findings) != want {
			t.Error(version, brief(rs...), err)
		}
	}
}

func TestStdin(t *testing.T) {
	rs := paths(t, Options{Stdin: strings.NewReader(template("hostPID: true"))}, Stdin, Stdin)
	if diff := cmp.Diff([]string{"<stdin>"}, names("", rs)); diff != "" || rs[0].Findings[0].File != StdinName {
		t.Error(diff, rs[0].Findings)
	}
	for _, o := range []Options{{}, {Stdin: iotest.ErrReader(errors.New("gone"))}} {
		if rs := paths(t, o, Stdin); !rs[0].Unusable || rs[0].Findings[0].Rule != RuleUnreadable {
			t.Error(brief(rs...))
		}
	}
}

func TestBytesStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New(Options{}).Bytes(ctx, "t.yaml", []byte(template("priority: 1")), true)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A file that is there when the directory is read, and gone when it is its turn.
func TestVanishedFile(t *testing.T) {
	rs, err := New(Options{}).source(t.Context(), source{path: filepath.Join(t.TempDir(), "gone.yaml")})
	if err != nil || !rs[0].Unusable || !strings.Contains(rs[0].Findings[0].Message, "no such file") && os.PathSeparator == '/' {
		t.Error(rs, err)
	}
}
