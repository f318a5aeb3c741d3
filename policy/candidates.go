package policy

import (
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Most rules are about a field that most documents do not have. A rule's METADATA names the keys of which a document
// must hold one, anywhere, for the rule to find anything; only rules that may are asked.

// candidates holds what decides which rules are asked about a document.
type candidates struct {
	always []*ast.Term         // rules that every document is held against
	byKey  map[string][]string // rules by the keys that they need
	terms  map[string]*ast.Term
}

// newCandidates prepares the choice among the pack's rules and a user's packages, which are always asked.
func newCandidates(userPackages map[string]*ast.Location) *candidates {
	c := &candidates{byKey: map[string][]string{}, terms: map[string]*ast.Term{}}
	for name, keys := range needs {
		c.terms[name] = ast.StringTerm(name)
		if len(keys) == 0 {
			c.always = append(c.always, c.terms[name])
		}
		for _, key := range keys {
			c.byKey[key] = append(c.byKey[key], name)
		}
	}
	for name := range userPackages {
		c.always = append(c.always, ast.StringTerm(name))
	}
	return c
}

// of lists the rules to ask about a document.
func (c *candidates) of(object any) *ast.Term {
	found := map[string]bool{}
	c.collect(object, found)
	rules := slices.Clone(c.always)
	for name := range found {
		rules = append(rules, c.terms[name])
	}
	return ast.ArrayTerm(rules...)
}

// collect notes the rules that need a key which stands in a value or below it. A value of another kind than a JSON
// reader gives could hold any.
func (c *candidates) collect(value any, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			for _, name := range c.byKey[key] {
				found[name] = true
			}
			c.collectChild(child, found)
		}
	case []any:
		for _, child := range v {
			c.collectChild(child, found)
		}
	default:
		for name, keys := range needs {
			if len(keys) > 0 {
				found[name] = true
			}
		}
	}
}

// collectChild goes into what can hold keys.
func (c *candidates) collectChild(child any, found map[string]bool) {
	switch child.(type) {
	case nil, bool, string, json.Number, float64, int64:
	default:
		c.collect(child, found)
	}
}
