// Package differential holds two judges of Pod templates against each other: templates to start from, a mutator that
// changes them at random, and what counts as agreement between two lists of errors.
//
// It is for tests only: podrules beside the API server's own code (test/oracle) and beside real API servers
// (test/admission).
package differential
