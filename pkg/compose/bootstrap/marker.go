package bootstrap

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	markerHeader = "kandev-start 1"
	markerEnd    = "end"
)

// requiredFiles stand first in a marker, in this order; the script relies on it.
var requiredFiles = [...]string{AgentPath, RuntimeEnvPath, AuthEnvPath}

// File is one uploaded file, as it must be found whenever the container starts.
type File struct {
	Path   string            // absolute, in the runtime or auth volume
	Size   int64             // bytes
	SHA256 [sha256.Size]byte // of the content
}

// Marker is the start marker: the list of files that make an upload complete. Its text is
//
//	kandev-start 1
//	SHA256 SIZE PATH
//	...
//	end
//
// with single spaces, SHA256 as 64 lowercase hex digits, SIZE in decimal bytes, and PATH to the end of the line.
// AgentPath, RuntimeEnvPath and AuthEnvPath come first, in this order, then the others sorted by path. The
// last line tells a whole marker from one cut off. The number is the format's version.
type Marker struct {
	Files []File // in any order
}

// Encode returns the marker's text. It fails when a required file is missing, a path is listed twice or is one
// that the script would refuse, or a size is negative.
func (m Marker) Encode() ([]byte, error) {
	files := slices.SortedFunc(slices.Values(m.Files), func(a, b File) int {
		return cmp.Or(cmp.Compare(rank(a.Path), rank(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	if err := checkFiles(files); err != nil {
		return nil, fmt.Errorf("start marker: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, markerHeader)
	for _, f := range files {
		fmt.Fprintf(&b, "%x %d %s\n", f.SHA256, f.Size, f.Path)
	}
	fmt.Fprintln(&b, markerEnd)
	return b.Bytes(), nil
}

// rank puts the required files first.
func rank(p string) int {
	if i := slices.Index(requiredFiles[:], p); i >= 0 {
		return i
	}
	return len(requiredFiles)
}

// checkFiles checks a sorted list.
func checkFiles(files []File) error {
	for i, f := range files {
		if err := checkPath(f.Path); err != nil {
			return err
		}
		if f.Size < 0 {
			return fmt.Errorf("%s has a negative size", f.Path)
		}
		if i > 0 && f.Path == files[i-1].Path {
			return fmt.Errorf("%s is not listed exactly once", f.Path)
		}
	}
	for i, want := range requiredFiles {
		if i >= len(files) || files[i].Path != want {
			return fmt.Errorf("%s is not listed exactly once", want)
		}
	}
	return nil
}

// checkPath accepts what the script accepts, and what it reads back byte for byte from a line.
func checkPath(p string) error {
	unreadable := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case strings.ContainsFunc(p, unreadable) || strings.HasSuffix(p, " "):
		return fmt.Errorf("path %q has a control character or ends in a space", p)
	case path.Clean(p) != p:
		return fmt.Errorf("path %q is not in its shortest form", p)
	case p == HomePath || strings.HasPrefix(p, HomePath+"/"):
		return fmt.Errorf("path %q is in the agent's home, whose files change", p)
	case !strings.HasPrefix(p, path.Dir(AgentPath)+"/") && !strings.HasPrefix(p, path.Dir(AuthEnvPath)+"/"):
		return fmt.Errorf("path %q is outside the runtime and auth volumes", p)
	}
	return nil
}

// ParseMarker reads a marker's text. It accepts exactly what Encode writes.
func ParseMarker(text []byte) (Marker, error) {
	var m Marker
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[min(1, len(lines)):max(1, len(lines)-2)] {
		f, err := parseFile(line)
		if err != nil {
			return Marker{}, fmt.Errorf("start marker: line %q: %w", line, err)
		}
		m.Files = append(m.Files, f)
	}
	canonical, err := m.Encode()
	if err != nil {
		return Marker{}, err
	}
	if !bytes.Equal(text, canonical) {
		return Marker{}, errors.New("start marker: not in the canonical form, or cut off")
	}
	return m, nil
}

// parseFile reads one line; ParseMarker sees to it that the line is in its one right form.
func parseFile(line string) (File, error) {
	fields := strings.SplitN(line, " ", 3)
	if len(fields) != 3 {
		return File{}, errors.New("want SHA256 SIZE PATH")
	}
	f := File{Path: fields[2]}
	sum, err := hex.DecodeString(fields[0])
	if err != nil || len(sum) != len(f.SHA256) {
		return File{}, errors.New("want 64 hex digits first")
	}
	copy(f.SHA256[:], sum)
	if f.Size, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
		return File{}, errors.New("want a size in bytes second")
	}
	return f, nil
}
