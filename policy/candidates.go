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
// value is true; KEY=TEXT*, a key whose value starts with the text; PREFIX/, a key that starts with it; or kandev.LIST,
// a list of the reading that is not empty. One need of a rule is enough; a rule without any is always asked.

// candidates holds what decides which rules are asked about a document.
type candidates struct {
	rules    []*ast.Term      // by name
	always   []bool           // of each rule
	byKey    map[string]*uses // what keys are needed for
	byPrefix map[string][]int // rules by a key's beginning, with its slash
	byList   []listUse
}

// listUse are the rules that need something in a list of the reading.
type listUse struct {
	path  []string // below input.kandev
	rules []int
}

// uses are the rules that need a key.
type uses struct {
	present []int
	isTrue  []int
	starts  []start
}

// start is what the text of a value starts with for a rule to find something.
type start struct {
	text string
	rule int
}

// newCandidates prepares the choice among the pack's rules and a user's packages, which are always asked.
func newCandidates(userPackages map[string]*ast.Location) *candidates {
	c := &candidates{byKey: map[string]*uses{}, byPrefix: map[string][]int{}}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		c.add(name, needs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(userPackages)) {
		c.add(name, nil)
	}
	return c
}

func (c *candidates) add(name string, needs []string) {
	rule := len(c.rules)
	c.rules, c.always = append(c.rules, ast.StringTerm(name)), append(c.always, len(needs) == 0)
	for _, need := range needs {
		if strings.HasSuffix(need, "/") {
			c.byPrefix[need] = append(c.byPrefix[need], rule)
			continue
		}
		if list, ok := strings.CutPrefix(need, "kandev."); ok {
			c.addList(strings.Split(list, "."), rule)
			continue
		}
		key, value, _ := strings.Cut(need, "=")
		if c.byKey[key] == nil {
			c.byKey[key] = &uses{}
		}
		switch u := c.byKey[key]; value {
		case "":
			u.present = append(u.present, rule)
		case "true":
			u.isTrue = append(u.isTrue, rule)
		default:
			u.starts = append(u.starts, start{strings.TrimSuffix(value, "*"), rule})
		}
	}
}

func (c *candidates) addList(path []string, rule int) {
	at := slices.IndexFunc(c.byList, func(use listUse) bool { return slices.Equal(use.path, path) })
	if at < 0 {
		at, c.byList = len(c.byList), append(c.byList, listUse{path: path})
	}
	c.byList[at].rules = append(c.byList[at].rules, rule)
}

// survey is what one walk over a document says of it.
type survey struct {
	*candidates
	found []bool // the rules that it has a key for
	plain bool   // no value in it is of another kind than a JSON reader gives
	nulls bool   // a field in it is null
}

func (c *candidates) of(document map[string]any) survey {
	s := survey{candidates: c, found: slices.Clone(c.always), plain: true}
	s.collect(document)
	return s
}

// list lists the chosen rules and those that a reading has something for.
func (c *candidates) list(found []bool, reading map[string]any) *ast.Array {
	for _, use := range c.byList {
		at := reading
		for _, key := range use.path[:len(use.path)-1] {
			at = objectAt(at, key)
		}
		if list, ok := at[use.path[len(use.path)-1]].(*ast.Array); ok && list.Len() > 0 {
			mark(found, use.rules)
		}
	}
	asked := make([]*ast.Term, 0, len(c.rules))
	for i, rule := range c.rules {
		if found[i] {
			asked = append(asked, rule)
		}
	}
	return ast.NewArray(asked...)
}

// collect notes what stands in a value or below it.
func (s *survey) collect(value any) {
	switch v := value.(type) {
	case nil, bool, string, json.Number, float64, int64, int:
	case map[string]any:
		for key, child := range v {
			if u := s.byKey[key]; u != nil {
				u.mark(s.found, child)
			}
			if slash := strings.IndexByte(key, '/'); slash > 0 {
				mark(s.found, s.byPrefix[key[:slash+1]])
			}
			s.nulls = s.nulls || child == nil
			s.collect(child)
		}
	case []any:
		for _, child := range v {
			s.collect(child)
		}
	default:
		s.plain = false
	}
}

// mark notes the rules that need what a key holds.
func (u *uses) mark(found []bool, value any) {
	mark(found, u.present)
	if value == true {
		mark(found, u.isTrue)
	}
	for _, start := range u.starts {
		if text, ok := value.(string); ok && strings.HasPrefix(text, start.text) {
			found[start.rule] = true
		}
	}
}

func mark(found []bool, rules []int) {
	for _, rule := range rules {
		found[rule] = true
	}
}
