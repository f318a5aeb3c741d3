package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Most rules are about a field that most documents do not have. A rule's METADATA says what a document must hold,
// anywhere, for the rule to find something, and only rules that may are asked. A need is a key; KEY=true, a key whose
// value is true; or PREFIX/, a key that starts with it. One need of a rule is enough; a rule without any is always asked.

// candidates holds what decides which rules are asked about a document.
type candidates struct {
	rules    []*ast.Term // by name
	always   []bool      // of each rule
	byKey    map[string][]int
	byTrue   map[string][]int
	byPrefix map[string][]int // the prefixes with their slash
}

// newCandidates prepares the choice among the pack's rules and a user's packages, which are always asked.
func newCandidates(userPackages map[string]*ast.Location) *candidates {
	c := &candidates{byKey: map[string][]int{}, byTrue: map[string][]int{}, byPrefix: map[string][]int{}}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		c.add(name, needs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(userPackages)) {
		c.add(name, nil)
	}
	return c
}

func (c *candidates) add(rule string, needs []string) {
	index := len(c.rules)
	c.rules, c.always = append(c.rules, ast.StringTerm(rule)), append(c.always, len(needs) == 0)
	for _, need := range needs {
		by, key := c.byKey, need
		if name, ok := strings.CutSuffix(need, "=true"); ok {
			by, key = c.byTrue, name
		} else if strings.HasSuffix(need, "/") {
			by = c.byPrefix
		}
		by[key] = append(by[key], index)
	}
}

// of lists the rules to ask about a document. It is not plain if a value in it is of another kind than a JSON reader
// gives.
func (c *candidates) of(document map[string]any) (rules *ast.Array, plain bool) {
	found := slices.Clone(c.always)
	plain = c.collect(document, found)
	asked := make([]*ast.Term, 0, len(c.rules))
	for i, rule := range c.rules {
		if found[i] {
			asked = append(asked, rule)
		}
	}
	return ast.NewArray(asked...), plain
}

// collect notes the rules that need what stands in a value or below it.
func (c *candidates) collect(value any, found []bool) (plain bool) {
	switch v := value.(type) {
	case nil, bool, string, json.Number, float64, int64, int:
		return true
	case map[string]any:
		plain = true
		for key, child := range v {
			mark(found, c.byKey[key])
			if child == true {
				mark(found, c.byTrue[key])
			}
			if slash := strings.IndexByte(key, '/'); slash > 0 {
				mark(found, c.byPrefix[key[:slash+1]])
			}
			plain = c.collect(child, found) && plain
		}
		return plain
	case []any:
		plain = true
		for _, child := range v {
			plain = c.collect(child, found) && plain
		}
		return plain
	}
	return false
}

func mark(found []bool, rules []int) {
	for _, rule := range rules {
		found[rule] = true
	}
}
