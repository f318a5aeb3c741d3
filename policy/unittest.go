package policy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Verdict is how a unit test ended.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Errored Verdict = "error" // it could not be evaluated to its end
	Skipped Verdict = "skip"  // its name starts with todo_test_
)

// TestResult is one unit test: a Rego rule whose name starts with test_.
type TestResult struct {
	Package  string // as kandev.rules.host_path_test
	Name     string // the second of one name is test_x#01, and so on
	File     string
	Line     int // 1-based
	Verdict  Verdict
	Duration time.Duration
	// Message says what failed, with its place; empty for a test that passed.
	Message string
	// Output is what the test printed.
	Output string
}

// TestReport is what Test found, its tests ordered by file and line and its files by name.
type TestReport struct {
	Tests    []TestResult
	Coverage []FileCoverage // of files other than tests
}

// Passed reports whether no test failed.
func (r *TestReport) Passed() bool {
	return !slices.ContainsFunc(r.Tests, func(t TestResult) bool { return t.Verdict == Fail || t.Verdict == Errored })
}

// Test runs the unit tests of the pack, or, where paths are named, those at and below them, which may use the pack. The
// error is an *Error where policies cannot be read or compiled. OPA's own tester does the same at the price of linking,
// and starting, its whole runtime.
func Test(ctx context.Context, paths ...string) (*TestReport, error) {
	modules, err := packModules(func(name string) bool { return !isTest(name) || len(paths) == 0 })
	if err != nil {
		return nil, err
	}
	tested, data := modules, map[string]any{}
	if len(paths) > 0 {
		if tested, data, err = loadUser(paths, true); err != nil {
			return nil, err
		}
		if err := addModules(modules, tested); err != nil {
			return nil, err
		}
	}
	tests := findTests(tested)
	store := inmem.NewFromObject(data)
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, txn)
	compiler := ast.NewCompiler(). //nolint:staticcheck // a capability left out is only "undefined"; this says that the built-in is unsafe
					WithCapabilities(capabilities()).
					WithUnsafeBuiltins(unsafeBuiltins()).
					WithPathConflictsCheck(storage.NonEmpty(ctx, store, txn)).
					WithEnablePrintStatements(true)
	if compiler.Compile(modules); compiler.Failed() {
		return nil, policyError(compiler.Errors)
	}
	report := &TestReport{}
	covered := coverage{}
	for _, test := range tests {
		query := func(tracer topdown.QueryTracer) *topdown.Query {
			return topdown.NewQuery(test.query).WithCompiler(compiler).WithStore(store).WithTransaction(txn).WithQueryTracer(tracer)
		}
		result, err := test.run(ctx, query, covered)
		if err != nil {
			return nil, err
		}
		report.Tests = append(report.Tests, result)
	}
	report.Coverage = covered.of(tested)
	return report, nil
}

// unitTest is one test to run.
type unitTest struct {
	result TestResult // as far as known before it ran
	query  ast.Body
}

// findTests finds the tests in modules, ordered by file and line. Of tests with one name in one package each but the
// first is renamed, since rules of one name would be one rule, true where any of them is.
func findTests(modules map[string]*ast.Module) []unitTest {
	var tests []unitTest
	seen := map[string]int{}
	for _, file := range slices.Sorted(maps.Keys(modules)) {
		module := modules[file]
		for _, rule := range module.Rules {
			head := rule.Head.Ref()
			name := string(head[0].Value.(ast.Var))
			if !strings.HasPrefix(name, "test_") && !strings.HasPrefix(name, "todo_test_") {
				continue
			}
			full := module.Package.Path.String() + "." + name
			if n := seen[full]; n > 0 && len(head) > 1 {
				continue // one more case of the same test
			} else if n > 0 {
				name = fmt.Sprintf("%s#%02d", name, n)
				rule.Head.Name = ast.Var(name)
				rule.Head.SetRef(ast.Ref{ast.VarTerm(name)})
			}
			seen[full]++
			ref := module.Package.Path.Append(ast.StringTerm(name))
			tests = append(tests, unitTest{
				query: ast.NewBody(ast.Equality.Expr(ast.NewTerm(ref), ast.VarTerm(string(answerVariable)))),
				result: TestResult{
					Package: strings.TrimPrefix(module.Package.Path.String(), "data."),
					Name:    name,
					File:    file,
					Line:    rule.Location.Row,
				},
			})
		}
	}
	slices.SortStableFunc(tests, func(a, b unitTest) int {
		return cmp.Or(cmp.Compare(a.result.File, b.result.File), cmp.Compare(a.result.Line, b.result.Line))
	})
	return tests
}

// run runs the test; the error is the context's.
func (t unitTest) run(ctx context.Context, query func(topdown.QueryTracer) *topdown.Query, covered coverage) (TestResult, error) {
	result := t.result
	if strings.HasPrefix(result.Name, "todo_") {
		result.Verdict, result.Message = Skipped, "skipped"
		return result, nil
	}
	running := bound{defaultBound.time, userHeap}.start(ctx)
	var output bytes.Buffer
	passed := false
	started := time.Now()
	err := query(covered).WithCancel(running).WithPrintHook(topdown.NewPrintHook(&output)).
		Iter(ctx, func(answer topdown.QueryResult) error {
			passed = holds(answer[answerVariable].Value)
			return nil
		})
	result.Duration, result.Output = time.Since(started), output.String()
	switch {
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case err != nil:
		result.Verdict, result.Message = Errored, problemsOf(running.explain(err, query(nil)))[0].String()
	case passed:
		result.Verdict = Pass
	default:
		failure := lastFailure{file: result.File}
		if err := query(&failure).WithCancel(running).Iter(ctx, func(topdown.QueryResult) error { return nil }); err != nil {
			return result, errors.Join(err, ctx.Err())
		}
		result.Verdict, result.Message = Fail, failure.String()
	}
	return result, nil
}

// holds reports whether the value of a test is a pass: true, or an object of test cases that all are true.
func holds(value ast.Value) bool {
	cases, ok := value.(ast.Object)
	if !ok {
		return ast.Boolean(true).Compare(value) == 0
	}
	return cases.Len() > 0 && !cases.Until(func(_, verdict *ast.Term) bool { return !holds(verdict.Value) })
}

// lastFailure is a tracer that remembers the last expression of a test's file that was not true.
type lastFailure struct {
	file string
	expr *ast.Expr
}

// Enabled, TraceEvent and Config make it a tracer.
func (*lastFailure) Enabled() bool { return true }

// Config asks for nothing beyond the events.
func (*lastFailure) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent takes one event.
func (l *lastFailure) TraceEvent(event topdown.Event) {
	expr, ok := event.Node.(*ast.Expr)
	if ok && event.Op == topdown.FailOp && expr.Location != nil && expr.Location.File == l.file {
		l.expr = expr
	}
}

// String says what was not true, and where.
func (l *lastFailure) String() string {
	if l.expr == nil {
		return problem(l.file, "the test is not true").Error()
	}
	return problemAt(l.expr.Location, "not true: "+strings.TrimSpace(string(l.expr.Location.Text))).String()
}
