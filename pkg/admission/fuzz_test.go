package admission_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/internal/mutation"
	"github.com/kandev/kandev-podlint/pkg/admission"
)

// FuzzCompare compares any two Pods: it never panics, a Pod is the same as itself but for what no Pod may have, and a
// report that finds nothing finds nothing the other way either.
func FuzzCompare(f *testing.F) {
	requested := objects(f).Pod
	data, err := json.Marshal(requested)
	if err != nil {
		f.Fatal(err)
	}
	admitted := requested.DeepCopy()
	mutation.APIDefaults(admitted)
	changed, err := json.Marshal(admitted)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, changed)
	f.Add([]byte(`{"spec":{"containers":[{"name":"a"},{"name":"a"},{}],"volumes":[{"name":"kandev-auth"},{"name":"kandev-auth"}]}}`), data)
	f.Add([]byte(`{"spec":{"ephemeralContainers":[{"name":"a","targetContainerName":"kandev-agent"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}}`), []byte(`{}`))
	f.Add([]byte(`{"metadata":{"finalizers":[""],"ownerReferences":[{}]}}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, requested, admitted []byte) {
		var r, a corev1.Pod
		if json.Unmarshal(requested, &r) != nil || json.Unmarshal(admitted, &a) != nil {
			return
		}
		there := comparePod(t, &r, &a, admission.Later)
		back := comparePod(t, &a, &r, admission.Later)
		silent := func(r admission.Report) bool { return len(r.Violations)+len(r.Accepted) == 0 }
		if silent(there) && len(back.Accepted) > 0 {
			t.Errorf("nothing one way, %v the other", back.Accepted)
		}
		if itself := comparePod(t, &r, &r, admission.Later); len(itself.Accepted) > 0 {
			t.Errorf("differs from itself: %v", itself.Accepted)
		}
	})
}

func TestNilPodsAndClaims(t *testing.T) {
	if r := comparePod(t, nil, nil, admission.AtCreate); r.Compatible {
		t.Error("a Pod without a main container is compatible")
	}
	if r := admission.ComparePVC(nil, nil, admission.Options{}); !r.Compatible {
		t.Errorf("%+v", r)
	}
}

// BenchmarkCompare compares a composed Pod with what an API server with a service mesh makes of it.
func BenchmarkCompare(b *testing.B) {
	requested := objects(b).Pod
	admitted := requested.DeepCopy()
	for _, o := range mutation.PodOperators() {
		if o.Name == "istio-native-sidecar" || o.Name == "limit-ranger" || o.Name == "service-account" {
			o.Apply(nil, admitted)
		}
	}
	mutation.APIDefaults(admitted)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := admission.ComparePod(requested, admitted, admission.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
