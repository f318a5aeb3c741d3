package lint

import (
	"path/filepath"
	"sync"
)

// relative writes paths with slashes and relative to one directory, wherever the process runs. Each
// directory is looked up once.
type relative struct {
	base string

	mu   sync.Mutex
	dirs map[string]string // by directory as given
}

func newRelative(dir string) *relative {
	return &relative{base: resolve(dir), dirs: map[string]string{}}
}

// of returns the path of a file. Standard input has no place; a file on another volume keeps its own path, as
// does every file where there is no directory.
func (r *relative) of(file string) string {
	switch {
	case file == StdinName:
		return file
	case r == nil:
		return filepath.ToSlash(filepath.Clean(file))
	}
	return filepath.ToSlash(filepath.Join(r.dir(filepath.Dir(file)), filepath.Base(file)))
}

func (r *relative) dir(given string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rel, ok := r.dirs[given]; ok {
		return rel
	}
	rel := resolve(given)
	if below, err := filepath.Rel(r.base, rel); err == nil {
		rel = below
	}
	r.dirs[given] = rel
	return rel
}

// resolve makes a directory absolute and follows its symbolic links, as far as it exists.
func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	return abs
}
