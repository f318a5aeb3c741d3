package cli

import "errors"

// The exit statuses.
const (
	ExitOK          = 0   // nothing at or above --fail-on; a compatible diff; every policy test passed
	ExitFindings    = 1   // findings at or above --fail-on, a diff violation, a failed policy test, a session that cannot run
	ExitUnusable    = 2   // the invocation, the configuration or the input could not be used
	ExitCluster     = 3   // the cluster could not be reached or answered with an error
	ExitInterrupted = 130 // ended by an interrupt, as a shell counts it
	ExitClosedPipe  = 141 // nobody reads the output any more, as a shell counts SIGPIPE
)

// exitError ends the process with a status; its text, if any, goes to standard error.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// errFindings ends the process after findings, which have been printed.
var errFindings = &exitError{code: ExitFindings}

// unusable marks an error as one of the invocation or the input, unless it has a mark.
func unusable(err error) error {
	if _, marked := errors.AsType[*exitError](err); err == nil || marked {
		return err
	}
	return &exitError{code: ExitUnusable, err: err}
}

// exitCode is the status of an error. Without a mark it is one of the invocation.
func exitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return ExitUnusable
}
