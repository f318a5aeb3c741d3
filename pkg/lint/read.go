package lint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
	"github.com/kandev/kandev-podlint/pkg/compose"
)

// maxFileBytes bounds what is read of a file: a profile may hold more than its template.
const maxFileBytes = 4 * compose.MaxTemplateBytes

// readFile reads a file as far as a template or profile could go; one byte more says that it goes on. A
// pipe is given up when the context ends.
func readFile(ctx context.Context, path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	}
	return readUpTo(f, info.Size())
}

func readUpTo(r io.Reader, size int64) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, min(size, maxFileBytes)+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(r, maxFileBytes+1))
	return buf.Bytes(), err
}

// readStdin reads what the path "-" stands for.
func (l *Linter) readStdin() ([]byte, error) {
	if l.o.Stdin == nil {
		return nil, errors.New("there is no standard input")
	}
	return readUpTo(l.o.Stdin, 0)
}

// checkRegular refuses a file that could block or never end.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errors.New("a directory, not a file")
	}
	return irregular(path, info.Mode())
}

// irregular refuses what could block or never end. A shell's process substitution is a pipe that does end.
func irregular(path string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular(), strings.HasPrefix(path, "/dev/fd/"), strings.HasPrefix(path, "/proc/self/fd/"), path == "/dev/stdin":
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

// templateMention is what a template or profile holds somewhere near its start.
var templateMention = lazyregexp.New(`(?i)kind["']?\s*:\s*["']?podtemplates?\b|pod_template_(yaml|file)["']?\s*:`)

// mentionsTemplate reports whether a file that cannot be read whole was meant to hold a template.
func mentionsTemplate(data []byte) bool {
	head := data[:min(len(data), 64*1024)]
	return templateMention().Match(bytes.ReplaceAll(head, []byte{0}, nil)) // UTF-16 too
}
