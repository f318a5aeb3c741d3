package compose

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestProfileDefaults(t *testing.T) {
	p := Profile{}.WithDefaults()
	if p.MainContainer != "kandev-agent" || p.Platform != LinuxAMD64 || p.Workspace.Mode != ManagedPVC ||
		p.Workspace.Size != DefaultWorkspaceSize || !slices.Equal(p.Workspace.AccessModes, []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}) {
		t.Errorf("%+v", p)
	}
	for name, p := range exampleProfiles {
		if errs := p.WithDefaults().Validate(); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
	if LinuxARM64.Arch() != "arm64" || LinuxAMD64.Arch() != "amd64" {
		t.Error("Arch")
	}
}

func TestProfileValidation(t *testing.T) {
	for want, change := range map[string]func(*Profile){
		"main_container":            func(p *Profile) { p.MainContainer = "A_b" },
		"platform":                  func(p *Profile) { p.Platform = "windows/amd64" },
		"workspace.mode":            func(p *Profile) { p.Workspace.Mode = "nfs" },
		"workspace.size":            func(p *Profile) { p.Workspace.Size = "ten" },
		"workspace.size ":           func(p *Profile) { p.Workspace.Size = "0" },
		"workspace.size  ":          func(p *Profile) { p.Workspace.Size = "-1Gi" },
		"workspace.storage_class":   func(p *Profile) { p.Workspace.StorageClass = "A" },
		"workspace.access_modes[0]": func(p *Profile) { p.Workspace.AccessModes = []corev1.PersistentVolumeAccessMode{"All"} },
		"workspace.access_modes[1]": func(p *Profile) {
			p.Workspace.AccessModes = []corev1.PersistentVolumeAccessMode{"ReadWriteOnce", "ReadWriteOnce"}
		},
		"workspace.access_modes[1] ": func(p *Profile) {
			p.Workspace.AccessModes = []corev1.PersistentVolumeAccessMode{"ReadWriteOnce", "ReadWriteOncePod"}
		},
		"workspace.claim_name":      func(p *Profile) { p.Workspace.ClaimName = "a" },
		"workspace.claim_name ":     func(p *Profile) { p.Workspace = Workspace{Mode: ExistingClaim} },
		"workspace.claim_name  ":    func(p *Profile) { p.Workspace = Workspace{Mode: ExistingClaim, ClaimName: "A"} },
		"workspace.size   ":         func(p *Profile) { p.Workspace = Workspace{Mode: EmptyDir, Size: "1Gi"} },
		"workspace.storage_class  ": func(p *Profile) { p.Workspace = Workspace{Mode: EmptyDir, StorageClass: "a"} },
		"workspace.access_modes": func(p *Profile) {
			p.Workspace = Workspace{Mode: EmptyDir, AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}}
		},
	} {
		p := Profile{}.WithDefaults()
		change(&p)
		errs := p.Validate()
		if len(errs) != 1 || errs[0].Field != trimBlanks(want) {
			t.Errorf("%s: %v", want, errs)
		}
	}
}

func trimBlanks(s string) string {
	for s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

func TestParseProfile(t *testing.T) {
	p, violations := ParseProfile([]byte("config:\n  main_container: app\n  platform: linux/arm64\n  other: {a: 1}\n  workspace: {mode: existing_claim, claim_name: c}\n  pod_template_yaml: |\n    apiVersion: v1\nname: x\n"))
	if len(violations) > 0 || p.Profile.MainContainer != "app" || p.Profile.Platform != LinuxARM64 || p.Profile.Workspace.ClaimName != "c" || p.Template == nil {
		t.Fatalf("%v %+v", violations, p)
	}
	if got := p.Template.Locate("apiVersion"); got.Start != (Place{7, 5}) || got.End != (Place{7, 19}) {
		t.Errorf("apiVersion at %v", got)
	}
	p, violations = ParseProfile([]byte("pod_template_file: a/b.yaml\npod_template_yaml: null\n"))
	if len(violations) > 0 || p.TemplateFile != "a/b.yaml" || p.Template != nil {
		t.Errorf("%v %+v", violations, p)
	}
}

func TestRefusedProfiles(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"1:1 document-empty <nil>"}},
		{"a: 1\n---\nb: 1\n", []string{"3:1 document-multiple <nil>"}},
		{"- a\n", []string{"1:1 profile-value <nil>"}},
		{"a: &a [*a]\n", []string{"1:8 document-aliases <nil>"}},
		{"platform: linux\npod_template_file: a\n", []string{"1:1 profile-value platform"}},
		{"config:\n  platform: linux\n  pod_template_file: a\n", []string{"2:3 profile-value config.platform"}},
		{"main_containr: x\nworkspace: {mod: a}\npod_template_file: a\n", []string{"1:1 document-unknown-field main_containr", "2:13 document-unknown-field workspace.mod"}},
		{"platform: [a]\nworkspace: 5\npod_template_yaml: |\n  a: [\n", []string{"1:1 document-wrong-type platform", "2:1 document-wrong-type workspace", "4:3 document-syntax <nil>"}},
		{"pod_template_yaml: [a]\n", []string{"1:1 document-wrong-type pod_template_yaml"}},
		{"pod_template_yaml: a\npod_template_file: b\n", []string{"2:1 profile-value pod_template_file"}},
		{"pod_template_yaml: \"\"\n", []string{"1:21 document-empty <nil>"}},
		{"pod_template_yaml: null\n", []string{"1:20 document-empty <nil>"}},
		{"pod_template_file: a\npod_template_file: b\n", []string{"2:1 document-duplicate-key pod_template_file"}},
		{"pod_template_yaml: !!binary YTogWw==\n", []string{"1:29 document-syntax <nil>"}},
		{"pod_template_yaml: \"\\uFEFFa: [\"\n", []string{"1:27 document-syntax <nil>"}},
		{"pod_template_yaml: |\n  a: 1\n  ---\n  b: 1\n", []string{"4:3 document-multiple <nil>"}},
	} {
		_, violations := ParseProfile([]byte(c.text))
		var got []string
		for _, v := range violations {
			got = append(got, fmt.Sprintf("%d:%d %s %v", v.Place.Start.Line, v.Place.Start.Column, v.Rule, v.Path))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
