package policy

import (
	"bytes"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// FileCoverage is how much of one Rego file its tests evaluated.
type FileCoverage struct {
	File    string
	Covered int   // lines with an expression that was evaluated or the head of a rule that was true
	Missed  []int // lines with one that never was, 1-based and ascending
}

// Percent is the share of lines covered, 100 where there are none to cover.
func (c FileCoverage) Percent() float64 {
	if len(c.Missed) == 0 {
		return 100
	}
	return 100 * float64(c.Covered) / float64(c.Covered+len(c.Missed))
}

// span is a piece of a file, by its lines and the column where it starts.
type span struct{ first, column, last int }

func spanOf(at *ast.Location) span {
	return span{at.Row, at.Col, at.Row + bytes.Count(at.Text, []byte("\n"))}
}

// coverage is a tracer that gathers, for each file, what was evaluated.
type coverage map[string]map[span]bool

// Enabled makes it a tracer.
func (coverage) Enabled() bool { return true }

// Config asks for nothing beyond the events.
func (coverage) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent takes one event.
func (c coverage) TraceEvent(event topdown.Event) {
	switch node := event.Node.(type) {
	case *ast.Rule:
		if event.Op == topdown.ExitOp {
			c.add(node.Head.Location)
		}
	case *ast.Expr:
		if event.Op == topdown.EvalOp {
			c.add(node.Location)
		}
	}
}

func (c coverage) add(at *ast.Location) {
	if at == nil || at.File == "" {
		return
	}
	if c[at.File] == nil {
		c[at.File] = map[span]bool{}
	}
	c[at.File][spanOf(at)] = true
}

// of holds what was evaluated against what there is in modules, leaving out tests.
func (c coverage) of(modules map[string]*ast.Module) []FileCoverage {
	var files []FileCoverage
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if isTest(name) {
			continue
		}
		covered, missed := map[int]bool{}, map[int]bool{}
		sort := func(at *ast.Location) {
			s, lines := spanOf(at), missed
			if c[name][s] {
				lines = covered
			}
			for line := s.first; line <= s.last; line++ {
				lines[line] = true
			}
		}
		ast.WalkRules(modules[name], func(r *ast.Rule) bool {
			sort(r.Head.Location)
			return false
		})
		ast.WalkExprs(modules[name], func(x *ast.Expr) bool {
			if _, declares := x.Terms.(*ast.SomeDecl); !declares {
				sort(x.Location)
			}
			return false
		})
		for line := range missed {
			delete(covered, line)
		}
		files = append(files, FileCoverage{File: name, Covered: len(covered), Missed: slices.Sorted(maps.Keys(missed))})
	}
	return files
}
