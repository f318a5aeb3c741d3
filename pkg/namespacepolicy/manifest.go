package namespacepolicy

import (
	"bytes"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

//go:embed policy.yaml.tmpl
var manifestText string

// configMap is the name of the object that holds the parameters.
const configMap = "kandev-policy"

// policy is one of the manifest's ValidatingAdmissionPolicies.
type policy struct {
	Name       string
	Parameters bool // whether it reads the ConfigMap
}

// policies are in the order of the manifest.
var policies = []policy{
	{"kandev-baseline", false}, {"kandev-grant", true}, {"kandev-ownership", false}, {"kandev-streams", true}, {"kandev-parameters", false},
}

// label is a label with its value.
type label struct{ Key, Value string }

// values are what the manifest's text is filled with.
type values struct {
	Parameters

	ConfigMap      string
	Policies       []policy
	Prefix         string   // of reserved keys
	Nonce          string   // the annotation's key
	FixedLabels    []label  // those that every session has alike
	OwnLabels      []string // those that are each session's own
	ReservedLabels []string // those without the prefix
	ManagedBy      label
	Instance       string // has the value of InstanceID
	InstanceID     string
}

// Manifest writes the policies, their bindings, the namespace and the parameters, in the order in which they are to be
// applied, as YAML that says why. The same parameters give the same bytes. It returns an error for those that Validate
// refuses.
func Manifest(p Parameters) ([]byte, error) {
	if err := p.Validate().ToAggregate(); err != nil {
		return nil, err
	}
	t, err := template.New("policy").Funcs(template.FuncMap{"scalar": scalar}).Parse(manifestText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, valuesOf(p))
	return out.Bytes(), err
}

// scalar writes a string as YAML reads it, in quotes where it would read something else: namespaces can be called 1 or no.
func scalar(text string) (string, error) {
	out, err := yaml.Marshal(text)
	return strings.TrimSpace(string(out)), err
}

func valuesOf(p Parameters) values {
	v := values{
		Parameters: p, ConfigMap: configMap, Policies: policies,
		Prefix: compose.ReservedPrefix, Nonce: compose.NonceAnnotation,
		ManagedBy: label{compose.LabelManagedBy, compose.LabelManagedByValue},
		Instance:  compose.LabelInstance, InstanceID: compose.LabelInstanceID,
	}
	// A label that an identity without IDs has is the same for all.
	labels := compose.Identity{}.Labels()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] != "" {
			v.FixedLabels = append(v.FixedLabels, label{key, labels[key]})
		} else {
			v.OwnLabels = append(v.OwnLabels, key)
		}
		if !strings.HasPrefix(key, compose.ReservedPrefix) {
			v.ReservedLabels = append(v.ReservedLabels, key)
		}
	}
	return v
}
