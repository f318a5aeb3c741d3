// Package lint turns files into findings: it finds the templates in them, applies the rules of
// pkg/compose and the policies, puts every finding at its place, and takes out what the user has
// suppressed, excluded or accepted in a baseline.
//
// Files come in, in order, as FileResults; nothing of a file is kept once its result is handed on.
package lint
