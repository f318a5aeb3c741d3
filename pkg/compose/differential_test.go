package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// libraryDecode reads a template with the libraries that kubectl and the API server use.
func libraryDecode(data []byte) (*corev1.PodTemplate, error) {
	data = trimBOM(data)
	j := data
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte{'{'}) || !json.Valid(data) {
		var err error
		if j, err = yaml.YAMLToJSONStrict(data); err != nil {
			return nil, err
		}
	}
	var out corev1.PodTemplate
	strict, err := kjson.UnmarshalStrict(j, &out)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	return &out, err
}

// stricter are the rules by which this package refuses what the libraries accept.
var stricter = []string{
	RuleDocumentSize,         // the libraries know no bound
	RuleDocumentEncoding,     // UTF-16 is read by the libraries
	RuleDocumentEmpty,        // to the libraries an empty object
	RuleDocumentMultiple,     // the libraries read the first document only
	RuleDocumentDuplicateKey, // 1 and "1" are two keys to the libraries
	RuleDocumentMerge,
	RuleDocumentAliases,
	RuleDocumentKind,
	RuleDocumentNullItem,
}

// sameAsLibrary checks that a text is accepted if and only if the libraries accept it, with the same content.
func sameAsLibrary(data []byte) error {
	want, wantErr := libraryDecode(data)
	tmpl, violations := ParseTemplate(data)
	violations = errorsOf(violations)
	if slices.ContainsFunc(violations, func(v Violation) bool { return slices.Contains(stricter, v.Rule) }) {
		return nil
	}
	if slices.Contains(rulesOf(violations), RuleDocumentSyntax) && (bytes.Contains(data, []byte("---")) || bytes.Contains(data, []byte("..."))) {
		return nil // the libraries do not look behind the first document
	}
	switch {
	case wantErr != nil && len(violations) == 0:
		return fmt.Errorf("accepted, but the library says: %w", wantErr)
	case wantErr != nil:
		return nil //nolint:nilerr // both refuse it
	case len(violations) > 0:
		return fmt.Errorf("refused, but the library accepts it: %v", violations)
	case !equality.Semantic.DeepEqual(&want.Template, tmpl.Spec):
		return fmt.Errorf("read otherwise than by the library (-library +here):\n%s", cmp.Diff(&want.Template, tmpl.Spec))
	}
	return nil
}

// scalars are forms of a value whose type depends on the reader.
var scalars = strings.Split(`8080|"8080"|'8080'|! 8080|!!str 8080|!!int "8080"|!foo 8080|yes|no|on|off|y|n|Y|N|true|True|TRUE|~|null|Null|""|1e3|1E3|1.0|1.5|.5|-.5|+1|-0|0|0777|0o17|08|09.5|0x1F|0b101|-0b11|0b-101|1_000|1__0|_1|0x_1|.inf|-.inf|.nan|+.inf|1:30|190:20:30|2001-01-01|2001-01-01T00:00:00Z|2001-1-1 1:1:1|!!timestamp 2001-01-01|!!binary aGVsbG8=|!!binary x|!!binary "/w=="|!!float 1|!!float 1.5|!!int 1.5|!!bool yes|!!null ""|!!null x|9223372036854775807|9223372036854775808|18446744073709551615|18446744073709551616|1e400|-9223372036854775809|123456789012345678901234567890|0.1|100m|1Gi|a|"\u0041"|"\x41\U0001F600"|a b|[a]|{a: b}|"a\nb"|=|<<|!!str|&x 5|&x ! 5|! &x 5|!!str &x 5|tru|"yes"|1.|-|--|+|.|..|1e|0x|1,000|1 2|é|`+"\u2028|\t5|5\t|5 # c|\"5\" # c|'it''s'", "|")

// placesForScalars are fields of every type.
var placesForScalars = []string{
	"template: {metadata: {labels: {a: %s}}}",
	"template: {spec: {hostname: %s}}",
	"template: {spec: {hostPID: %s}}",
	"template: {spec: {priority: %s}}",
	"template: {spec: {activeDeadlineSeconds: %s}}",
	"template:\n  spec:\n    containers:\n    - name: a\n      resources:\n        limits:\n          cpu: %s",
	"template:\n  spec:\n    containers:\n    - name: a\n      readinessProbe:\n        httpGet:\n          port: %s",
	"template:\n  spec:\n    containers:\n    - args:\n      - %s",
	"template:\n  spec:\n    containers:\n    - image: a\n      name: %s\n",
	"template: {spec: {nodeSelector: {%s: a}}}",
	"template:\n  spec:\n    nodeSelector:\n      %s: b\n",
	"template: {spec: %s}",
	"template: %s",
}

func TestScalarsAsTheLibraryReadsThem(t *testing.T) {
	for _, place := range placesForScalars {
		for _, scalar := range scalars {
			text := "apiVersion: v1\nkind: PodTemplate\n" + fmt.Sprintf(place, scalar) + "\n"
			if err := sameAsLibrary([]byte(text)); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func TestJSONAsTheAPIServerReadsIt(t *testing.T) {
	for _, spec := range []string{
		`{}`, `null`, `{"hostname":"\ud83d\ude00"}`, `{"hostname":"\ud83d"}`, `{"hostname":"a\/b\u2028"}`, "{\"hostname\":\"\u2028\u0085x\"}",
		`{"hostPID":true,"priority":5}`, `{"priority":1e3}`, `{"priority":1.0}`, `{"priority":-0}`, `{"priority":"5"}`, `{"priority":1e400}`,
		`{"nodeSelector":{"<<":"a","~":"b","1":"c"}}`, `{"hostname":"a","hostname":"b"}`, `{"HostPID":true}`,
		`{"containers":[{"name":"a","resources":{"limits":{"cpu":1e3,"memory":0.5}}}]}`, `{"containers":[{"command":["&a","*a","!x"]}]}`,
		"{\n\t\"hostname\" :\t\"x\"\r\n}", `{"hostname":8080}`, `{"hostPID":"yes"}`, `{"hostname":"on"}`,
	} {
		text := `{"apiVersion":"v1","kind":"PodTemplate","template":{"spec":` + spec + `}}`
		if err := sameAsLibrary([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDocumentsAsTheLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		if err := sameAsLibrary([]byte(text)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
