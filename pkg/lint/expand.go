package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// root is a path that the user named, or that a glob of theirs matches.
type root struct {
	source
	mode fs.FileMode
}

// sortKey orders roots as the paths of all files below them sort.
func (r root) sortKey() string {
	if r.mode.IsDir() {
		return joinAsGiven(r.path, "")
	}
	return r.path
}

// expand replaces globs by what they match, and sorts what is named.
func expand(paths []string) []root {
	var out []root
	for _, p := range paths {
		out = append(out, expandOne(p)...)
	}
	slices.SortStableFunc(out, func(a, b root) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return out
}

func expandOne(p string) []root {
	if p == Stdin || !strings.ContainsAny(p, "*?[{") {
		return []root{lookAt(p, true)}
	}
	if _, err := os.Lstat(p); err == nil { //nolint:gosec // the user names the path, and a file may be called so
		return []root{lookAt(p, true)}
	}
	matches, err := doublestar.FilepathGlob(p, doublestar.WithFailOnIOErrors())
	if err == nil && len(matches) == 0 {
		err = errors.New("no file matches this glob")
	}
	var out []root
	if err != nil {
		out = append(out, root{source: source{path: p, named: true, err: globError(err)}})
		matches, _ = doublestar.FilepathGlob(p) // what can be reached is linted all the same
	}
	for _, m := range matches {
		out = append(out, lookAt(m, false))
	}
	return out
}

// globError says what is wrong with a glob, or below it.
func globError(err error) error {
	if errors.Is(err, doublestar.ErrBadPattern) {
		return fmt.Errorf("not a glob: %w", err)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("a directory that it leads through: %w", pe.Err)
	}
	return err
}

// lookAt finds out what is at a path.
func lookAt(p string, named bool) root {
	r := root{source: source{path: p, named: named}}
	if p == Stdin {
		return r
	}
	info, err := os.Stat(p) //nolint:gosec // the user names the path
	if err != nil {
		r.named, r.err = true, plain(err)
		return r
	}
	r.mode = info.Mode()
	return r
}
