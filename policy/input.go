package policy

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

// Input is one document under review and what is known about the session that it is for.
type Input struct {
	// Object is a v1 PodTemplate or a v1 Pod as a JSON reader gives it: map[string]any with numbers as json.Number
	// (kept exactly), int64 or float64. Any other value that marshals to such JSON is accepted at greater cost. Policies see
	// it without fields that are null, as the API server does.
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

// value converts the input, once and no further than policies read it: the document's lists and scalars turn into
// OPA's where one of them looks.
func (in Input) value(c *candidates) (*ast.Term, error) {
	document, chosen, err := in.document(c)
	if err != nil {
		return nil, err
	}
	const settings = 28 // as many as a session has
	session := make(map[string]any, settings)
	session["mainContainer"] = cmp.Or(in.MainContainer, defaultMainContainer)
	for _, setting := range [...]struct{ key, value string }{
		{"kubeVersion", in.KubeVersion},
		{"platform", in.Platform},
		{"workspaceMode", in.WorkspaceMode},
	} {
		if setting.value != "" {
			session[setting.key] = setting.value
		}
	}
	if len(in.Parameters) > 0 {
		parameters, err := ast.InterfaceToValue(in.Parameters)
		if err != nil {
			return nil, fmt.Errorf("convert the parameters of policies: %w", err)
		}
		session["parameters"] = parameters
	}
	if err := addReview(session, document, session["mainContainer"].(string), in.KubeVersion); err != nil {
		return nil, err
	}
	session["rules"] = c.list(chosen, session)
	input := maps.Clone(document)
	input["kandev"] = session
	return ast.NewTerm(ast.LazyObject(input)), nil
}

// document is the object under review as a JSON reader gives it, without fields that are null, and the rules that its keys
// choose.
func (in Input) document(c *candidates) (map[string]any, []bool, error) {
	document, ok := in.Object.(map[string]any)
	if ok && document != nil {
		if s := c.of(document); s.plain {
			return s.withoutNulls(document), s.found, nil
		}
	}
	object := in.Object
	if err := util.RoundTrip(&object); err != nil {
		return nil, nil, fmt.Errorf("convert the document for its policies: %w", err)
	}
	if document, ok = object.(map[string]any); !ok || document == nil {
		return nil, nil, fmt.Errorf("a document of type %T has no policies: it is no object", in.Object)
	}
	s := c.of(document)
	return s.withoutNulls(document), s.found, nil
}

// withoutNulls is a document without its fields that are null: the API server leaves them out when it decodes one. Elements of
// lists stay, null or not, since they have places.
func (s *survey) withoutNulls(document map[string]any) map[string]any {
	if !s.nulls {
		return document
	}
	return leaveOut(document).(map[string]any)
}

func leaveOut(value any) any {
	switch v := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(v))
		for key, child := range v {
			if child != nil {
				fields[key] = leaveOut(child)
			}
		}
		return fields
	case []any:
		list := make([]any, len(v))
		for index, child := range v {
			list[index] = leaveOut(child)
		}
		return list
	}
	return value
}
