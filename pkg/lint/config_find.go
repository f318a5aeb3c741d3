package lint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// FindConfig returns the configuration that counts in a directory, nil where there is none. The error is a *ConfigError.
func FindConfig(dir string) (*Config, error) {
	return new(configs).forFile(filepath.Join(dir, ConfigName))
}

// configs finds and keeps the configuration of each directory.
type configs struct {
	fixed *Config // named by the user: no search

	mu    sync.Mutex
	byDir map[string]*configEntry // by directory, as given and absolute
}

type configEntry struct {
	config *Config
	err    error
}

// forFile returns the configuration of a file, nil where there is none. Standard input's is that of the
// working directory.
func (c *configs) forFile(file string) (*Config, error) {
	if c.fixed != nil {
		return c.fixed, nil
	}
	dir := "."
	if file != StdinName {
		dir = filepath.Dir(file)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byDir[dir]
	if e == nil {
		if c.byDir == nil {
			c.byDir = map[string]*configEntry{}
		}
		e = c.search(absolute(dir))
		c.byDir[dir] = e
	}
	return e.config, e.err
}

// search looks for a configuration in a directory and those above it.
func (c *configs) search(dir string) *configEntry {
	if e := c.byDir[dir]; e != nil {
		return e
	}
	e := readEntry(filepath.Join(dir, ConfigName))
	if parent := filepath.Dir(dir); e == nil && parent != dir {
		e = c.search(parent)
	}
	if e == nil {
		e = &configEntry{}
	}
	c.byDir[dir] = e
	return e
}

// readEntry reads a configuration, nil where there is none.
func readEntry(file string) *configEntry {
	file = fromHere(file)
	config, err := ReadConfig(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, ok := errors.AsType[*ConfigError](err); err != nil && !ok {
		fault := &ConfigError{File: file}
		fault.add(compose.Range{}, "the configuration cannot be read: "+plain(err).Error(), "correct the file's permissions, or remove it")
		err = fault
	}
	return &configEntry{config, err}
}

// fromHere writes an absolute path relative to the working directory, where it lies below that.
func fromHere(file string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}
