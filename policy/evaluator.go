package policy

import (
	"context"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Options say what an Evaluator evaluates beside the pack. The zero value is the pack alone.
type Options struct {
	// Policies are the files and directories of a user's Rego: deny, warn and violation in package main as conftest
	// reads them, and packages of the pack's own shape below kandev.rules. A data.json or data.yaml among them is
	// their data. Files that end in _test.rego are left out.
	Policies []string
}

// Evaluator holds compiled policies. It is safe for concurrent use.
type Evaluator struct {
	compiler     *ast.Compiler
	store        storage.Store
	queries      []query
	rules        map[string]*finding.Rule // the pack's, by name
	candidates   *candidates
	userPackages map[string]*ast.Location // a user's below kandev.rules, by their last name
	bound        bound
}

// query is one question to the compiled policies and how its answers are to be read.
type query struct {
	body  ast.Body
	blank *finding.Finding // what a finding is that does not say
	at    *ast.Location    // of a user's rule
}

// packQuery asks for the findings of every rule of the pack's shape that the input lists.
var packQuery = sync.OnceValue(func() ast.Body {
	return ast.MustParseBody("rule = input.kandev.rules[_]; data.kandev.rules[rule].findings = answer")
})

var (
	defaultOnce      sync.Once
	defaultEvaluator *Evaluator
	errDefault       error
)

// Default returns the evaluator of the pack alone, compiled at the first call and shared by the whole process.
func Default(ctx context.Context) (*Evaluator, error) {
	defaultOnce.Do(func() { defaultEvaluator, errDefault = New(context.WithoutCancel(ctx), Options{}) })
	return defaultEvaluator, errDefault
}

// New compiles the pack and the policies that the options name. The error is an *Error where those cannot be used.
func New(ctx context.Context, options Options) (*Evaluator, error) {
	modules, err := packModules(isEvaluated)
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		store:   inmem.New(),
		queries: []query{{body: packQuery(), blank: &finding.Finding{Source: finding.Policy}}},
		rules:   make(map[string]*finding.Rule, len(catalogue)),
		bound:   defaultBound,
	}
	for i := range catalogue {
		e.rules[catalogue[i].Name] = &catalogue[i]
	}
	if len(options.Policies) > 0 {
		err = e.addUser(ctx, modules, options.Policies)
	} else {
		err = e.compile(modules, ast.NewCompiler().WithSkipStages(provenStages...))
	}
	e.candidates = newCandidates(e.userPackages)
	return e, err
}

// provenStages only check, and what they would check is constant: the pack's own tests compile it with all of them.
var provenStages = []ast.StageID{
	ast.StageCheckKeywordOverrides,
	ast.StageCheckDuplicateImports,
	ast.StageCheckVoidCalls,
	ast.StageParseMetadataBlocks,
	ast.StageSetAnnotationSet,
	ast.StageCheckRuleConflicts,
	ast.StageCheckUndefinedFuncs,
	ast.StageCheckSafetyRuleHeads,
	ast.StageCheckRecursion,
	ast.StageCheckTypes,
	ast.StageCheckUnsafeBuiltins,
	ast.StageCheckDeprecatedBuiltins,
	ast.StageBuildRequiredCapabilities,
}

func (e *Evaluator) compile(modules map[string]*ast.Module, compiler *ast.Compiler) error {
	e.compiler = compiler.WithCapabilities(capabilities())
	e.compiler.Compile(modules)
	if e.compiler.Failed() {
		return policyError(e.compiler.Errors)
	}
	return nil
}

// Eval returns the findings on one document, ordered as finding.Sort orders them. Docs, the place in a file and the
// fingerprint are left empty. An *Error says that a policy failed; the context's error that the evaluation was ended.
func (e *Evaluator) Eval(ctx context.Context, in Input) ([]finding.Finding, error) {
	input, err := in.value(e.candidates)
	if err != nil {
		return nil, err
	}
	txn, err := e.store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer e.store.Abort(ctx, txn)

	running := e.bound.start(ctx)
	const usual = 16
	findings := make([]finding.Finding, 0, usual)
	for i := range e.queries {
		q := &e.queries[i]
		query := func() *topdown.Query {
			return topdown.NewQuery(q.body).WithCompiler(e.compiler).WithStore(e.store).WithTransaction(txn).WithInput(input)
		}
		err := query().WithCancel(running).WithVirtualCache(virtualCache{topdown.NewVirtualCache()}).WithMetrics(metrics.NoOp()).
			Iter(ctx, func(answer topdown.QueryResult) error {
				findings, err = e.read(findings, q, answer)
				return err
			})
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, policyError(running.explain(err, query()))
		}
	}
	finding.Sort(findings)
	return findings, nil
}
