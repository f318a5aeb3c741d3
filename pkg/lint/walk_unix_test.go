//go:build unix

package lint

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What could block for ever is refused, be it named, found, or named by a profile.
func TestIrregularFiles(t *testing.T) {
	dir := write(t, map[string]string{"profile.yaml": "pod_template_file: pipe.yaml\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // a test's
	var got []string
	for _, r := range paths(t, Options{}, dir) {
		for _, f := range r.Findings {
			got = append(got, filepath.Base(r.File)+": "+f.Message)
		}
	}
	want := []string{
		"pipe.yaml: cannot be read: a named pipe, which could wait for ever; use - to read standard input",
		"profile.yaml: the profile's pod_template_file pipe.yaml cannot be read: a named pipe, which could wait for ever; use - to read standard input",
		"socket.yaml: cannot be read: a socket, not a file",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

// Process substitution is a pipe that a shell fills; reading it ends with the context.
func TestProcessSubstitution(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // a test's
	defer w.Close() //nolint:errcheck // a test's
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	err = New(Options{}).Paths(ctx, []string{name}, func(FileResult) error { return nil })
	if err == nil {
		t.Error("reading did not end with the context")
	}
	go func() {
		_, _ = w.WriteString(template("hostPID: true"))
		_ = w.Close()
	}()
	if rs := paths(t, Options{}, name); len(rs) != 1 || len(rs[0].Findings) != 1 || rs[0].File != name {
		t.Error(brief(rs...))
	}
}
