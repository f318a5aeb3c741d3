package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"sigs.k8s.io/yaml"
)

// TestReviewTwice holds the evaluator's reading of a document against that of lib/review.rego, which stands for it in unit
// tests and in other programs: over every rule's examples, over real Pod specs where they are to be had, and over both with
// values exchanged at random.
func TestReviewTwice(t *testing.T) {
	inRego := reviewInRego(t)
	documents := documents(t)
	random := rand.New(rand.NewPCG(1, 2))
	versions := []string{"", "1.24", "1.34", "v1.36.3", "latest"}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for round := range 3 {
			in := Input{KubeVersion: versions[random.IntN(len(versions))], MainContainer: []string{"", "app"}[random.IntN(2)]}
			if err := yaml.Unmarshal(documents[name], &in.Object, useNumber); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if round > 0 {
				in.Object = exchange(random, in.Object, 0)
			}
			if diff := cmp.Diff(inRego(in), reviewInGo(t, in)); diff != "" {
				t.Fatalf("%s, round %d: -Rego +Go\n%s", name, round, diff)
			}
		}
	}
}

func useNumber(d *json.Decoder) *json.Decoder {
	d.UseNumber()
	return d
}

// reviewInGo is what the evaluator adds to a document, without what lib/review.rego does not: the choice of rules.
func reviewInGo(t *testing.T, in Input) any {
	t.Helper()
	value, err := in.value(newCandidates(nil))
	if err != nil {
		t.Fatal(err)
	}
	session := asJSON(t, value.Value.(ast.Object).Get(ast.StringTerm("kandev")).Value).(map[string]any)
	delete(session, "rules")
	return session
}

// reviewInRego compiles lib/review.rego and returns its function.
func reviewInRego(t *testing.T) func(Input) any {
	t.Helper()
	modules, err := packModules(func(name string) bool { return isReading(name) || name == "lib/variables.rego" })
	if err != nil {
		t.Fatal(err)
	}
	compiler := ast.NewCompiler()
	if compiler.Compile(modules); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	return func(in Input) (review any) {
		session := map[string]any{}
		if in.MainContainer != "" {
			session["mainContainer"] = in.MainContainer
		}
		if in.KubeVersion != "" {
			session["kubeVersion"] = in.KubeVersion
		}
		document := maps.Clone(in.Object.(map[string]any))
		document["kandev"] = session
		err := topdown.NewQuery(ast.MustParseBody("data.kandev.lib.review.of(input, reviewed)")).WithCompiler(compiler).
			WithInput(ast.NewTerm(ast.MustInterfaceToValue(document))).
			Iter(t.Context(), func(answer topdown.QueryResult) error {
				review = asJSON(t, answer["reviewed"].Value).(map[string]any)["kandev"]
				return nil
			})
		if err != nil || review == nil {
			t.Fatalf("%+v: no review, error %v", in, err)
		}
		return review
	}
}

// asJSON is a value as a JSON reader gives it, with exact numbers.
func asJSON(t *testing.T, value ast.Value) (read any) {
	t.Helper()
	native, err := ast.JSONWithOpt(value, ast.JSONOpt{CopyMaps: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(native)
	if err != nil {
		t.Fatal(err)
	}
	if err := useNumber(json.NewDecoder(bytes.NewReader(data))).Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// others are the values that exchange puts into documents.
var others = []any{nil, "", "x", "0Gi", "1Gi", "$(A)", true, false, json.Number("0"), json.Number("1000"), map[string]any{}, map[string]any{"name": "x"}, []any{}, []any{nil}}

// exchange puts other values, here and there, into a document.
func exchange(random *rand.Rand, value any, depth int) any {
	if depth > 0 && random.IntN(20) == 0 {
		return others[random.IntN(len(others))]
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = exchange(random, v[key], depth+1)
		}
	case []any:
		for i := range v {
			v[i] = exchange(random, v[i], depth+1)
		}
	}
	return value
}
