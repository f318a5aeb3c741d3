package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// aliasBomb writes a list whose items each name the one before ten times.
func aliasBomb(first, item string, levels int) string {
	text := "a:\n" + first + "\n"
	last := "a"
	for i := range levels {
		name := fmt.Sprintf("a%d", i)
		text += fmt.Sprintf(item, name, strings.TrimSuffix(strings.Repeat("*"+last+", ", 10), ", ")) + "\n"
		last = name
	}
	return text
}

// refused are texts that are no strict templates, with the place and message of each violation.
var refused = []struct {
	name, text string
	want       []string // "line:column-line:column rule: message"
}{
	// The rows of the public reports.
	{"kubernetes 103185, comment", goodTemplate + "--- # comment\na: 1\n", []string{"9:1-9:2 document-multiple: a second document starts here; a template file holds exactly one"}},
	{"kubernetes 103185, blank", goodTemplate + "--- \na: 1\n", []string{"9:1-9:2 document-multiple: a second document starts here; a template file holds exactly one"}},
	{"CRLF before, LF after", "a: 1\r\n---\r\n---\nb: 1\n", []string{"2:1-2:4 document-multiple: a second, empty document starts here; a template file holds exactly one"}},
	{"sigs yaml tail", goodTemplate + "...\nkind: x\n", []string{"9:1-9:8 document-multiple: content after the end of the document; a template file holds exactly one"}},
	{"kubernetes 64612", example("    HostNetwork: true\n" + agent), []string{`5:5-5:16 document-unknown-field: unknown field "HostNetwork" in template.spec; did you mean "hostNetwork"?`}},
	{"kubernetes 82296", example(agent + "      env: [{name: A, value: 8080}]\n"), []string{"8:23-8:34 document-wrong-type: value must be a string, not the number 8080"}},
	{"kube-linter 136", meta("    labels: {a: yes}\n"), []string{"5:14-5:20 document-wrong-type: labels[a] must be a string, not the boolean yes"}},
	{"go-yaml 410, after", example(agent + "      securityContext:\n        runAsUser: 1000\n        <<: {runAsUser: 0}\n"), []string{`9:9-9:18 document-merge-collision: key "runAsUser" is set here and also by a merge (<<); readers disagree on which one wins`}},
	{"go-yaml 410, before", example(agent + "      securityContext:\n        <<: {runAsUser: 0}\n        runAsUser: 1000\n"), []string{`10:9-10:18 document-merge-collision: key "runAsUser" is set here and also by a merge (<<); readers disagree on which one wins`}},
	{"two merges", "x: &x {a: 1}\nz: {<<: [*x, *x]}\napiVersion: v1\nkind: PodTemplate\n", []string{
		`1:8-1:9 document-merge-collision: key "a" is set here and also by a merge (<<); readers disagree on which one wins`,
		`1:1-1:2 document-unknown-field: unknown field "x"`, `2:1-2:2 document-unknown-field: unknown field "z"`,
	}},
	{"spruce 259", meta("    annotations:\n      1: x\n      \"1\": z\n"), []string{`7:7-7:10 document-duplicate-key: key "1" stands twice in one object; its first place is line 6`}},
	{"go-yaml 222", example(agent + "      securityContext: {privileged: on}\n    hostPID: y\n"), nil},
	{"kubernetes 83253", aliasBomb("- &a [x]", "- &%s [%s]", 9), []string{"11:8-11:11 document-aliases: alias *a7 and others would expand the document by more than 262144 bytes"}},
	{"empty", "", []string{"1:1-1:1 document-empty: the file holds no document, or only comments"}},
	{"comments", "# a\n\n  # b\n", []string{"1:1-1:1 document-empty: the file holds no document, or only comments"}},
	{"only a mark", "\ufeff---\n", []string{"1:1-1:1 document-empty: the file holds no document, or only comments"}},
	{"null item", example("    containers:\n    -\n" + agent[len("    containers:\n"):]), []string{"6:5-6:6 document-null-item: template.spec.containers[0] is an empty list item"}},

	// Their siblings.
	{"trailing separator", goodTemplate + "---\n", []string{"8:1-8:4 document-multiple: a second, empty document starts here; a template file holds exactly one"}},
	{"BOM", "\ufeffapiVersion: v1\nkind: podTemplate\ntemplate: {spec: {containers: [{name: kandev-agent, image: a}]}}\n", []string{"2:1-2:18 document-kind: kind is podTemplate; a template is a v1 PodTemplate"}},
	{"another kind", "apiVersion: v1\nkind: Pod\nspec: {}\n", []string{"2:1-2:10 document-kind: kind is Pod; a template is a v1 PodTemplate"}},
	{"no kind", strings.Replace(goodTemplate, "kind: PodTemplate\n", "", 1), []string{"1:1-1:11 document-kind: kind is missing; a template is a v1 PodTemplate"}},
	{"miswritten version", strings.Replace(goodTemplate, "v1", "1", 1), []string{"1:1-1:14 document-kind: apiVersion is 1; a template is a v1 PodTemplate"}},
	{"no object", "- a\n", []string{"1:1-1:2 document-kind: the document is no object, so no PodTemplate"}},
	{"null", "~\n", []string{"1:1-1:2 document-kind: the document is no object, so no PodTemplate"}},
	{"UTF-16", "\xff\xfea\x00", []string{"1:1-1:2 document-encoding: the file is UTF-16, not UTF-8"}},
	{"UTF-16 without a mark", "a\x00:\x00", []string{"1:2-1:3 document-encoding: a NUL byte: the file is binary or UTF-16, not UTF-8 text"}},
	{"Latin-1", "é: \xe9\n", []string{"1:4-1:5 document-encoding: byte 0xE9 is not UTF-8"}},
	{"tab", "a:\n\tb: 1\n", []string{"2:2-2:6 document-syntax: not YAML or JSON: found character that cannot start any token"}},
	{"unknown anchor", "a: *b\n", []string{"1:1-1:6 document-syntax: not YAML or JSON: unknown anchor 'b' referenced"}},
	{"endless alias", "a: &a [*a]\n", []string{"1:8-1:10 document-aliases: alias *a stands inside what it names"}},
	{"endless merge", "a: &a {<<: &b {<<: *a}}\n", []string{"1:20-1:22 document-aliases: alias *a stands inside what it names"}},
	{"many merges", "x: &x {}\ny: {<<: [" + strings.Repeat("*x, ", 6_000) + "]}\n", []string{"1:1-1:2 document-kind: apiVersion is missing; a template is a v1 PodTemplate", "1:1-1:2 document-kind: kind is missing; a template is a v1 PodTemplate"}},
	{"merge of no object", "<<: 5\nkind: PodTemplate\napiVersion: v1\ntemplate: {spec: {containers: [{name: kandev-agent, image: a}]}}\n", []string{"1:1-1:3 document-syntax: the merge key << names something that is no object"}},
	{"list as key", "apiVersion: v1\nkind: PodTemplate\n? [a]\n: b\n", []string{"3:3-3:4 document-key: a list cannot be a key"}},
	{"null as key", "apiVersion: v1\nkind: PodTemplate\n~: b\n", []string{"3:1-3:2 document-key: null cannot be a key"}},
	{"JSON duplicate", `{"apiVersion":"v1","kind":"PodTemplate","kind":"PodTemplate"}`, []string{`1:41-1:47 document-duplicate-key: key "kind" stands twice in one object; its first place is line 1`}},
	{"JSON tail", `{"apiVersion":"v1"}{}`, []string{"1:1-1:22 document-multiple: content after the end of the document; a template file holds exactly one"}},
	{"JSON number", `{"apiVersion":"v1","kind":"PodTemplate","template":{"spec":{"priority":1e3}}}`, []string{"1:61-1:75 document-wrong-type: priority must be a whole number, not the number 1e3"}},
	{"quoted boolean", example("    hostPID: \"true\"\n" + agent), []string{`5:5-5:20 document-wrong-type: hostPID must be true or false, not the string "true"`}},
	{"fraction", example("    priority: 1.5\n" + agent), []string{"5:5-5:18 document-wrong-type: priority must be a whole number, not the number 1.5"}},
	{"too large for 32 bits", example("    priority: 3000000000\n" + agent), []string{"5:5-5:25 document-wrong-type: priority must be a whole number from -2147483648 to 2147483647, not the number 3000000000"}},
	{"too large for 64 bits", example("    activeDeadlineSeconds: 99999999999999999999\n" + agent), []string{"5:5-5:48 document-wrong-type: activeDeadlineSeconds must be a whole number from -9223372036854775808 to 9223372036854775807, not the number 99999999999999999999"}},
	{"list for a string", example("    hostname: [a]\n" + agent), []string{"5:5-5:13 document-wrong-type: hostname must be a string, not a list"}},
	{"object for a list", example("    containers: {name: a}\n"), []string{"5:5-5:15 document-wrong-type: containers must be a list, not an object"}},
	{"string for an object", "apiVersion: v1\nkind: PodTemplate\ntemplate: a\n", []string{`3:1-3:12 document-wrong-type: template must be an object, not the string "a"`}},
	{"bad quantity", example(agent + "      resources: {limits: {cpu: 1 Gi}}\n"), []string{`8:28-8:37 document-wrong-type: limits[cpu] must be a quantity such as 500m or 1Gi, not the string "1 Gi"`}},
	{"bad port", example(agent + "      livenessProbe: {tcpSocket: {port: [1]}}\n"), []string{"8:35-8:39 document-wrong-type: port must be a number or a name, not a list"}},
	{"bad time", meta("    creationTimestamp: today\n"), []string{`5:5-5:29 document-wrong-type: creationTimestamp must be a time such as 2006-01-02T15:04:05Z, not the string "today"`}},
	{"bad tag", example("    hostname: !!int x\n" + agent), []string{`5:21-5:22 document-syntax: hostname: "x" cannot be read as !!int`}},
	{"bad binary", example("    hostname: !!binary x\n" + agent), []string{"5:24-5:25 document-syntax: hostname: !!binary holds no valid base64"}},
	{"infinite", example("    priority: .inf\n" + agent), []string{"5:15-5:19 document-wrong-type: .inf is not a number that JSON can hold"}},
	{"flow key with wide characters", "metadata: {annotations: {\"é😀\": ü, e\u0301: 5}}\n" + goodTemplate, []string{"1:35-1:40 document-wrong-type: annotations[e\u0301] must be a string, not the number 5"}},
	{"quoted key with dots", meta("    labels: {\"a.b/c]d\": 5}\n"), []string{"5:14-5:26 document-wrong-type: labels[a.b/c]d] must be a string, not the number 5"}},
	{"alias of a wrong type", "metadata: {name: &n 5}\n" + goodTemplate, []string{"1:12-1:22 document-wrong-type: name must be a string, not the number 5"}},
}

