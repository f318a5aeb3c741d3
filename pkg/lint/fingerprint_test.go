package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

func TestNamedPath(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a.b/c": "x"}},
		"list": []any{
			map[string]any{"name": "one", "ports": []any{map[string]any{"containerPort": json.Number("80")}}},
			map[string]any{"name": "v", "mountPath": "/x"},
			"text",
			map[string]any{"other": "x"},
			nil,
		},
	}
	for path, want := range map[string]string{
		"":                          "",
		"metadata.labels[a.b/c]":    "metadata.labels[a.b/c]",
		"list[0].ports[0].protocol": "list[name=one].ports[containerPort=80].protocol",
		"list[1]":                   "list[mountPath=/x]",
		"list[2]":                   "list[text]",
		"list[3].other":             "list[3].other",
		"list[4]":                   "list[4]",
		"list[9].x[0]":              "list[9].x[0]",
		"list[x].y":                 "list[x].y",
		"list[":                     "list[",
	} {
		if got := namedPath(path, object); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestFingerprintsTellRepeatsApart(t *testing.T) {
	fs := []finding.Finding{{Rule: "a", Message: "2"}, {Rule: "a", Message: "1"}, {Rule: "b"}, {Rule: "a", Message: "1"}}
	fingerprints(fs, nil)
	swapped := []finding.Finding{{Rule: "a", Message: "1"}, {Rule: "b"}, {Rule: "a", Message: "1"}, {Rule: "a", Message: "2"}}
	fingerprints(swapped, nil)
	seen := map[string]bool{}
	for _, f := range fs {
		seen[f.Fingerprint] = true
	}
	if len(seen) != 4 || fs[0].Fingerprint != swapped[3].Fingerprint || fs[2].Fingerprint != swapped[1].Fingerprint {
		t.Errorf("%v\n%v", fs, swapped)
	}
}

// Containers in any order, with any blank lines and comments between them, have the same fingerprints.
func TestFingerprintsAreStable(t *testing.T) {
	containers := []string{
		"    - name: kandev-agent\n      image: registry.example/agent\n",
		"    - name: db\n      image: registry.example/db\n      securityContext: {privileged: true, capabilities: {add: [SYS_ADMIN, NET_ADMIN]}}\n",
		"    - name: log\n      image: registry.example/log\n      volumeMounts:\n      - {name: kandev-auth, mountPath: /a}\n      - {name: kandev-auth, mountPath: /b}\n",
	}
	text := func(order []int, filler string) string {
		out := "apiVersion: v1\nkind: PodTemplate\ntemplate:\n  spec:\n    containers:\n"
		for _, i := range order {
			out += filler + containers[i]
		}
		return out
	}
	prints := func(tb testing.TB, text string) []string {
		var out []string
		for _, f := range lintText(tb, Options{}, "t.yaml", text)[0].Findings {
			out = append(out, fmt.Sprintf("%s %s %s", f.Fingerprint, f.Rule, f.Container))
		}
		slices.Sort(out)
		return out
	}
	want := prints(t, text([]int{0, 1, 2}, ""))
	if unique := slices.Compact(slices.Clone(want)); len(unique) != len(want) {
		t.Fatalf("fingerprints repeat: %v", want)
	}
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation([]int{0, 1, 2}).Draw(rt, "order")
		filler := rapid.SampledFrom([]string{"", "\n", "# a comment\n", "\n\n    # kandev\n"}).Draw(rt, "filler")
		if diff := cmp.Diff(want, prints(t, text(order, filler))); diff != "" {
			rt.Fatalf("-want +got\n%s", diff)
		}
	})
}
