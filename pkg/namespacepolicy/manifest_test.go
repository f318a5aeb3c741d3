package namespacepolicy_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/namespacepolicy"
)

var update = flag.Bool("update", false, "rewrite the generated files")

// example is the namespace and identity of k8s/rbac and the companion of testdata/templates/docker.yaml.
var example = namespacepolicy.Parameters{
	Namespace: "kandev",
	Executor:  "system:serviceaccount:kandev-system:kandev-executor",
	Companions: []namespacepolicy.Companion{{
		Name: "docker-engine", Image: "registry.example/dind@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
	}},
}

func manifest(t *testing.T, p namespacepolicy.Parameters) []byte {
	t.Helper()
	out, err := namespacepolicy.Manifest(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestManifest holds k8s/policy against the package.
func TestManifest(t *testing.T) {
	file := filepath.Join("..", "..", "k8s", "policy", "example.yaml")
	want := manifest(t, example)
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, which go test ./pkg/namespacepolicy -run Manifest -update rewrites:\n%s", file, diff)
	}
	if !bytes.Equal(want, manifest(t, example)) {
		t.Error("another run gives other bytes")
	}
}

// objects decodes a manifest as strictly as an API server that validates fields.
func objects(t *testing.T, text []byte) []runtime.Object {
	t.Helper()
	var all []runtime.Object
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		object := map[string]runtime.Object{
			"ValidatingAdmissionPolicy":        &admissionv1.ValidatingAdmissionPolicy{},
			"ValidatingAdmissionPolicyBinding": &admissionv1.ValidatingAdmissionPolicyBinding{},
			"Namespace":                        &corev1.Namespace{},
			"ConfigMap":                        &corev1.ConfigMap{},
		}[kind.Kind]
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		all = append(all, object)
	}
	return all
}

// TestClosed demands that nothing in the policy fails open: each policy is bound, to the namespace alone, denies where it
// cannot be evaluated, and where its parameters are missing.
func TestClosed(t *testing.T) {
	policies, bound := map[string]*admissionv1.ValidatingAdmissionPolicy{}, 0
	for _, object := range objects(t, manifest(t, example)) {
		switch o := object.(type) {
		case *admissionv1.ValidatingAdmissionPolicy:
			policies[o.Name] = o
			if o.Spec.FailurePolicy == nil || *o.Spec.FailurePolicy != admissionv1.Fail {
				t.Errorf("%s: failure policy %v", o.Name, o.Spec.FailurePolicy)
			}
			for _, v := range o.Spec.Validations {
				if v.Message == "" || v.Reason == nil || *v.Reason != metav1.StatusReasonForbidden {
					t.Errorf("%s: %+v", o.Name, v)
				}
			}
		case *admissionv1.ValidatingAdmissionPolicyBinding:
			bound++
			want := admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: strings.TrimSuffix(o.Name, "-kandev"),
				MatchResources: &admissionv1.MatchResources{
					NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "kandev"}},
				},
				ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			}
			policy := policies[want.PolicyName]
			if policy == nil {
				t.Fatalf("%s binds no policy", o.Name)
			}
			if policy.Spec.ParamKind != nil {
				want.ParamRef = &admissionv1.ParamRef{
					Name: "kandev-policy", Namespace: "kandev", ParameterNotFoundAction: new(admissionv1.DenyAction),
				}
			}
			if diff := cmp.Diff(want, o.Spec); diff != "" {
				t.Errorf("%s: %s", o.Name, diff)
			}
		}
	}
	if len(policies) != 5 || bound != 5 {
		t.Errorf("%d policies, %d bindings", len(policies), bound)
	}
}

// TestParameters demands that what an operator decides arrives whatever YAML makes of such words.
func TestParameters(t *testing.T) {
	for name, p := range map[string]namespacepolicy.Parameters{
		"words of YAML": {Namespace: "1e3", Executor: "no", Companions: []namespacepolicy.Companion{{Name: "on", Image: image('a')}}},
		"a user of OIDC": {
			Namespace: "kandev", Executor: `https://issuer.example # "o'brien": &x`,
			Companions: []namespacepolicy.Companion{{Name: "a", Image: image('a')}, {Name: "a", Image: "r.example:5000/b/c:1.2@" + image('b')[2:]}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(t, manifest(t, p))
			namespace, config := all[len(all)-2].(*corev1.Namespace), all[len(all)-1].(*corev1.ConfigMap)
			var lines []string
			for _, c := range p.Companions {
				lines = append(lines, c.Name+"="+c.Image)
			}
			want := map[string]string{"executor": p.Executor, "companions": strings.Join(lines, "\n")}
			if diff := cmp.Diff(want, config.Data); diff != "" || namespace.Name != p.Namespace || config.Namespace != p.Namespace {
				t.Errorf("namespaces %q and %q\n%s", namespace.Name, config.Namespace, diff)
			}
		})
	}
}

