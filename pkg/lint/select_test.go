package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A selection chooses among policy rules alone; what it leaves out is no unused suppression.
func TestSelect(t *testing.T) {
	policies := write(t, map[string]string{"a.rego": "package main\n\ndeny contains \"no\"\n\nwarn contains {\"msg\": \"careful\", \"rule\": \"mine\"}\n"})
	text := template("hostPID: true", "restartPolicy: Never", "hostIPC: true # kandev-podlint:ignore host-namespace x",
		"hostNetwork: false # kandev-podlint:ignore host-path x")
	const (
		owned    = "6:5 error owned-restart-policy"
		pid      = "5:5 warning host-namespace"
		deny     = "1:1 error deny"
		mine     = "1:1 warning mine"
		unused   = "8:24 warning suppression-unused"
		nothing  = ""
		withUser = deny + "\n" + mine + "\n"
	)
	for name, c := range map[string]struct {
		selection Selection
		want      string
	}{
		"all":                 {Selection{}, withUser + pid + "\n" + owned + "\n" + unused},
		"a group":             {Selection{Groups: []string{"privilege"}}, owned},
		"its group":           {Selection{Groups: []string{"host"}}, pid + "\n" + owned + "\n" + unused},
		"a user's":            {Selection{Groups: []string{UserGroup}}, withUser + owned},
		"only one":            {Selection{Only: []string{"host-namespace"}}, pid + "\n" + owned},
		"only a user's":       {Selection{Only: []string{"mine"}}, mine + "\n" + owned},
		"a group and one":     {Selection{Groups: []string{UserGroup}, Only: []string{"host-namespace"}}, withUser + pid + "\n" + owned},
		"a group less one":    {Selection{Groups: []string{"host"}, Skip: []string{"host-namespace"}}, owned + "\n" + unused},
		"all less two":        {Selection{Skip: []string{"deny", "host-path"}}, mine + "\n" + pid + "\n" + owned},
		"skip wins over only": {Selection{Only: []string{"deny"}, Skip: []string{"deny"}}, owned + nothing},
	} {
		t.Run(name, func(t *testing.T) {
			rs := lintText(t, Options{Policies: []string{policies}, Select: c.selection}, "t.yaml", text)
			var got []string
			for _, s := range brief(rs...) {
				if !strings.Contains(s, " info ") {
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestSelectionCheck(t *testing.T) {
	for _, c := range []struct {
		selection Selection
		user      bool
		want      string // the error's beginning
	}{
		{Selection{}, false, ""},
		{Selection{Groups: []string{"host", UserGroup}, Only: []string{"host-path"}, Skip: []string{"root-user"}}, false, ""},
		{Selection{Groups: []string{"hosts"}}, true, `no group is named "hosts"; there are [`},
		{Selection{Only: []string{"host-pth"}}, false, `no rule is named "host-pth"; did you mean host-path?`},
		{Selection{Skip: []string{"mine"}}, false, `no rule is named "mine"`},
		{Selection{Skip: []string{"mine"}}, true, ""},
		{Selection{Skip: []string{"owned-path"}}, true, "owned-path is no rule of a policy, so it is always asked"},
		{Selection{Only: []string{"suppression-unused"}}, false, "suppression-unused is no rule of a policy, so it is always asked"},
	} {
		err := c.selection.Check(c.user)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.selection, err, c.want)
		}
	}
}

// What the configuration tells rules reaches the pack's and a user's.
func TestParameters(t *testing.T) {
	dir := write(t, map[string]string{
		"p/a.rego": "package main\n\ndeny contains msg if {\n\tsome image in input.kandev.parameters.deny.images\n\tinput.template.spec.containers[_].image == image\n\tmsg := image\n}\n",
		"t.yaml": strings.ReplaceAll(template("volumes: [{name: a, hostPath: {path: /data/a}}, {name: b, hostPath: {path: /b}}]"),
			"registry.example/agent@", "x@"),
		ConfigName: "policies: [p]\nparameters:\n  host-path: {allowed: [/data]}\n  deny: {images: [x@sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70]}\n",
	})
	var got []string
	err := New(Options{Select: Selection{Only: []string{"host-path", "deny"}}}).Paths(t.Context(), []string{dir}, func(r FileResult) error {
		got = append(got, brief(r)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1:1 error deny", "5:63 warning host-path"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
