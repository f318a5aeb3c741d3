package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// NodeVersion is the Kubernetes minor of which all parts of a node are built. Of the others there is only the
// API server.
const NodeVersion = "1.36"

// sourceDir returns the directory of this module.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// Versions returns the Kubernetes minors that can be started, oldest first.
func Versions() ([]string, error) {
	mods, err := filepath.Glob(filepath.Join(sourceDir(), "versions", "1.*", "go.mod"))
	if err != nil {
		return nil, err
	}
	if len(mods) == 0 {
		return nil, fmt.Errorf("no version modules below %s; it was compiled with -trimpath, or moved", sourceDir())
	}
	var minors []string
	for _, mod := range mods {
		minors = append(minors, filepath.Base(filepath.Dir(mod)))
	}
	slices.Sort(minors)
	return minors, nil
}

// VersionsVariable is the environment variable that lists the minors that tests of API servers run on.
const VersionsVariable = "KANDEV_CLUSTER_VERSIONS"

// TestVersions returns the minors that VersionsVariable lists, or else the oldest and the newest of Versions.
func TestVersions() ([]string, error) {
	if listed := strings.Fields(os.Getenv(VersionsVariable)); len(listed) > 0 {
		return listed, nil
	}
	all, err := Versions()
	if err != nil {
		return nil, err
	}
	return []string{all[0], all[len(all)-1]}, nil
}

// moduleProgram returns the program that pkg, of module, makes at the version that versions/NAME/go.mod requires.
func moduleProgram(name, module, pkg string) (program, error) {
	dir := filepath.Join(sourceDir(), "versions", name)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return program{}, err
	}
	m := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(mod)
	if m == nil {
		return program{}, fmt.Errorf("%s/go.mod does not require %s", dir, module)
	}
	return program{version: string(m[1]), dir: dir, pkg: pkg, sources: []string{"go.mod", "go.sum"}}, nil
}

// kubernetesProgram returns a command of Kubernetes. The version is linked in as the release does it: without it
// kubectl does not parse the server's version, and PodSecurity takes "latest" for another.
func kubernetesProgram(minor, command string) (program, error) {
	p, err := moduleProgram(minor, "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/"+command)
	if err != nil {
		return program{}, err
	}
	const pkg = "k8s.io/component-base/version"
	_, minorNumber, _ := strings.Cut(minor, ".")
	p.name = command
	p.ldflags = fmt.Sprintf("-X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=%s -X %s.gitTreeState=clean",
		pkg, p.version, pkg, pkg, minorNumber, pkg)
	return p, nil
}

func etcdProgram() (program, error) {
	const module = "go.etcd.io/etcd/server/v3"
	p, err := moduleProgram("etcd", module, module)
	p.name = "etcd"
	return p, err
}

// ownProgram returns a command of this module that is built from cmd/NAME and the given sources.
func ownProgram(name string, sources ...string) program {
	return program{
		name:    name,
		version: "v0",
		dir:     sourceDir(),
		pkg:     "./cmd/" + name,
		sources: append([]string{"go.mod", "go.sum", filepath.Join("cmd", name)}, sources...),
	}
}

// Kubectl returns the path of kubectl of NodeVersion. logf is told when it has to be built.
func Kubectl(ctx context.Context, logf func(format string, args ...any)) (string, error) {
	p, err := kubernetesProgram(NodeVersion, "kubectl")
	if err != nil {
		return "", err
	}
	return p.build(ctx, logf)
}
