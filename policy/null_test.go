package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestNullIsLeftOut demands that a field that is null counts as one that is left out: each field in turn of every rule's
// examples, and of one in twenty real Pod specs where they are to be had. test/admission shows that the API server reads it so.
func TestNullIsLeftOut(t *testing.T) {
	e, err := Default(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	documents := documents(t)
	for index, name := range slices.Sorted(maps.Keys(documents)) {
		if strings.HasSuffix(name, ".yaml") && index%20 != 0 {
			continue
		}
		in := Input{WorkspaceMode: "managed_pvc"}
		if err := yaml.Unmarshal(documents[name], &in.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		eachField(in.Object, "", func(object map[string]any, key, path string) {
			value := object[key]
			delete(object, key)
			want := findingsOf(t, e, in)
			object[key] = nil
			got := findingsOf(t, e, in)
			object[key] = value
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s: -left out +null\n%s", name, path, diff)
			}
		})
	}
}

// eachField visits every field of every object in a value, outermost first.
func eachField(value any, path string, visit func(object map[string]any, key, path string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			visit(value, key, path+"."+key)
			eachField(value[key], path+"."+key, visit)
		}
	case []any:
		for index, element := range value {
			eachField(element, fmt.Sprintf("%s[%d]", path, index), visit)
		}
	}
}
