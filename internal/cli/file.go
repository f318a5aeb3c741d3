package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// pendingFile is a file that gets its name only when it is whole.
type pendingFile struct {
	file    *os.File
	name    string
	inPlace bool // written under its name from the start
}

// createFile starts a file that will replace the one that a name, or the symbolic link of that name, stands
// for. What is no regular file, such as /dev/stdout, is written in place.
func createFile(name string) (*pendingFile, error) {
	resolved, err := followLinks(name)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(resolved)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a file to write", name)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(resolved, os.O_WRONLY, 0) //nolint:gosec // the user names the file
		return &pendingFile{file: f, name: name, inPlace: true}, cannotWrite(name, err)
	case err == nil:
		mode = info.Mode().Perm()
	}
	temporary := filepath.Join(filepath.Dir(resolved),
		"."+filepath.Base(resolved)+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp") //nolint:gosec // unique, not secret
	f, openErr := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the user's umask decides who may read it
	if openErr != nil {
		return nil, cannotWrite(name, openErr)
	}
	if err == nil { // the new file may be read and written by whom the old one could, whatever the umask
		_ = f.Chmod(mode)
	}
	return &pendingFile{file: f, name: resolved}, nil
}

// maxLinks is how many symbolic links a name may lead through.
const maxLinks = 40

// followLinks returns the path at the end of symbolic links, which need not exist.
func followLinks(name string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil //nolint:nilerr // no link, or nothing there yet
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		name = target
	}
	return "", errors.New("its symbolic links go round in circles")
}

// Write writes to the file under its temporary name, and blames its own one.
func (p *pendingFile) Write(data []byte) (int, error) {
	n, err := p.file.Write(data)
	return n, cannotWrite(p.name, err)
}

// finish gives the file its name, or removes it.
func (p *pendingFile) finish(keep bool) error {
	err := p.file.Close()
	if p.inPlace {
		return cannotWrite(p.name, err)
	}
	if err == nil && keep {
		err = os.Rename(p.file.Name(), p.name)
	}
	if err != nil || !keep {
		_ = os.Remove(p.file.Name())
	}
	return cannotWrite(p.name, err)
}

// cannotWrite names the file in an error in place of the system call.
func cannotWrite(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be written: %w", name, err)
}
