package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Problem is one thing wrong with a policy.
type Problem struct {
	File    string // as given, or as found below the directory given; empty where no file is at fault
	Line    int    // 1-based; 0 where the whole file is meant
	Column  int    // 1-based; 0 where the whole line is meant
	Message string
}

// String gives the problem as file:line:column: message, without the parts that it has not.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, max(p.Column, 1), p.Message)
}

// Error says that policies cannot be read, compiled or evaluated: the fault of whoever wrote them or named their
// place, not of the Pod under review. It holds at least one problem.
type Error struct {
	Problems []Problem
	cause    error
}

// Error lists the problems, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns what OPA or the file system said, or nil.
func (e *Error) Unwrap() error { return e.cause }

// problem makes an Error of one problem without a cause.
func problem(file, format string, args ...any) *Error {
	return &Error{Problems: []Problem{{File: file, Message: fmt.Sprintf(format, args...)}}}
}

// policyError turns what OPA says about policies into an Error.
func policyError(err error) error { return problems(problemsOf(err), err) }

// problems makes an Error, its problems ordered by place and each said once.
func problems(ps []Problem, cause error) *Error {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message))
	})
	return &Error{Problems: slices.Compact(ps), cause: cause}
}

// problemsOf finds the places in OPA's kinds of errors.
func problemsOf(err error) []Problem {
	if several, ok := errors.AsType[ast.Errors](err); ok {
		ps := make([]Problem, len(several))
		for i, one := range several {
			ps[i] = problemAt(one.Location, one.Message)
		}
		return ps
	}
	if one, ok := errors.AsType[*ast.Error](err); ok {
		return []Problem{problemAt(one.Location, one.Message)}
	}
	if one, ok := errors.AsType[*topdown.Error](err); ok {
		return []Problem{problemAt(one.Location, one.Message)}
	}
	return []Problem{{Message: err.Error()}}
}

func problemAt(at *ast.Location, message string) Problem {
	if at == nil {
		return Problem{Message: message}
	}
	return Problem{File: at.File, Line: at.Row, Column: at.Col, Message: message}
}
