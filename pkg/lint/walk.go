package lint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
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
	sources := expand(paths)
	for _, s := range sources {
		w.named[filepath.Clean(s.path)] = s.named
	}
	for _, p := range sources {
		if !w.path(p) {
			return
		}
	}
}

// expand replaces globs by what they match, and sorts what is named.
func expand(paths []string) []source {
	var out []source
	for _, p := range paths {
		out = append(out, expandOne(p)...)
	}
	slices.SortStableFunc(out, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return out
}

func expandOne(p string) []source {
	if p == Stdin || !strings.ContainsAny(p, "*?[{") {
		return []source{{path: p, named: true}}
	}
	if _, err := os.Lstat(p); err == nil {
		return []source{{path: p, named: true}}
	}
	matches, err := doublestar.FilepathGlob(p)
	switch {
	case err != nil:
		return []source{{path: p, err: fmt.Errorf("not a glob: %w", err)}}
	case len(matches) == 0:
		return []source{{path: p, err: errors.New("no file matches this glob")}}
	}
	out := make([]source, 0, len(matches))
	for _, m := range matches {
		out = append(out, source{path: m})
	}
	return out
}

type walker struct {
	visit func(source) bool
	seen  map[string]bool // directories walked and files named, cleaned
	named map[string]bool // what the user named, cleaned: it stays so where a directory is named too
}

// path visits one named path; it reports whether to go on.
func (w *walker) path(s source) bool {
	if s.err != nil {
		return w.visit(s)
	}
	clean := filepath.Clean(s.path)
	if w.covered(clean) {
		return true
	}
	w.seen[clean] = true
	if s.path == Stdin {
		return w.visit(s)
	}
	info, err := os.Stat(s.path)
	switch {
	case err != nil:
		return w.visit(source{path: s.path, named: true, err: plain(err)})
	case info.IsDir():
		return w.dir(s.path)
	case !s.named && !hasTemplateExtension(s.path):
		return true
	}
	return w.visit(source{path: s.path, named: s.named, err: irregular(s.path, info)})
}

// covered reports whether a path was visited already, itself or with a directory above it.
func (w *walker) covered(clean string) bool {
	for p := clean; ; p = filepath.Dir(p) {
		if w.seen[p] {
			return true
		}
		if parent := filepath.Dir(p); parent == p {
			return false
		}
	}
}

// dir visits what a directory holds, ordered as the paths below it sort.
func (w *walker) dir(dir string) bool {
	entries, err := readDir(dir)
	if err != nil {
		return w.visit(source{path: dir, named: true, err: plain(err)})
	}
	for _, name := range entries {
		p := joinAsGiven(dir, strings.TrimSuffix(name, string(filepath.Separator)))
		if strings.HasSuffix(name, string(filepath.Separator)) {
			if !w.dir(p) {
				return false
			}
			continue
		}
		if !w.file(p) {
			return false
		}
	}
	return true
}

func (w *walker) file(p string) bool {
	named := w.named[filepath.Clean(p)]
	info, err := os.Stat(p)
	switch {
	case err != nil:
		return w.visit(source{path: p, named: named, err: plain(err)})
	case info.IsDir(): // a symbolic link: following it could go round in circles
		return true
	}
	return w.visit(source{path: p, named: named, err: irregular(p, info)})
}

// readDir returns the names of a directory's templates-to-be and, with a separator at the end, of its
// directories, ordered as their paths sort.
func readDir(dir string) ([]string, error) {
	f, err := os.Open(dir) //nolint:gosec // the user names the directory
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	var names []string
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			switch {
			case e.IsDir() && e.Name() != ".git":
				names = append(names, e.Name()+string(filepath.Separator))
			case !e.IsDir() && hasTemplateExtension(e.Name()):
				names = append(names, e.Name())
			}
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// joinAsGiven keeps a leading "./", so that paths are printed as the user gave them.
func joinAsGiven(dir, name string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
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

// irregular refuses what could block or never end. A shell's process substitution is a pipe that does end.
func irregular(p string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular(), strings.HasPrefix(p, "/dev/fd/"), strings.HasPrefix(p, "/proc/self/fd/"), p == "/dev/stdin":
		return nil
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("a named pipe, which could wait for ever; use - to read standard input")
	case mode&fs.ModeSocket != 0:
		return errors.New("a socket, not a file")
	}
	return errors.New("a device, not a file")
}

// plain drops the operation and path from a file error: the finding names the file already.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
