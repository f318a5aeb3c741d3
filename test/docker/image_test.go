package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// debian is where the packages of the images come from.
const debian, suite = "http://deb.debian.org/debian", "trixie"

// lifecyclePackages are what the lifecycle of a session with a Docker engine needs: one image for agent and engine.
var lifecyclePackages = []string{"ca-certificates", "docker.io", "docker-cli", "iptables", "git"}

// leftOut is what no container needs of a root file system.
var leftOut = []string{
	"./dev/*", "./proc/*", "./sys/*", "./var/cache/apt/*", "./var/lib/apt/lists/*", "./usr/share/doc/*", "./usr/share/locale/*", "./usr/share/man/*",
}

// cacheDir is where images are kept.
func cacheDir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(user, "kandev-podlint", "docker")
	return dir, os.MkdirAll(dir, 0o755)
}

// cached returns a file of the cache that is named after what it is made of, and has it made where it is not there.
func cached(kind string, madeOf []byte, build func(dir, file string) error) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(madeOf)
	file := filepath.Join(dir, kind+"-"+hex.EncodeToString(key[:6])+".tar")
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := build(dir, file+".new"); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return file, os.Rename(file+".new", file)
}

// lock waits for a lock, which ends with the process too.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

// rootFS returns a root file system of Debian with packages, as a tar archive.
func rootFS(ctx context.Context, packages ...string) (string, error) {
	return cached("debian", []byte(strings.Join(append([]string{debian, suite}, packages...), "\n")), func(dir, file string) error {
		if _, err := exec.LookPath("debootstrap"); err != nil {
			return errors.New("an image needs debootstrap; install the package")
		}
		root, err := os.MkdirTemp(dir, "root-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(root)                                        //nolint:errcheck // a failure is seen by the next run's space
		args := []string{"--mount", "debootstrap", "--variant=minbase"} // in a mount namespace of its own, with which its mounts go
		if len(packages) > 0 {
			args = append(args, "--include="+strings.Join(packages, ","))
		}
		if err := run(ctx, "unshare", append(args, suite, root, debian)...); err != nil {
			return err
		}
		args = []string{"--create", "--file", file, "--directory", root}
		for _, path := range leftOut {
			args = append(args, "--exclude="+path)
		}
		return run(ctx, "tar", append(args, ".")...)
	})
}

// run runs a command, whose output is of interest only where it fails.
func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// nestedLayer is a root file system for nested containers, of nothing but busybox.
func nestedLayer() (io.Reader, error) {
	at, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	errs := []error{
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}),
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}),
	}
	_, err = archive.Write(program)
	errs = append(errs, err)
	for _, command := range []string{"cat", "dd", "mkdir", "mount", "rm", "seq", "sh", "sleep", "tail", "touch"} {
		errs = append(errs, archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + command, Linkname: "busybox"}))
	}
	return &layer, errors.Join(append(errs, archive.Close())...)
}

// giveNested gives a session's engine the image of which nested containers are made.
func (w *world) giveNested(e *executor.Executor, id string) {
	w.t.Helper()
	layer, err := nestedLayer()
	if err != nil {
		w.t.Fatal(err)
	}
	w.feed(e, id, "docker import - nested:1", layer)
}

// importImages gives the node the image of the engine, and that of the agent where it is another one.
func importImages(ctx context.Context, c *cluster.Cluster, engineFile, agentFile string) (images, error) {
	layer, err := os.Open(engineFile)
	if err != nil {
		return images{}, err
	}
	defer layer.Close() //nolint:errcheck // opened for reading
	const name = "kandev.test/engine"
	image := cluster.Image{Name: name + ":1", Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, Cmd: []string{"/bin/sh"}}
	if err := c.ImportImage(ctx, image, layer); err != nil {
		return images{}, err
	}
	one, err := byDigest(ctx, c, name)
	if agentFile == "" || err != nil {
		return images{one, one}, err
	}
	archive, err := os.Open(agentFile)
	if err != nil {
		return images{}, err
	}
	defer archive.Close() //nolint:errcheck // opened for reading
	load := c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "import", "-")
	load.Stdin = archive
	if out, err := load.CombinedOutput(); err != nil {
		return images{}, fmt.Errorf("importing %s: %w\n%s", agentFile, err, out)
	}
	other, err := byDigest(ctx, c, recipeName)
	return images{agent: other, engine: one}, err
}

// byDigest names an image on the node as a registry would be asked for it.
func byDigest(ctx context.Context, c *cluster.Cluster, name string) (string, error) {
	list, err := c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "list", "name=="+name+":1").Output()
	if err != nil {
		return "", err
	}
	for field := range strings.FieldsSeq(string(list)) {
		reference := name + "@" + field
		if ref, ok := compose.ParseImage(reference); ok && ref.Digest != "" {
			return reference, c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "tag", name+":1", reference).Run()
		}
	}
	return "", fmt.Errorf("the node does not list %s:\n%s", name, list)
}
