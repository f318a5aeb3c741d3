package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// Entry points of package main and the severity of what they yield; conftest knows the same names.
var (
	errorRule   = lazyregexp.New(`^(deny|violation)(_[a-zA-Z0-9]+)*$`)
	warningRule = lazyregexp.New(`^warn(_[a-zA-Z0-9]+)*$`)
)

// addUser compiles a user's policies with the pack's modules and asks them for findings too.
func (e *Evaluator) addUser(ctx context.Context, modules map[string]*ast.Module, paths []string) error {
	user, data, err := loadUser(paths, false)
	if err != nil {
		return err
	}
	if err := addModules(modules, user); err != nil {
		return err
	}
	e.store, e.bound.heap = inmem.NewFromObject(data), userHeap
	txn, err := e.store.NewTransaction(ctx)
	if err != nil {
		return err
	}
	defer e.store.Abort(ctx, txn)
	compiler := ast.NewCompiler(). //nolint:staticcheck // a capability left out is only "undefined"; this says that the built-in is unsafe
					WithUnsafeBuiltins(unsafeBuiltins()).
					WithPathConflictsCheck(storage.NonEmpty(ctx, e.store, txn))
	if err := e.compile(modules, compiler); err != nil {
		return err
	}
	e.addEntryPoints(user)
	if len(e.queries) == 1 && len(e.userPackages) == 0 {
		return problem(strings.Join(paths, ", "),
			"no policy here yields a finding: there is neither deny, warn or violation in package main nor a package kandev.rules.NAME")
	}
	return nil
}

// loadUser reads the Rego and the data files at and below paths, with unit tests if asked for them. Directories whose
// name starts with a dot are left out.
func loadUser(paths []string, tests bool) (map[string]*ast.Module, map[string]any, error) {
	l := userLoader{modules: map[string]*ast.Module{}, data: map[string]any{}, tests: tests}
	for _, root := range paths {
		before := len(l.modules)
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && name != root && strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			case entry.IsDir():
				return nil
			}
			return l.read(root, name)
		})
		switch pathErr, ok := errors.AsType[*fs.PathError](err); {
		case ok:
			l.problems = append(l.problems, Problem{File: pathErr.Path, Message: pathErr.Err.Error()})
		case len(l.modules) == before && l.problems == nil:
			l.problems = append(l.problems, Problem{File: root, Message: "no Rego policy here"})
		}
	}
	if l.problems != nil {
		return nil, nil, problems(l.problems, nil)
	}
	return l.modules, l.data, nil
}

// userLoader gathers a user's policies.
type userLoader struct {
	modules  map[string]*ast.Module
	data     map[string]any
	tests    bool
	problems []Problem
}

// read reads one file found below root, if it is of a kind that matters.
func (l *userLoader) read(root, name string) error {
	isData := slices.Contains(dataFiles, filepath.Base(name))
	if !isData && (!strings.HasSuffix(name, ".rego") || isTest(name) && !l.tests) {
		return nil
	}
	source, err := os.ReadFile(name) //nolint:gosec // the user names the folder
	if err != nil {
		return err
	}
	if isData {
		if err := l.addData(root, name, source); err != nil {
			l.problems = append(l.problems, Problem{File: name, Message: err.Error()})
		}
		return nil
	}
	module, err := ast.ParseModuleWithOpts(name, string(source), ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: capabilities()})
	if err != nil {
		l.problems = append(l.problems, problemsOf(err)...)
		return nil
	}
	l.modules[name] = module
	return nil
}

// dataFiles are the names of data files, as in OPA's bundles.
var dataFiles = []string{"data.json", "data.yaml", "data.yml"}

// addData puts an object into the data document, at the place that its directory below root names, as OPA does.
func (l *userLoader) addData(root, name string, source []byte) error {
	var object map[string]any
	if err := util.Unmarshal(source, &object); err != nil {
		return err
	}
	below, err := filepath.Rel(root, filepath.Dir(name))
	if err != nil {
		return err
	}
	if below = filepath.ToSlash(below); below != "." && below != ".." {
		for _, key := range slices.Backward(strings.Split(below, "/")) {
			object = map[string]any{key: object}
		}
	}
	return mergeData(l.data, object)
}

// mergeData adds one data document to another; only objects may meet.
func mergeData(into, from map[string]any) error {
	for key, value := range from {
		old, taken := into[key]
		oldObject, ok := old.(map[string]any)
		object, alsoOK := value.(map[string]any)
		switch {
		case !taken:
			into[key] = value
		case !ok || !alsoOK:
			return fmt.Errorf("data.%s is set twice", key)
		default:
			if err := mergeData(oldObject, object); err != nil {
				return err
			}
		}
	}
	return nil
}

// addModules adds a user's modules to the pack's, whose packages they may import but not add to.
func addModules(modules, user map[string]*ast.Module) error {
	taken := map[string]bool{}
	for _, module := range modules {
		taken[module.Package.Path.String()] = true
	}
	var trespasses []Problem
	for _, name := range slices.Sorted(maps.Keys(user)) {
		module := user[name]
		if path := module.Package.Path; taken[path.String()] && !isTest(name) {
			trespasses = append(trespasses, problemAt(module.Package.Location, "package "+strings.TrimPrefix(path.String(), "data.")+" is the pack's own; choose another name"))
		}
		modules[name] = module
	}
	if trespasses != nil {
		return problems(trespasses, nil)
	}
	return nil
}

// addEntryPoints finds the rules of a user's modules that yield findings.
func (e *Evaluator) addEntryPoints(user map[string]*ast.Module) {
	e.userPackages = map[string]*ast.Location{}
	rules := ast.MustParseRef("data.kandev.rules")
	entryPoints := map[string]*ast.Location{}
	for _, file := range slices.Sorted(maps.Keys(user)) {
		module := user[file]
		path := module.Package.Path
		if path.HasPrefix(rules) && len(path) == len(rules)+1 {
			e.userPackages[string(path[len(rules)].Value.(ast.String))] = module.Package.Location
		}
		if !path.Equal(ast.MustParseRef("data.main")) {
			continue
		}
		for _, rule := range module.Rules {
			if name := string(rule.Head.Name); entryPoints[name] == nil && severityOf(name) != "" {
				entryPoints[name] = rule.Location
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entryPoints)) {
		e.queries = append(e.queries, query{
			body:  ast.MustParseBody("data.main." + name + " = answer"),
			blank: &finding.Finding{Rule: ruleName(name), Severity: severityOf(name), Source: finding.User},
			at:    entryPoints[name],
		})
	}
}

// severityOf gives the severity of what a rule of package main yields, or "" where it is no entry point.
func severityOf(rule string) finding.Severity {
	switch {
	case errorRule().MatchString(rule):
		return finding.Error
	case warningRule().MatchString(rule):
		return finding.Warning
	}
	return ""
}
