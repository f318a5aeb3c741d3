package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// recipeName is the name of the recipe's image on the node.
const recipeName = "kandev.test/worker-full"

// Of the recipe's inputs two are not to be had without a registry, and one not from Debian's mirror. What stands in for them
// is part of the evidence.
var substitutions = []string{
	"`BASE_IMAGE`: the same Debian, assembled by debootstrap",
	"`DAEMON_IMAGE`: Debian's package docker.io, in an image assembled likewise",
	"`DEBIAN_MIRROR`: Debian's mirror of today",
}

// recipeImage builds the recipe's Dockerfile with buildah, and returns the image as an archive.
func recipeImage(ctx context.Context) (string, error) {
	base, err := rootFS(ctx)
	if err != nil {
		return "", err
	}
	var madeOf []byte
	for _, name := range []string{"Dockerfile", "pins.env", "smoke.sh"} {
		text, err := os.ReadFile(filepath.Join(recipe, name))
		if err != nil {
			return "", err
		}
		madeOf = append(madeOf, text...)
	}
	return cached("full", madeOf, func(dir, file string) error {
		if _, err := exec.LookPath("buildah"); err != nil {
			return errors.New("the recipe's image needs buildah; install the package")
		}
		b := buildah{ctx: ctx, global: []string{"--root", filepath.Join(dir, "buildah"), "--runroot", filepath.Join(dir, "buildah-run")}}
		b.base(base)
		b.build()
		b.do("push", "--quiet", recipeName+":1", "docker-archive:"+file+":"+recipeName+":1")
		b.do("rmi", "--all", "--force") // after a failure the layers stay for the next try
		return b.err
	})
}

// buildah runs buildah until something fails.
type buildah struct {
	ctx    context.Context
	global []string
	err    error
}

func (b *buildah) do(args ...string) {
	if b.err == nil {
		b.err = run(b.ctx, "buildah", slices.Concat(b.global, args)...)
	}
}

// base makes the image on which the recipe is built.
func (b *buildah) base(rootFS string) {
	const container = "kandev-base"
	b.do("from", "--name", container, "scratch")
	b.do("add", "--quiet", container, rootFS, "/")
	// What this machine trusts beside Debian's authorities, such as a proxy's.
	const trusted = "/usr/local/share/ca-certificates"
	if _, err := os.Stat(trusted); err == nil {
		b.do("add", "--quiet", container, trusted, trusted)
	}
	b.do("commit", "--quiet", "--rm", container, baseName)
}

const baseName = "localhost/kandev-base:1"

// build builds the Dockerfile from the pins, of which the last word counts.
func (b *buildah) build() {
	pins, err := os.ReadFile(filepath.Join(recipe, "pins.env"))
	if b.err == nil {
		b.err = err
	}
	args := []string{"bud", "--layers", "--network=host", "--isolation=chroot", "--tag", recipeName + ":1"}
	for _, pin := range regexp.MustCompile(`(?m)^[A-Z0-9_]+=.+$`).FindAllString(string(pins), -1) {
		args = append(args, "--build-arg", pin)
	}
	sum, err := inRelease(b.ctx)
	if b.err == nil {
		b.err = err
	}
	b.do(append(args, "--build-arg", "BASE_IMAGE="+baseName, "--build-arg", "DEBIAN_MIRROR="+debian, "--build-arg", "DEBIAN_INRELEASE_SHA256="+sum, recipe)...)
}

// inRelease is the checksum of the archive as it is today: the mirror has no other.
func inRelease(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, debian+"/dists/"+suite+"/InRelease", http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	h := sha256.New()
	if _, err := io.Copy(h, answer.Body); err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK {
		return "", errors.New(answer.Status)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
