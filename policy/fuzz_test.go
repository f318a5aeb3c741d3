package policy

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// FuzzEval evaluates the pack over any object there is: it may find nothing, but it never fails.
func FuzzEval(f *testing.F) {
	f.Add([]byte(composedPod))
	for _, rule := range Catalogue() {
		f.Add([]byte(rule.Bad))
		f.Add([]byte(rule.Good))
	}
	f.Add([]byte(`{"spec": {"volumes": [{"name": 1, "hostPath": {"path": "/../x/../../y"}}], "hostUsers": "x"}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		var object map[string]any
		if len(document) > 1<<14 || yaml.Unmarshal(document, &object) != nil || object == nil {
			return
		}
		e, err := Default(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		findings, err := e.Eval(t.Context(), Input{Object: object, KubeVersion: "1.30"})
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range findings {
			if finding.Rule == "" || finding.Path == "" || finding.Message == "" || finding.Severity.Rank() == 0 {
				t.Errorf("incomplete finding %+v", finding)
			}
		}
	})
}
