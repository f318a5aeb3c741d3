package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where a suppression counts and where it does not, and what is wrong with it. Infos are left out.
func TestSuppress(t *testing.T) {
	const ignore = "# kandev-podlint:ignore "
	inJSON, err := json.Marshal(map[string]string{
		"pod_template_yaml": template("hostPID: true "+ignore+"host-namespace x", "hostIPC: true"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       []string
		suppressed int
	}{
		{"on the line", template("hostPID: true " + ignore + "host-namespace x"), nil, 1},
		{"above", template(ignore+"host-namespace x", "hostPID: true"), nil, 1},
		{"above, with a blank line and another comment between", template(ignore+"host-namespace x", "", "# why", "hostPID: true"), nil, 1},
		{"two stacked", template(ignore+"host-namespace x", ignore+"root-user x", "hostPID: true"), []string{"6:5 warning suppression-unused"}, 1},
		{"two rules in one", template(ignore+"host-namespace,root-user x", "hostPID: true"), []string{"5:5 warning suppression-unused"}, 1},
		{"a blank after the comma", template(ignore+"root-user, host-namespace x", "hostPID: true"), []string{"5:5 warning suppression-unused"}, 1},
		{"a tab before the reason", template("hostPID: true " + ignore + "host-namespace\tx"), nil, 1},
		{
			"in flow style", template("hostPID: true", "volumes: [", ignore+"docker-sock x", "{name: s, hostPath: {path: /var/run/docker.sock}}]"),
			[]string{"5:5 warning host-namespace", "7:5 error suppression-unknown-rule", "8:26 warning sensitive-host-path"},
			0,
		},
		{"below", template("hostPID: true", ignore+"host-namespace x"), []string{"5:5 warning host-namespace", "6:5 warning suppression-unused"}, 0},
		{
			"in a string", template("hostPID: true", `priorityClassName: "# kandev-podlint:ignore host-namespace x"`),
			[]string{"5:5 warning host-namespace", "6:5 error api-scheduling"},
			0,
		},
		{"in a block", template("hostPID: true", "schedulerName: |", "  x", "  "+ignore+"host-namespace x"), []string{"5:5 warning host-namespace"}, 0},
		{"another marker", template("hostPID: true # kandev-podlint:ignored host-namespace x"), []string{"5:5 warning host-namespace"}, 0},
		{"a comment about it", template("hostPID: true # use kandev-podlint:ignore host-namespace x"), []string{"5:5 warning host-namespace"}, 0},
		{"no rule", template("hostPID: true " + strings.TrimSpace(ignore)), []string{"5:5 warning host-namespace", "5:19 error suppression-reason"}, 0},
		{"no reason", template("hostPID: true " + ignore + "host-namespace"), []string{"5:5 warning host-namespace", "5:19 error suppression-reason"}, 0},
		{"misspelt", template("hostPID: true " + ignore + "host-namespaces x"), []string{"5:5 warning host-namespace", "5:19 error suppression-unknown-rule"}, 0},
		{
			"an invariant", template("restartPolicy: Never " + ignore + "owned-restart-policy x"),
			[]string{"5:5 error owned-restart-policy", "5:26 error suppression-forbidden"},
			0,
		},
		{"a fault of a suppression", template(ignore+"suppression-unused x", "priority: 1"), []string{"5:5 error suppression-forbidden"}, 0},
		{"an error of the document", template(ignore+"document-syntax x", "priority: 1"), []string{"5:5 error suppression-forbidden"}, 0},
		{"what the API server refuses", template("dnsPolicy: Nope " + ignore + "api-dns x"), nil, 1},
		{
			"in an embedded template", "pod_template_yaml: |\n  " + indent(template("hostPID: true "+ignore+"host-namespace x", "hostIPC: true")),
			[]string{"7:7 warning host-namespace"},
			1,
		},
		{"in a template in a JSON string", string(inJSON), []string{"1:142 warning host-namespace"}, 1},
		{
			"nothing after the last one", template("hostPID: true") + ignore + "host-namespace x",
			[]string{"5:5 warning host-namespace", "20:1 warning suppression-unused"},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := lintText(t, Options{}, "t.yaml", c.text)
			var got []string
			for _, s := range brief(rs...) {
				if !strings.Contains(s, " info ") {
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if rs[0].Suppressed != c.suppressed {
				t.Errorf("%d suppressed, want %d", rs[0].Suppressed, c.suppressed)
			}
		})
	}
}

func TestSuppressionMessages(t *testing.T) {
	rs := lintText(t, Options{}, "t.yaml", template(
		"# kandev-podlint:ignore host-namespaces x",
		"# kandev-podlint:ignore nothing-of-the-kind x",
		"# kandev-podlint:ignore owned-restart-policy x",
		"# kandev-podlint:ignore document-syntax x",
		"# kandev-podlint:ignore configuration x",
		"# kandev-podlint:ignore root-user x",
		"priority: 1"))
	var got []string
	for _, f := range rs[0].Findings {
		got = append(got, f.Message)
	}
	want := []string{
		`no rule is named "host-namespaces"; did you mean host-namespace?`,
		`no rule is named "nothing-of-the-kind"`,
		`owned-restart-policy cannot be suppressed: it is an invariant of Kandev's`,
		`document-syntax cannot be suppressed: without it there is no template to check`,
		`configuration cannot be suppressed: it is about suppressions and configuration themselves`,
		`nothing to suppress: root-user does not fire on line 11`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
