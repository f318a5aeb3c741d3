package compose

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"
)

// exampleIdentity is a session's identity.
var exampleIdentity = Identity{
	ExecutorID: "executor-1", ProfileID: "profile-1", InstanceID: "instance-1",
	TaskID: "task-1", SessionID: "session-1", EnvironmentID: "environment-1", Namespace: "agents",
}

// exampleProfiles has one profile for each workspace mode.
var exampleProfiles = map[string]Profile{
	"managed_pvc": {Platform: LinuxARM64, Workspace: Workspace{
		Mode: ManagedPVC, Size: "20Gi", StorageClass: "fast", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
	}},
	"empty_dir":      {Workspace: Workspace{Mode: EmptyDir}},
	"existing_claim": {Workspace: Workspace{Mode: ExistingClaim, ClaimName: "shared"}},
	"defaults":       {},
}

// spec reads a template that must be readable.
func spec(t testing.TB, text string) *corev1.PodTemplateSpec {
	t.Helper()
	tmpl, violations := ParseTemplate([]byte(text))
	if len(violations) > 0 {
		t.Fatalf("%v\n%s", violations, text)
	}
	return tmpl.Spec
}

// goodExamples are the templates that break no rule.
func goodExamples(t testing.TB) []*corev1.PodTemplateSpec {
	t.Helper()
	var out []*corev1.PodTemplateSpec
	for _, r := range Rules() {
		if r.Name != RuleProfile {
			out = append(out, spec(t, r.Good))
		}
	}
	return append(out, spec(t, fullTemplate))
}

func exampleSnapshots(t testing.TB) []Snapshot {
	t.Helper()
	var out []Snapshot
	for _, tmpl := range goodExamples(t) {
		for name, p := range exampleProfiles {
			s, err := NewSnapshot(tmpl, p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out = append(out, s)
		}
	}
	return out
}

func TestSnapshotComposesTheSamePod(t *testing.T) {
	for _, tmpl := range goodExamples(t) {
		for name, p := range exampleProfiles {
			s, err := NewSnapshot(tmpl, p)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := DecodeSnapshot(s.Encode())
			if err != nil {
				t.Fatalf("%v\n%s", err, s.Encode())
			}
			want, err := Compose(tmpl, p, exampleIdentity)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decoded.Compose(exampleIdentity)
			if err != nil || !equality.Semantic.DeepEqual(want, got) {
				t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
			}
			if decoded.SHA256() != s.SHA256() || !bytes.Equal(decoded.Encode(), s.Encode()) {
				t.Errorf("%s: the decoded snapshot has other bytes", name)
			}
		}
	}
}

func TestSnapshotOfRandomTemplates(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		tmpl, violations := ParseTemplate([]byte(drawTemplate(t)))
		if tmpl == nil || len(errorsOf(violations)) > 0 {
			return
		}
		s, err := NewSnapshot(tmpl.Spec, Profile{})
		want, composeErr := Compose(tmpl.Spec, Profile{}, exampleIdentity)
		if (err == nil) != (composeErr == nil) {
			t.Fatalf("NewSnapshot: %v; Compose: %v", err, composeErr)
		}
		if err != nil {
			return
		}
		taken++
		decoded, err := DecodeSnapshot(s.Encode())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.Encode())
		}
		got, err := decoded.Compose(exampleIdentity)
		if err != nil || !equality.Semantic.DeepEqual(want, got) {
			t.Fatalf("%v\n%s", err, cmp.Diff(want, got))
		}
	})
	if taken == 0 {
		t.Error("no template was good")
	}
}

// drawTemplate writes a template with a main container and random fields beside it.
func drawTemplate(t *rapid.T) string {
	field := func(label string, from ...string) string {
		if rapid.Bool().Draw(t, label) {
			return ""
		}
		return rapid.SampledFrom(from).Draw(t, label) + "\n"
	}
	return example(
		field("pod", "    hostname: a", "    terminationGracePeriodSeconds: 0", "    priorityClassName: x", "    hostPID: true", "    restartPolicy: Always") +
			field("affinity", "    nodeSelector: {a.example/b: \"<&>\"}", "    nodeSelector: {kubernetes.io/os: linux}") +
			agent +
			field("resources", "      resources: {limits: {cpu: 0.5, memory: 1024Mi}}", "      resources: {limits: {cpu: 1e3}}", "      resources: {limits: {cpu: \"0.0001\"}}", "      resources: {requests: {cpu: 2000m, memory: \"12e6\"}}") +
			field("env", "      env: [{name: A, value: \"\\u2028<é😀\\t\"}]", "      env: [{name: A, value: \"\"}]", "      env: []", "      env: [{name: HOME}]") +
			field("probe", "      readinessProbe: {httpGet: {port: 80}}", "      readinessProbe: {httpGet: {port: http}}", "      livenessProbe: {tcpSocket: {port: 0x50}}") +
			field("security", "      securityContext: {runAsUser: 0, privileged: false}", "      securityContext: {}") +
			field("grant", sidecar+"      volumeMounts: [{name: kandev-workspace, mountPath: /workspace, readOnly: false}]", sidecar+"      volumeMounts: [{name: kandev-auth, mountPath: /auth}]") +
			field("volume", "    volumes: [{name: a, emptyDir: {sizeLimit: 1.5Gi}}]", "    volumes: [{name: a, configMap: {name: x, defaultMode: 0400}}]", "    volumes: []"))
}

