package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// The images that a node has. Pods name them with the pull policy IfNotPresent, since no registry has them.
const (
	// PauseImage holds one static program, which waits for a signal. Sandboxes run it.
	PauseImage = "kandev.test/pause:1"
	// BusyboxImage holds the POSIX tools, below /bin and /usr/bin, and runs a shell.
	BusyboxImage = "kandev.test/busybox:1"
)

// An Image says what a container of an image runs where the Pod does not say it.
type Image struct {
	Name       string   `json:"-"` // with a tag
	Entrypoint []string `json:",omitempty"`
	Cmd        []string `json:",omitempty"`
	Env        []string `json:",omitempty"`
	User       string   `json:",omitempty"`
	WorkingDir string   `json:",omitempty"`
}

// ImportImage gives the node an image whose file system is the one layer, a tar archive.
func (c *Cluster) ImportImage(ctx context.Context, image Image, layer io.ReadSeeker) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeImage(writer, image, layer)) }()
	defer func() { _ = reader.Close() }()
	cmd := c.NodeCommand(ctx, "ctr", "--namespace", "k8s.io", "images", "import", "-")
	cmd.Stdin = reader
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("importing %s: %w\n%s", image.Name, err, out)
	}
	return nil
}

// writeImage writes the archive that "docker save" would.
func writeImage(w io.Writer, image Image, layer io.ReadSeeker) error {
	hash := sha256.New()
	size, err := io.Copy(hash, layer)
	if err != nil {
		return err
	}
	if _, err := layer.Seek(0, io.SeekStart); err != nil {
		return err
	}
	layerDigest := hex.EncodeToString(hash.Sum(nil))
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       image,
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + layerDigest}},
	})
	if err != nil {
		return err
	}
	configDigest := sha256.Sum256(config)
	configName, layerName := hex.EncodeToString(configDigest[:])+".json", layerDigest+"/layer.tar"
	manifest, err := json.Marshal([]map[string]any{
		{"Config": configName, "RepoTags": []string{image.Name}, "Layers": []string{layerName}},
	})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	return errors.Join(
		addFile(archive, "manifest.json", 0o644, int64(len(manifest)), bytes.NewReader(manifest)),
		addFile(archive, configName, 0o644, int64(len(config)), bytes.NewReader(config)),
		addFile(archive, layerName, 0o644, size, layer),
		archive.Close(),
	)
}

func addFile(archive *tar.Writer, name string, mode, size int64, content io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// importImages gives the node the images that every node has.
func (c *Cluster) importImages(ctx context.Context) error {
	pause, err := pauseLayer(c.programs["pause"])
	if err != nil {
		return err
	}
	image := Image{Name: PauseImage, Entrypoint: []string{"/pause"}, User: "65535:65535"}
	if err := c.ImportImage(ctx, image, pause); err != nil {
		return err
	}
	busybox, err := busyboxLayer(c.programs["busybox"])
	if err != nil {
		return err
	}
	return c.ImportImage(ctx, Image{Name: BusyboxImage, Env: []string{"PATH=/usr/bin:/bin"}, Cmd: []string{"sh"}}, busybox)
}

func pauseLayer(executable string) (io.ReadSeeker, error) {
	program, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	err = errors.Join(
		addFile(archive, "pause", 0o755, int64(len(program)), bytes.NewReader(program)),
		archive.Close(),
	)
	return bytes.NewReader(layer.Bytes()), err
}

// busyboxLayer is a small root file system: busybox with a link for each of its commands.
func busyboxLayer(executable string) (io.ReadSeeker, error) {
	if err := checkStatic(executable); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	list, err := exec.Command(executable, "--list").Output()
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	const users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
	const groups = "root:x:0:\nnogroup:x:65534:\n"
	errs := []error{
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}),
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "root/", Mode: 0o700}),
		archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "usr/bin", Linkname: "../bin"}),
		addFile(archive, "etc/passwd", 0o644, int64(len(users)), strings.NewReader(users)),
		addFile(archive, "etc/group", 0o644, int64(len(groups)), strings.NewReader(groups)),
		addFile(archive, "bin/busybox", 0o755, int64(len(program)), bytes.NewReader(program)),
	}
	for command := range strings.FieldsSeq(string(list)) {
		if command != "busybox" {
			link := &tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + command, Linkname: "busybox"}
			errs = append(errs, archive.WriteHeader(link))
		}
	}
	errs = append(errs, archive.Close())
	return bytes.NewReader(layer.Bytes()), errors.Join(errs...)
}

// checkStatic returns an error for a program that needs an interpreter, which an image without libraries lacks.
func checkStatic(executable string) error {
	f, err := elf.Open(executable)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return fmt.Errorf("%s needs shared libraries; install busybox-static", executable)
	}
	return nil
}
