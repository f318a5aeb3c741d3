package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// A program is built once from Go modules and kept below the user's cache directory.
type program struct {
	name    string
	version string
	dir     string // of the module in which it is built
	pkg     string // main package
	ldflags string
	sources []string // files and directories below dir that decide what is built
}

// cacheDir returns where programs and running clusters are kept.
func cacheDir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(user, "kandev-podlint", "cluster")
	return dir, os.MkdirAll(dir, 0o755)
}

// build returns the path of the executable, which it makes unless it is there already. Of processes that want
// the same one, one builds it and the others wait.
func (p program) build(ctx context.Context, logf func(string, ...any)) (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, fmt.Sprintf("%s-%s-%s", p.name, p.version, key))
	target := filepath.Join(dir, p.name)
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	logf("building %s %s", p.name, p.version)
	if err := p.compile(ctx, target+".new"); err != nil {
		return "", err
	}
	return target, os.Rename(target+".new", target)
}

func (p program) compile(ctx context.Context, output string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-buildvcs=false", "-trimpath",
		"-ldflags", "-s -w "+p.ldflags, "-o", output, p.pkg)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s %s: %w\n%s", p.name, p.version, err, out)
	}
	return nil
}

// key is a hash of all that decides what build makes.
func (p program) key() (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, p.pkg, p.ldflags)
	for _, source := range p.sources {
		err := filepath.WalkDir(filepath.Join(p.dir, source), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			_, _ = fmt.Fprintf(h, "%s %d\n%s", d.Name(), len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// lock waits until it holds the file's lock, which also ends with the process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

// tail returns the last lines of a log.
func tail(path string) string {
	const lines = 30
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