func TestSnapshotIsCanonical(t *testing.T) {
	s, err := NewSnapshot(spec(t, fullTemplate), exampleProfiles["managed_pvc"])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "snapshot.json", string(s.Encode()))
	if got := s.SHA256(); len(got) != 64 || strings.ToLower(got) != got {
		t.Errorf("SHA256 = %q", got)
	}
}

func TestDecodeSnapshotIsStrict(t *testing.T) {
	s, err := NewSnapshot(spec(t, goodTemplate), Profile{})
	if err != nil {
		t.Fatal(err)
	}
	good := string(s.Encode())
	replaced := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in %s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"nothing":              {"", ErrSnapshotMalformed},
		"no object":            {"[]", ErrSnapshotMalformed},
		"null":                 {"null", ErrSnapshotMalformed},
		"no version":           {replaced(`"version":1,`, ""), ErrSnapshotMalformed},
		"null version":         {replaced(`"version":1`, `"version":null`), ErrSnapshotMalformed},
		"newer version":        {`{"version":2,"credentials":"x"}`, ErrSnapshotVersion},
		"older version":        {replaced(`"version":1`, `"version":0`), ErrSnapshotVersion},
		"version in words":     {replaced(`"version":1`, `"version":"1"`), ErrSnapshotMalformed},
		"unknown field":        {replaced(`{"version":1,`, `{"version":1,"env":{"A":"b"},`), ErrSnapshotMalformed},
		"unknown nested field": {replaced(`"spec":{`, `"spec":{"token":"x",`), ErrSnapshotMalformed},
		"wrongly cased field":  {replaced(`"platform"`, `"Platform"`), ErrSnapshotMalformed},
		"duplicate key":        {replaced(`"platform":"linux/amd64"`, `"platform":"linux/arm64","platform":"linux/amd64"`), ErrSnapshotMalformed},
		"trailing data":        {good + "{}", ErrSnapshotMalformed},
		"trailing blank":       {good + "\n", ErrSnapshotMalformed},
		"leading blank":        {" " + good, ErrSnapshotMalformed},
		"blank inside":         {replaced(`:1,`, `: 1,`), ErrSnapshotMalformed},
		"other order":          {replaced(`"version":1,"main_container":"kandev-agent"`, `"main_container":"kandev-agent","version":1`), ErrSnapshotMalformed},
		"needless escape":      {replaced(`linux/amd64`, `linux\/amd64`), ErrSnapshotMalformed},
		"needless field":       {replaced(`"spec":{`, `"spec":{"hostPID":false,`), ErrSnapshotMalformed},
		"quantity not reduced": {replaced(`"resources":{}`, `"resources":{"limits":{"memory":"1024Mi"}}`), ErrSnapshotMalformed},
		"wrong type":           {replaced(`"containers":[`, `"hostPID":"x","containers":[`), ErrSnapshotMalformed},
		"no main container":    {replaced(`"main_container":"kandev-agent"`, `"main_container":""`), ErrSnapshotMalformed},
		"no access modes":      {replaced(`,"access_modes":["ReadWriteOnce"]`, ``), ErrSnapshotMalformed},
		"cut off":              {good[:len(good)-1], ErrSnapshotMalformed},
		"too large":            {good + strings.Repeat(" ", MaxSnapshotBytes), ErrSnapshotMalformed},
		"byte order mark":      {string(utf8BOM) + good, ErrSnapshotMalformed},
	} {
		if _, err := DecodeSnapshot([]byte(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, data := range map[string]string{
		"template breaks a rule": replaced(`"name":"kandev-agent"`, `"name":"other"`),
		"unknown platform":       replaced(`linux/amd64`, `plan9/amd64`),
	} {
		var rules *Invalid
		if _, err := DecodeSnapshot([]byte(data)); !errors.As(err, &rules) || len(rules.Violations) == 0 {
			t.Errorf("%s: %v, want an *Invalid", name, err)
		}
	}
}

func TestNewSnapshotRefusesWhatBreaksARule(t *testing.T) {
	bad := spec(t, example("    hostname: a\n"))
	var rules *Invalid
	if _, err := NewSnapshot(bad, Profile{}); !errors.As(err, &rules) {
		t.Errorf("no main container: %v", err)
	}
	if _, err := NewSnapshot(spec(t, goodTemplate), Profile{Platform: "x"}); !errors.As(err, &rules) {
		t.Errorf("unknown platform: %v", err)
	}
	large := spec(t, goodTemplate)
	large.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", MaxSnapshotBytes)}}
	if _, err := NewSnapshot(large, Profile{}); err == nil {
		t.Error("too large: no error")
	}
	if _, err := (Snapshot{}).Compose(exampleIdentity); !errors.Is(err, ErrSnapshotMalformed) {
		t.Errorf("the empty snapshot: %v", err)
	}
}

func TestSnapshotSharesNothing(t *testing.T) {
	tmpl := spec(t, fullTemplate)
	s, err := NewSnapshot(tmpl, exampleProfiles["managed_pvc"])
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%s %v %v", s.Encode(), s.Template(), s.Profile())
	tmpl.Spec.Containers[0].Name = "x"
	s.Encode()[0] = 'x'
	s.Template().Spec.Containers[0].Name = "x"
	s.Profile().Workspace.AccessModes[0] = "x"
	exampleProfiles["managed_pvc"].Workspace.AccessModes[0] = corev1.ReadWriteMany
	if after := fmt.Sprintf("%s %v %v", s.Encode(), s.Template(), s.Profile()); after != before {
		t.Errorf("the snapshot changed:\n%s\n%s", before, after)
	}
}
