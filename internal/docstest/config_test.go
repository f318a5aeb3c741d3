package docstest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

const (
	configName   = lint.ConfigName
	configSchema = "docs/schema/config.schema.json"
	userPolicies = "policies" // the directory that the examples name
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, configSchema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// meets validates a configuration in YAML.
func meets(t *testing.T, s *jsonschema.Schema, config string) error {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(config))
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// loads reads a configuration from a directory that holds the policies it may name.
func loads(t *testing.T, config string) error {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, userPolicies), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, configName)
	write(t, file, config)
	_, err := lint.ReadConfig(file)
	return err
}

// TestSchemaRules holds the schema's lists of rules against the catalogue.
func TestSchemaRules(t *testing.T) {
	want := map[string][]string{}
	for _, r := range lint.Rules() {
		if r.Source == finding.Policy {
			want["policyRule"] = append(want["policyRule"], r.Name)
		} else {
			want["fixedRule"] = append(want["fixedRule"], r.Name)
		}
		if len(r.Parameters) > 0 {
			want["toldRule"] = append(want["toldRule"], r.Name)
		}
		list := "invariant"
		if loads(t, "exclude: [{rules: ["+r.Name+"], reason: x}]") == nil {
			list = "excludableRule"
		}
		want[list] = append(want[list], r.Name)
	}
	text := read(t, configSchema)
	for def, names := range want {
		text = withEnum(t, text, def, names)
	}
	same(t, configSchema, []byte(text))
}

