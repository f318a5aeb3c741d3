package policy

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// virtualCache keeps the virtual documents of one evaluation but for findings, which nobody asks for twice: to keep those of
// every rule costs as much as one rule in twenty.
type virtualCache struct{ topdown.VirtualCache }

var findingsTerm = ast.StringTerm("findings")

// Get returns a document, and whether it is known to be undefined.
func (c virtualCache) Get(ref ast.Ref) (*ast.Term, bool) {
	if isFindings(ref) {
		return nil, false
	}
	return c.VirtualCache.Get(ref)
}

// Put keeps a document.
func (c virtualCache) Put(ref ast.Ref, value *ast.Term) {
	if !isFindings(ref) {
		c.VirtualCache.Put(ref, value)
	}
}

func isFindings(ref ast.Ref) bool { return ref[len(ref)-1].Equal(findingsTerm) }
