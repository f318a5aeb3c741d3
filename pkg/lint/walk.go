package lint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that stands for standard input, and StdinName is how findings call it.
const (
	Stdin     = "-"
	StdinName = "<stdin>"
)

// source is one file to lint.
type source struct {
	path  string
	named bool  // the user named it, so it must hold a template
	err   error // why it could not even be looked at
}

// walk visits the files that the paths select, in path order, each once. It holds no more than the
// names of one directory and its parents at a time.
func walk(paths []string, visit func(source) bool) {
	w := &walker{visit: visit, seen: map[string]bool{}, named: map[string]bool{}}
	roots := expand(paths)
	for _, r := range roots {
		abs := absolute(r.path)
		w.named[abs] = w.named[abs] || r.named
	}
	for _, r := range roots {
		if !w.root(r) {
			return
		}
	}
}

type walker struct {
	visit func(source) bool
	seen  map[string]bool // roots visited, absolute
	named map[string]bool // what the user named, absolute: it stays so where a directory is named too
}

// root visits one named path; it reports whether to go on.
func (w *walker) root(r root) bool {
	if r.err != nil || r.path == Stdin {
		return w.once(r.path) || w.visit(r.source)
	}
	abs := absolute(r.path)
	if w.covered(abs) {
		return true
	}
	w.seen[abs] = true
	switch {
	case r.mode.IsDir():
		return w.dir(r.path, abs)
	case !w.named[abs] && !hasTemplateExtension(r.path):
		return true
	}
	return w.visit(source{path: r.path, named: w.named[abs], err: irregular(r.path, r.mode)})
}

// once reports whether a path that is no file was visited before, and notes that it is now.
func (w *walker) once(path string) bool {
	seen := w.seen[path]
	w.seen[path] = true
	return seen
}

// covered reports whether a path was visited already, itself or with a directory above it.
func (w *walker) covered(abs string) bool {
	for {
		if w.seen[abs] {
			return true
		}
		parent := filepath.Dir(abs)
		if parent == abs {
			return false
		}
		abs = parent
	}
}

// dir visits what a directory holds, ordered as the paths below it sort.
func (w *walker) dir(dir, abs string) bool {
	entries, err := readDir(dir)
	if err != nil {
		return w.visit(source{path: dir, named: true, err: plain(err)})
	}
	for _, e := range entries {
		if !w.entry(joinAsGiven(dir, e.name), filepath.Join(abs, e.name), e.mode) {
			return false
		}
	}
	return true
}

// entry visits one entry of a directory, unless it was named and visited already.
func (w *walker) entry(path, abs string, mode fs.FileMode) bool {
	if w.seen[abs] {
		return true
	}
	if mode.IsDir() {
		return w.dir(path, abs)
	}
	s := source{path: path, named: w.named[abs]}
	if !mode.IsRegular() {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			s.err = plain(err)
		case info.IsDir(): // a symbolic link: following it could go round in circles
			return true
		default:
			s.err = irregular(path, info.Mode())
		}
	}
	return w.visit(s)
}

// dirEntry is a directory, or a file that may hold a template.
type dirEntry struct {
	name string
	mode fs.FileMode // its type only, that of the link for a symbolic link
}

// sortKey orders entries as the paths of all files below them sort.
func (e dirEntry) sortKey() string {
	if e.mode.IsDir() {
		return e.name + string(filepath.Separator)
	}
	return e.name
}

// readDir returns the directories in a directory, Git's own aside, and its templates-to-be: no configuration.
func readDir(dir string) ([]dirEntry, error) {
	f, err := os.Open(dir) //nolint:gosec // the user names the directory
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	var out []dirEntry
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			if isOfInterest(e) {
				out = append(out, dirEntry{e.Name(), e.Type()})
			}
		}
		if errors.Is(err, io.EOF) {
			slices.SortFunc(out, func(a, b dirEntry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func isOfInterest(e fs.DirEntry) bool {
	if e.IsDir() {
		return e.Name() != ".git"
	}
	return e.Name() != ConfigName && hasTemplateExtension(e.Name())
}

// joinAsGiven keeps a path as the user gave it: a leading "./" stays, but "." alone is not written out.
func joinAsGiven(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case os.IsPathSeparator(dir[len(dir)-1]):
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

func hasTemplateExtension(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// absolute tells whether two paths are one. Where the working directory is gone, the path must do.
func absolute(path string) string {
	if path == Stdin {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return abs
}