func TestRefusedDocuments(t *testing.T) {
	for _, c := range refused {
		var got []string
		for _, v := range errorsOf(findings([]byte(c.text))) {
			if v.Source == "document" {
				s, e := v.Place.Start, v.Place.End
				got = append(got, fmt.Sprintf("%d:%d-%d:%d %s: %s", s.Line, s.Column, e.Line, e.Column, v.Rule, v.Detail))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestOddBooleansAreRead(t *testing.T) {
	tmpl, violations := ParseTemplate([]byte(example(agent + "      securityContext: {privileged: on}\n    hostPID: y\n    hostIPC: no\n")))
	if len(violations) > 0 || !*tmpl.Spec.Spec.Containers[0].SecurityContext.Privileged || !tmpl.Spec.Spec.HostPID || len(tmpl.Style) != 3 {
		t.Errorf("%v %v %v", violations, tmpl.Spec, tmpl.Style)
	}
}

func TestMergesWithoutCollisionAreRead(t *testing.T) {
	tmpl, violations := ParseTemplate([]byte(example("    containers:\n    - &base\n      name: kandev-agent\n      image: a\n    initContainers:\n    - <<: [{name: b}, {image: c}]\n      command: [d]\n")))
	if len(violations) > 0 || tmpl.Spec.Spec.InitContainers[0].Name != "b" || tmpl.Spec.Spec.InitContainers[0].Image != "c" {
		t.Errorf("%v %v", violations, tmpl)
	}
	if got := tmpl.Document.Locate("template.spec.initContainers[0].image"); got.Start != (Place{10, 24}) {
		t.Errorf("a merged key stands at %v", got)
	}
}

func TestHostileDocumentsAreReadQuickly(t *testing.T) {
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	for name, text := range map[string]string{
		"alias bomb":        aliasBomb("- &a [x]", "- &%s [%s]", 9),
		"text bomb":         "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 30_000) + "]\n",
		"merge bomb":        aliasBomb("- &a {}", "- &%s {<<: [%s]}", 9),
		"deep flow":         "a: " + deep + "\n",
		"deep JSON":         `{"a":` + deep + `}`,
		"deeper than read":  "a: " + strings.Repeat("[", 100_000) + "\n",
		"deeper JSON":       `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"deep block":        strings.Repeat("- ", 9_000) + "a\n",
		"one line":          `{"apiVersion":"v1","kind":"PodTemplate","x":[` + strings.Repeat(`{"é":5},`, 2_500) + `{}]}`,
		"faults in a line":  `{"apiVersion":"v1","kind":"PodTemplate","template":{"metadata":{"labels":{` + strings.Repeat(`"é":5,`, 3_000) + `"a":1}}}}`,
		"many keys":         "apiVersion: v1\nkind: PodTemplate\ntemplate: {metadata: {labels: {" + manyKeys(4_000) + "}}}\n",
		"odd booleans":      "apiVersion: v1\nkind: PodTemplate\nx: [é" + strings.Repeat(", on", 4_000) + "]\n",
		"long line":         "a: " + strings.Repeat("é ", 20_000) + "\n",
		"many blank lines":  "a: |\n" + strings.Repeat("\n", 20_000) + "  b\n",
		"comments":          strings.Repeat("# é\n", 6_000) + goodTemplate,
		"open quotes":       strings.Repeat("a: 'b\n", 30_000),
		"embedded":          "pod_template_yaml: " + asciiQuote(strings.Repeat("é: 5\n", 2_000)),
		"embedded comments": "pod_template_yaml: |\n" + strings.Repeat("  é: 'x' # ignore\n", 1_000),
	} {
		start := time.Now()
		findings([]byte(text))
		if _, d, _ := Recognize([]byte(text)); d != nil {
			d.Comments("ignore")
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: b, ", i)
	}
	return b.String()
}

func TestComments(t *testing.T) {
	text := "# ignore 1\n\n# other\na: 1 # ignore 2\nb: \"# ignore\" # ignore 3\nc: x#ignore\nd: | # ignore 4\n  # ignore\ne: 'a\n  # ignore' # ignore 5\n# ignore 6\n"
	d, violations := ReadDocument([]byte(text))
	if d == nil {
		t.Fatal(violations)
	}
	want := []string{"ignore 1 1:1 4", "ignore 2 4:6 4", "ignore 3 5:15 5", "ignore 4 7:6 7", "ignore 5 10:13 10", "ignore 6 11:1 12"}
	var got []string
	for _, c := range d.Comments("ignore") {
		got = append(got, fmt.Sprintf("%s %d:%d %d", c.Text, c.Range.Start.Line, c.Range.Start.Column, c.Line))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	json, _ := ReadDocument([]byte(`{"a": "# ignore"}`))
	if got := json.Comments("ignore"); len(got) > 0 {
		t.Errorf("JSON has comments: %v", got)
	}
}

func TestDecodeIntoAnotherType(t *testing.T) {
	type config struct {
		Name string   `json:"name"`
		List []string `json:"list"`
	}
	read := func(text string) (config, []Violation) {
		d, violations := ReadDocument([]byte(text))
		if d == nil {
			t.Fatal(violations)
		}
		var c config
		found := d.Decode(&c)
		return c, found
	}
	for text, want := range map[string]string{
		"name: a\nlist: [b]\n": "[]",
		"nam: a\n":             `[nam: unknown field "nam"; did you mean "name"? [document-unknown-field]]`,
		"name: 5\n":            "[name: name must be a string, not the number 5 [document-wrong-type]]",
		"name: a\nname: b\n":   `[name: key "name" stands twice in one object; its first place is line 1 [document-duplicate-key]]`,
	} {
		if _, got := read(text); fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
	docs, violations := ReadDocuments([]byte("a: 1\n---\nb: &x [on]\nc: *x\n"))
	if len(docs) != 2 {
		t.Fatal(violations)
	}
	if j, violations := docs[1].JSON(); string(j) != `{"b":[true],"c":[true]}` || len(violations) > 0 {
		t.Errorf("%s %v", j, violations)
	}
	bomb, _ := ReadDocuments([]byte(aliasBomb("- &a [x]", "- &%s [%s]", 9)))
	if _, violations := bomb[0].JSON(); len(violations) != 1 {
		t.Errorf("an alias bomb: %v", violations)
	}
}

func TestRecognize(t *testing.T) {
	for text, want := range map[string]string{
		goodTemplate:                          "1 true []",
		"kind: podtemplate\n":                 "1 true []",
		"kind: PodTemplates\napiVersion: x\n": "1 true []",
		"kind: Deployment\nspec: {template: {spec: {containers: []}}}\n": "0 false []",
		"template: {spec: {containers: []}}\n":                           "1 true []",
		"kind: x\ntemplate: {apiVersion: v1, spec: {containers: []}}\n":  "0 false []",
		"pod_template_yaml: a\n":                                         "2 true []",
		"config: {pod_template_file: a}\n":                               "2 true []",
		"a: 1\n":                                                         "0 false []",
		"":                                                               "0 false []",
		"a: [\n":                                                         "0 false [document-syntax]",
		"a: 1\n---\n" + goodTemplate:                                     "1 false [document-multiple]",
		"a: 1\n---\nb: 1\n":                                              "0 false []",
		"a: &a [*a]\n":                                                   "0 false []",
		"kind: PodTemplate\na: &a [*a]\n":                                "1 false [document-aliases]",
		goodTemplate + strings.Repeat("#", MaxTemplateBytes): "1 false [document-size]",
		"a: 1\n" + strings.Repeat("#", MaxTemplateBytes):     "0 false []",
		"kind: [a]\n":                        "0 false []",
		"a: &a {<<: &b {<<: *a}}\nkind: x\n": "0 false []",
	} {
		kind, d, violations := Recognize([]byte(text))
		if got := fmt.Sprint(int(kind), d != nil, rulesOf(violations)); got != want {
			t.Errorf("%.60q: %s, want %s", text, got, want)
		}
	}
}
