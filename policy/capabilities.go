package policy

import (
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// capabilities is what policies may use of OPA: everything in this version, but no host may be reached.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = []string{}
	return c
})

// unsafeBuiltins are the functions that a policy may not call: every one whose result does not follow from its
// arguments, since those read the network, the environment or chance and two runs print the same bytes; rego.parse_module, whose
// argument may be anything; and those that one call can keep busy for ever, out of reach of the bound on an evaluation.
// time.now_ns stays, for exceptions that expire.
var unsafeBuiltins = sync.OnceValue(func() map[string]struct{} {
	names := map[string]struct{}{ast.RegoParseModule.Name: {}, ast.BitsShiftLeft.Name: {}, ast.ReachablePathsBuiltin.Name: {}}
	for _, b := range ast.Builtins {
		if b.IsNondeterministic() {
			names[b.Name] = struct{}{}
		}
	}
	delete(names, ast.NowNanos.Name)
	return names
})
