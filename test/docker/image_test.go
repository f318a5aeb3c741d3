package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// debian is where the packages of the images come from.
const debian, suite = "http://deb.debian.org/debian", "trixie"

// lifecyclePackages are what the lifecycle of a session with a Docker engine needs: one image for agent and engine. The
// nested image is made of busybox.
var lifecyclePackages = []string{"ca-certificates", "docker.io", "docker-cli", "iptables", "git", "busybox-static"}

// leftOut is what no container needs of a root file system.
var leftOut = []string{
	"./dev/*", "./proc/*", "./sys/*", "./var/cache/apt/*", "./var/lib/apt/lists/*", "./usr/share/doc/*", "./usr/share/locale/*", "./usr/share/man/*",
}

// cacheDir is where images are kept.
func cacheDir(t *testing.T) string {
	t.Helper()
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(user, "kandev-podlint", "docker")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// archive returns a root file system with packages as a tar archive, which is built once.
func archive(t *testing.T, packages []string) string {
	t.Helper()
	dir := cacheDir(t)
	key := sha256.Sum256([]byte(strings.Join(append([]string{debian, suite}, packages...), "\n")))
	file := filepath.Join(dir, hex.EncodeToString(key[:6])+".tar")
	defer locked(t, filepath.Join(dir, "lock"))()
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Fatal("an image needs debootstrap; install the package")
	}
	t.Logf("assembling %s from %d packages and what they need", file, len(packages))
	root, err := os.MkdirTemp(dir, "root-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root) //nolint:errcheck // a failure is seen by the next run's space
	// In a mount namespace of its own, so that what debootstrap mounts goes with it.
	run(t, "unshare", "--mount", "debootstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), suite, root, debian)
	args := []string{"--create", "--file", file + ".new", "--directory", root}
	for _, path := range leftOut {
		args = append(args, "--exclude="+path)
	}
	run(t, "tar", append(args, ".")...)
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	return file
}

// locked waits for a lock, which ends with the process too.
func locked(t *testing.T, file string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() }
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// importImage gives the node an image and returns a reference by its digest, as a registry would be asked for it.
func importImage(ctx context.Context, c *cluster.Cluster, name, file string) (string, error) {
	layer, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer layer.Close() //nolint:errcheck // opened for reading
	image := cluster.Image{Name: name + ":1", Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, Cmd: []string{"/bin/sh"}}
	if err := c.ImportImage(ctx, image, layer); err != nil {
		return "", err
	}
	list, err := c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "list", "name=="+image.Name).Output()
	if err != nil {
		return "", err
	}
	for field := range strings.FieldsSeq(string(list)) {
		reference := name + "@" + field
		if _, ok := compose.ParseImage(reference); ok && strings.HasPrefix(field, "sha256:") {
			return reference, c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "tag", image.Name, reference).Run()
		}
	}
	return "", fmt.Errorf("the node does not list %s:\n%s", image.Name, list)
}
