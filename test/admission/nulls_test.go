package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// TestNulls sends a Pod with each of its fields in turn null, and without it: the API server reads both alike, which policy
// takes for granted. In a map of a user's keys null is an empty value, and as a quantity zero, which the kubelet takes for no limit.
func TestNulls(t *testing.T) {
	eachVersion(t, func(t *testing.T, s *server) {
		s.namespace(t, "nulls")
		pod := jsonOf(t, composeFrom(t, filepath.Join("..", "..", "testdata", "templates", "docker.yaml"), compose.EmptyDir, "nulls").Pod)
		fields := 0
		eachField(pod, "", func(object map[string]any, key, path string) {
			value := object[key]
			defer func() { object[key] = value }()
			object[key] = nil
			null := s.post(t, pod)
			if delete(object, key); ofUsersKeys.MatchString(path) {
				object[key] = ""
			} else if quantity.MatchString(path) {
				object[key] = "0"
			}
			fields++
			if diff := cmp.Diff(s.post(t, pod), null); diff != "" {
				t.Errorf("%s: -left out +null\n%s", path, diff)
			}
		})
		if fields < 100 {
			t.Errorf("only %d fields", fields)
		}
	})
}

var (
	ofUsersKeys = regexp.MustCompile(`\.(labels|annotations|nodeSelector)\.`)
	quantity    = regexp.MustCompile(`\.(limits|requests)\.`)
)

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

// post returns what the API server makes of a Pod, or why it refuses it.
func (s *server) post(t *testing.T, pod map[string]any) any {
	t.Helper()
	body, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.client.CoreV1().RESTClient().Post().Namespace("nulls").Resource("pods").
		Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationStrict).Body(body).DoRaw(t.Context())
	if err != nil {
		return err.Error()
	}
	var admitted map[string]any
	if err := json.Unmarshal(tokenVolume.ReplaceAll(answer, nil), &admitted); err != nil {
		t.Fatal(err)
	}
	metadata := admitted["metadata"].(map[string]any)
	for _, other := range []string{"uid", "creationTimestamp", "managedFields"} { // with every Pod
		delete(metadata, other)
	}
	return admitted
}
