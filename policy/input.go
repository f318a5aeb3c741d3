package policy

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Input is one document under review and what is known about the session that it is for.
type Input struct {
	// Object is a v1 PodTemplate or a v1 Pod as a JSON reader gives it: map[string]any with numbers as json.Number
	// (kept exactly), int64 or float64. Any other value that marshals to such JSON is accepted at greater cost.
	Object any
	// MainContainer is the agent's container; empty means kandev-agent.
	MainContainer string
	// KubeVersion is the Kubernetes version meant, as 1.36; empty means the newest.
	KubeVersion string
	// Platform is linux/amd64 or linux/arm64; empty means unknown.
	Platform string
	// WorkspaceMode is managed_pvc, empty_dir or existing_claim; empty means unknown.
	WorkspaceMode string
	// Parameters are what the configuration tells rules, by the rule's name and the parameter's: JSON values. Rego finds
	// them under input.kandev.parameters.
	Parameters map[string]map[string]any
}

// contextKey is the key beside the document's own under which policies find the session's settings.
var contextKey = ast.InternedTerm("kandev")

// parametersKey is the key below contextKey with what the configuration tells rules.
var parametersKey = ast.InternedTerm("parameters")

// rulesKey is the key below contextKey with the rules to ask, as packQuery reads it.
var rulesKey = ast.InternedTerm("rules")

// value converts the input, once.
func (in Input) value(c *candidates) (*ast.Term, error) {
	value, err := ast.InterfaceToValue(in.Object)
	if err != nil {
		return nil, fmt.Errorf("convert the document for its policies: %w", err)
	}
	document, ok := value.(ast.Object)
	if !ok {
		return nil, fmt.Errorf("a document of type %s has no policies: it is no object", ast.ValueName(value))
	}
	session := ast.NewObject()
	for _, setting := range [...]struct{ key, value string }{
		{"mainContainer", in.MainContainer},
		{"kubeVersion", in.KubeVersion},
		{"platform", in.Platform},
		{"workspaceMode", in.WorkspaceMode},
	} {
		if setting.value != "" {
			session.Insert(ast.InternedTerm(setting.key), ast.StringTerm(setting.value))
		}
	}
	if len(in.Parameters) > 0 {
		parameters, err := ast.InterfaceToValue(in.Parameters)
		if err != nil {
			return nil, fmt.Errorf("convert the parameters of policies: %w", err)
		}
		session.Insert(parametersKey, ast.NewTerm(parameters))
	}
	session.Insert(rulesKey, c.of(in.Object))
	document.Insert(contextKey, ast.NewTerm(session))
	return ast.NewTerm(document), nil
}