// TestSchemaParameters holds the schema's parameters against the catalogue.
func TestSchemaParameters(t *testing.T) {
	var root node
	if err := json.Unmarshal([]byte(read(t, configSchema)), &root); err != nil {
		t.Fatal(err)
	}
	got, want := map[string][]string{}, map[string][]string{}
	for rule, n := range root.Properties["parameters"].Properties {
		got[rule] = slices.Sorted(maps.Keys(root.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")].Properties))
	}
	for _, r := range lint.Rules() {
		for _, p := range r.Parameters {
			want[r.Name] = append(want[r.Name], p.Name)
			slices.Sort(want[r.Name])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -catalogue +schema\n%s", configSchema, diff)
	}
}

// withEnum puts a list of names into the definition of a schema, one name a line.
func withEnum(t *testing.T, text, def string, names []string) string {
	t.Helper()
	slices.Sort(names)
	head, rest, ok := strings.Cut(text, "\n    \""+def+"\": {")
	before, rest, ok2 := strings.Cut(rest, "\"enum\": [")
	_, tail, ok3 := strings.Cut(rest, "]")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no definition %s with an enum", configSchema, def)
	}
	list := "\n        \"" + strings.Join(names, "\",\n        \"") + "\"\n      "
	return head + "\n    \"" + def + "\": {" + before + "\"enum\": [" + list + "]" + tail
}

// TestConfigExamples holds every example configuration against the schema and the reader.
func TestConfigExamples(t *testing.T) {
	s := schema(t)
	examples := 0
	check := func(where, config string) {
		examples++
		if err := meets(t, s, config); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		if err := loads(t, config); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	for _, page := range pages(t) {
		eachBlock(t, read(t, page), func(b block) {
			if b.info == "yaml "+configName {
				check(page, b.text)
			}
		})
	}
	for _, r := range lint.Rules() {
		if strings.HasPrefix(r.Good, "# "+configName+"\n") {
			check(r.Name, r.Good)
		}
	}
	check("off", "rules: {host-path: off, host-port: 'off', root-user: false}")
	for _, config := range schemaExamples(t) {
		check(configSchema, config)
	}
	if examples < 5 {
		t.Errorf("only %d examples were found", examples)
	}
}

// schemaExamples returns the examples in the schema itself.
func schemaExamples(t *testing.T) []string {
	t.Helper()
	var s struct {
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal([]byte(read(t, configSchema)), &s); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range s.Examples {
		out = append(out, string(e))
	}
	return out
}

// TestWrongConfigs holds schema and reader against each other: what one refuses, so does the other.
func TestWrongConfigs(t *testing.T) {
	s := schema(t)
	for name, config := range map[string]string{
		"a list":                          "[]",
		"an unknown key":                  "ignore: []",
		"a miscased key":                  "Rules: {}",
		"a key twice":                     "rules: {}\nrules: {}",
		"profiles as an object":           "profiles: {}",
		"a profile without files":         "profiles: [{main_container: agent}]",
		"a profile with no files":         "profiles: [{files: []}]",
		"a profile's unknown key":         "profiles: [{files: [a.yaml], image: x}]",
		"a template in a profile":         "profiles: [{files: [a.yaml], pod_template_yaml: x}]",
		"a main container of no name":     "profiles: [{files: [a.yaml], main_container: Not_A_Name}]",
		"a main container too long":       "profiles: [{files: [a.yaml], main_container: " + strings.Repeat("a", 64) + "}]",
		"an unknown platform":             "profiles: [{files: [a.yaml], platform: windows/amd64}]",
		"an unknown mode":                 "profiles: [{files: [a.yaml], workspace: {mode: host_path}}]",
		"an unknown key of the workspace": "profiles: [{files: [a.yaml], workspace: {path: /x}}]",
		"a size of another mode":          "profiles: [{files: [a.yaml], workspace: {mode: empty_dir, size: 1Gi}}]",
		"a class of another mode":         "profiles: [{files: [a.yaml], workspace: {mode: existing_claim, claim_name: c, storage_class: fast}}]",
		"modes of another mode":           "profiles: [{files: [a.yaml], workspace: {mode: empty_dir, access_modes: [ReadWriteOnce]}}]",
		"a size that is a number":         "profiles: [{files: [a.yaml], workspace: {size: 10}}]",
		"a size of nothing":               "profiles: [{files: [a.yaml], workspace: {size: 0Gi}}]",
		"a negative size":                 "profiles: [{files: [a.yaml], workspace: {size: -1Gi}}]",
		"a size in words":                 "profiles: [{files: [a.yaml], workspace: {size: large}}]",
		"a class of no name":              "profiles: [{files: [a.yaml], workspace: {storage_class: Fast Disk}}]",
		"an unknown access mode":          "profiles: [{files: [a.yaml], workspace: {access_modes: [ReadWriteTwice]}}]",
		"an access mode twice":            "profiles: [{files: [a.yaml], workspace: {access_modes: [ReadWriteOnce, ReadWriteOnce]}}]",
		"ReadWriteOncePod beside another": "profiles: [{files: [a.yaml], workspace: {access_modes: [ReadWriteOncePod, ReadWriteOnce]}}]",
		"an existing claim without name":  "profiles: [{files: [a.yaml], workspace: {mode: existing_claim}}]",
		"a claim of another mode":         "profiles: [{files: [a.yaml], workspace: {mode: managed_pvc, claim_name: c}}]",
		"a claim without a mode":          "profiles: [{files: [a.yaml], workspace: {claim_name: c}}]",
		"a claim of no name":              "profiles: [{files: [a.yaml], workspace: {mode: existing_claim, claim_name: Team Work}}]",
		"an unknown severity":             "rules: {host-path: fatal}",
		"on":                              "rules: {host-path: on}",
		"no severity":                     "rules: {host-path: }",
		"an unknown rule":                 "rules: {host-paths: error}",
		"the severity of an invariant":    "rules: {workspace-grant-shape: warning}",
		"and beside policies":             "policies: [policies]\nrules: {workspace-grant-shape: warning}",
		"an exclude without rules":        "exclude: [{reason: x}]",
		"an exclude of no rules":          "exclude: [{rules: [], reason: x}]",
		"an exclude without reason":       "exclude: [{rules: [host-path]}]",
		"an exclude of blank reason":      "exclude: [{rules: [host-path], reason: \" \"}]",
		"an exclude of an unknown rule":   "exclude: [{rules: [host-paths], reason: x}]",
		"an exclude of an invariant":      "exclude: [{rules: [reserved-env], reason: x}]",
		"likewise beside policies":        "policies: [policies]\nexclude: [{rules: [reserved-env], reason: x}]",
		"an expiry that is no date":       "exclude: [{rules: [host-path], reason: x, expires: next year}]",
		"an expiry on no day":             "exclude: [{rules: [host-path], reason: x, expires: 2027-02-31}]",
		"an exclude's unknown key":        "exclude: [{rules: [host-path], reason: x, until: 2027-01-31}]",
		"a rule without parameters":       "parameters: {host-port: {}}",
		"a parameter that is not there":   "parameters: {host-path: {denied: [/x]}}",
		"a parameter that is no list":     "parameters: {host-path: {allowed: /x}}",
		"a parameter of numbers":          "parameters: {unsafe-sysctl: {allowed: [1]}}",
		"parameters of an invariant":      "parameters: {reserved-env: {allowed: [HOME]}}",
		"parameters of an unknown rule":   "parameters: {host-paths: {allowed: [/x]}}",
		"policies as a string":            "policies: policies",
	} {
		t.Run(name, func(t *testing.T) {
			if err := meets(t, s, config); err == nil {
				t.Errorf("the schema takes %s", config)
			}
			if err := loads(t, config); err == nil {
				t.Errorf("the reader takes %s", config)
			}
		})
	}
}

// TestConfigKeys holds the schema's keys against the fields of the configuration.
func TestConfigKeys(t *testing.T) {
	var root node
	if err := json.Unmarshal([]byte(read(t, configSchema)), &root); err != nil {
		t.Fatal(err)
	}
	sameKeys(t, "the configuration", &root, root.Defs, reflect.TypeFor[lint.Config]())
}

// node is the part of a schema that states keys.
type node struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Properties  map[string]*node `json:"properties"`
	Items       *node            `json:"items"`
	Defs        map[string]*node `json:"$defs"`
	Closed      any              `json:"additionalProperties"`
}

func sameKeys(t *testing.T, at string, n *node, defs map[string]*node, typ reflect.Type) {
	t.Helper()
	for n != nil && n.Ref != "" {
		n = defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	}
	switch {
	case n == nil:
		t.Errorf("%s is not in the schema", at)
	case typ.Kind() == reflect.Slice:
		sameKeys(t, at+"[]", n.Items, defs, typ.Elem())
	case typ.Kind() == reflect.Struct:
		if n.Closed != false {
			t.Errorf("the schema lets %s have any key", at)
		}
		fields := keysOf(typ)
		for key, field := range fields {
			if p := n.Properties[key]; p != nil && p.Description == "" {
				t.Errorf("%s.%s has no description", at, key)
			}
			sameKeys(t, at+"."+key, n.Properties[key], defs, field)
		}
		for key := range n.Properties {
			if _, ok := fields[key]; !ok {
				t.Errorf("%s.%s is in the schema only", at, key)
			}
		}
	}
}

// keysOf returns the keys of a struct, those of embedded structs among them.
func keysOf(typ reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			for k, v := range keysOf(f.Type) {
				keys[k] = v
			}
		case f.IsExported() && name != "-":
			keys[name] = f.Type
		}
	}
	return keys
}