// image is an image with a digest of one digit.
func image(digit rune) string { return "r@sha256:" + strings.Repeat(string(digit), 64) }

func TestValidate(t *testing.T) {
	executor := "system:serviceaccount:kandev-system:kandev-executor"
	companion := namespacepolicy.Companion{Name: "docker-engine", Image: image('a')}
	with := func(change func(*namespacepolicy.Parameters)) namespacepolicy.Parameters {
		p := namespacepolicy.Parameters{Namespace: "kandev", Executor: executor, Companions: []namespacepolicy.Companion{companion}}
		change(&p)
		return p
	}
	companions := func(all ...namespacepolicy.Companion) namespacepolicy.Parameters {
		return with(func(p *namespacepolicy.Parameters) { p.Companions = all })
	}
	for name, test := range map[string]struct {
		parameters namespacepolicy.Parameters
		want       []string
	}{
		"good":                 {with(func(*namespacepolicy.Parameters) {}), nil},
		"a new and an old one": {companions(companion, namespacepolicy.Companion{Name: companion.Name, Image: image('b')}), nil},
		"nothing": {
			namespacepolicy.Parameters{},
			[]string{"FieldValueRequired namespace", "FieldValueRequired executor", "FieldValueRequired companions"},
		},
		"no namespace's name":        {with(func(p *namespacepolicy.Parameters) { p.Namespace = "a.b" }), []string{"FieldValueInvalid namespace"}},
		"two lines":                  {with(func(p *namespacepolicy.Parameters) { p.Executor = "a\nb" }), []string{"FieldValueInvalid executor"}},
		"a group":                    {with(func(p *namespacepolicy.Parameters) { p.Executor = "system:serviceaccount:kandev-system" }), []string{"FieldValueInvalid executor"}},
		"in the sessions' namespace": {with(func(p *namespacepolicy.Parameters) { p.Executor = "system:serviceaccount:kandev:x" }), []string{"FieldValueInvalid executor"}},
		"a tag":                      {companions(namespacepolicy.Companion{Name: "a", Image: "r:1"}), []string{"FieldValueInvalid companions[0]"}},
		"a placeholder":              {companions(namespacepolicy.Companion{Name: "a", Image: "r@sha256:unresolved"}), []string{"FieldValueInvalid companions[0]"}},
		"a short digest":             {companions(namespacepolicy.Companion{Name: "a", Image: image('a')[:70]}), []string{"FieldValueInvalid companions[0]"}},
		"upper case":                 {companions(namespacepolicy.Companion{Name: "a", Image: image('A')}), []string{"FieldValueInvalid companions[0]"}},
		"a line in an image":         {companions(namespacepolicy.Companion{Name: "a", Image: "r:1\nb=" + image('a')}), []string{"FieldValueInvalid companions[0]"}},
		"no image":                   {companions(namespacepolicy.Companion{Name: "a"}), []string{"FieldValueInvalid companions[0]"}},
		"no container's name":        {companions(namespacepolicy.Companion{Name: "a=b", Image: image('a')}), []string{"FieldValueInvalid companions[0]"}},
		"the agent": {
			companions(namespacepolicy.Companion{Name: compose.DefaultMainContainer, Image: image('a')}), []string{"FieldValueInvalid companions[0]"},
		},
		"twice": {companions(companion, companion), []string{"FieldValueDuplicate companions[1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := test.parameters.Validate()
			var got []string
			for _, err := range errs {
				got = append(got, string(err.Type)+" "+err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, errs)
			}
			if _, err := namespacepolicy.Manifest(test.parameters); (err != nil) != (test.want != nil) {
				t.Error(err)
			}
		})
	}
}
