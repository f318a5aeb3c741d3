// Package policy holds Kandev's Rego pack and evaluates it, with a user's own policies, over Pod templates and Pods.
//
// The pack is usable as it stands with `opa eval -d policy` and `conftest test --policy policy`. Each rule is a Rego
// package data.kandev.rules.NAME below rules/, whose partial set findings holds objects of rule, path, container,
// message and remediation, and where a finding differs from its rule's default, severity.
package policy

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
)

//go:embed lib rules
var pack embed.FS

// packRoot is where the pack's files seem to stand in messages.
const packRoot = "policy/"

// isTest reports whether a Rego file holds unit tests, by OPA's convention.
func isTest(name string) bool { return strings.HasSuffix(name, "_test.rego") }

// isReading reports whether a file does in Rego what the evaluator does itself.
func isReading(name string) bool { return name == "lib/review.rego" || name == "lib/engines.rego" }

// isEvaluated reports whether a file is part of an evaluation.
func isEvaluated(name string) bool { return !isTest(name) && !isReading(name) }

// packModules parses the files of the pack that are wanted.
func packModules(wanted func(name string) bool) (map[string]*ast.Module, error) {
	var names []string
	err := fs.WalkDir(pack, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && wanted(name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return parsePack(names)
}

// parsePack parses files on every processor: it is a third of what a process pays for its policies.
func parsePack(names []string) (map[string]*ast.Module, error) {
	parsed, errs := make([]*ast.Module, len(names)), make([]error, len(names))
	options := ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: capabilities()}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				source, err := pack.ReadFile(names[i])
				if err == nil {
					parsed[i], err = ast.ParseModuleWithOpts(packRoot+names[i], withoutComments(source), options)
				}
				errs[i] = err
			}
		})
	}
	workers.Wait()
	modules := make(map[string]*ast.Module, len(names))
	for i, name := range names {
		modules[packRoot+name] = parsed[i]
	}
	return modules, errors.Join(errs...)
}

// withoutComments empties the lines that hold only a comment; every other byte keeps its line and column. Parsing
// comments, and above all the annotations in them, is a third of what parsing the pack would cost.
func withoutComments(source []byte) string {
	var code strings.Builder
	code.Grow(len(source))
	for line := range bytes.Lines(source) {
		if line[0] == '#' {
			line = line[len(bytes.TrimSuffix(line, []byte("\n"))):]
		}
		code.Write(line)
	}
	return code.String()
}
