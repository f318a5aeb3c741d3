package policy

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// The variables of a query.
const (
	ruleVariable   = ast.Var("rule")
	answerVariable = ast.Var("answer")
)

// read appends the findings of one answer to a query.
func (e *Evaluator) read(findings []finding.Finding, q *query, answer topdown.QueryResult) ([]finding.Finding, error) {
	blank, at := q.blank, q.at
	if name, ok := answer[ruleVariable]; ok {
		if packageName := string(name.Value.(ast.String)); e.userPackages[packageName] != nil {
			blank, at = &finding.Finding{Rule: ruleName(packageName), Severity: finding.Warning, Source: finding.User}, e.userPackages[packageName]
		}
	}
	err := eachElement(answer[answerVariable].Value, func(element ast.Value) error {
		findings = append(findings, *blank)
		f := &findings[len(findings)-1]
		if err := readFinding(f, element); err != nil {
			return err
		}
		if f.Source == finding.Policy {
			e.complete(f)
		}
		return nil
	})
	if err != nil {
		return nil, &Error{Problems: []Problem{problemAt(at, err.Error())}, cause: err}
	}
	return findings, nil
}

// complete adds to a finding of the pack what its rule says for every one.
func (e *Evaluator) complete(f *finding.Finding) {
	rule := e.rules[f.Rule]
	if rule == nil {
		return
	}
	if f.Severity == "" {
		f.Severity = rule.Severity
	}
	f.PSS = rule.PSS
}

// eachElement calls f for the elements of a rule's value, which is to be a set or an array.
func eachElement(value ast.Value, f func(ast.Value) error) error {
	visit := func(t *ast.Term) error { return f(t.Value) }
	switch v := value.(type) {
	case ast.Set:
		return v.Iter(visit)
	case *ast.Array:
		return v.Iter(visit)
	}
	return fmt.Errorf("the rule is %s; it must be a set of findings", withArticle(value))
}

// readFinding fills in what a policy says of one finding: a message, or an object with one.
func readFinding(f *finding.Finding, element ast.Value) error {
	switch v := element.(type) {
	case ast.String:
		f.Message = string(v)
	case ast.Object:
		if err := v.Iter(func(key, value *ast.Term) error { return readField(f, key.Value, value.Value) }); err != nil {
			return err
		}
	default:
		return fmt.Errorf("a finding is %s; it must be a string or an object with msg", withArticle(element))
	}
	if f.Message == "" {
		return fmt.Errorf("a finding has no message: give it msg")
	}
	return nil
}

// readField reads one field of a finding; those that it does not know are the policy's own business.
func readField(f *finding.Finding, key, value ast.Value) error {
	name, ok := key.(ast.String)
	if !ok {
		return nil
	}
	var to *string
	switch name {
	case "rule":
		to = &f.Rule
	case "message", "msg":
		to = &f.Message
	case "remediation":
		to = &f.Remediation
	case "path":
		to = &f.Path
	case "container":
		to = &f.Container
	case "severity":
		to = (*string)(&f.Severity)
	default:
		return nil
	}
	text, ok := value.(ast.String)
	if !ok && to == &f.Container && f.Source == finding.Policy {
		return nil // the document's container has no usable name
	}
	if !ok {
		return fmt.Errorf("a finding's %s is %s; it must be a string", string(name), withArticle(value))
	}
	*to = string(text)
	if name == "severity" && f.Severity.Rank() == 0 {
		return fmt.Errorf("a finding's severity is %q; it must be error, warning or info", *to)
	}
	return nil
}

// withArticle names a value's type in a sentence.
func withArticle(value ast.Value) string {
	switch name := ast.ValueName(value); name {
	case "array", "object":
		return "an " + name
	case "null":
		return name
	default:
		return "a " + name
	}
}
