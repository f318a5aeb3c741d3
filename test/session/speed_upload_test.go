package session

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
	"github.com/kandev/kandev-podlint/test/cluster"
)

// TestSpeedUpload uploads files, each beside a kubectl cp of the same, into an image of busybox, into one with this machine's own
// tools, openssl among them, and into one that has busybox's lzop besides.
func TestSpeedUpload(t *testing.T) {
	measures(t)
	w := newWorld(t)
	const ownTools, withLzop = "kandev.test/own-tools:1", "kandev.test/own-tools:lzop"
	for name, layer := range map[string]io.ReadSeeker{ownTools: ownToolsLayer(t, nil), withLzop: ownToolsLayer(t, map[string]string{"lzop": "busybox"})} {
		if err := w.cluster.ImportImage(t.Context(), cluster.Image{Name: name, Env: []string{"PATH=/usr/bin:/bin"}}, layer); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string][]byte{"noise": make([]byte, 64<<20), "kube-scheduler": scheduler(t)}
	rand.Read(files["noise"])
	for name, image := range map[string]string{"busybox": cluster.BusyboxImage, "own tools": ownTools, "own tools and lzop": withLzop} {
		r := w.speedRequest(strings.ReplaceAll(name, " ", "-"))
		r.Template.Spec.Containers[0].Image = image
		for file, data := range files {
			t.Run(name+", "+file, func(t *testing.T) { w.uploads(t, r, data) })
		}
	}
}

// uploads measures uploads into a session of its own.
func (w *world) uploads(t *testing.T, r executor.Request, data []byte) {
	e, _ := w.counted("upload")
	s, err := e.Launch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	kubectl, err := cluster.Kubectl(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	client, pod, blob := w.client(), s.Row.Pod.Name, upload.NewBlob(data)
	run := func(ctx context.Context, command []string, stdin io.Reader, stdout, stderr io.Writer) error {
		return client.Exec(ctx, executor.ExecOptions{Namespace: namespace, Pod: pod, Container: "kandev-agent", Command: command, Stdin: stdin, Stdout: stdout, Stderr: stderr})
	}
	var ours, copies times
	for range max(3, *rounds/2) {
		ours = append(ours, timed(func() {
			err := upload.Send(t.Context(), run, upload.Request{Files: []upload.File{{Path: "/opt/kandev/measured", Mode: 0o755, Content: blob}}})
			if err != nil {
				t.Fatal(err)
			}
		}))
		copies = append(copies, timed(func() {
			out, err := exec.Command(kubectl, "--kubeconfig", w.cluster.Kubeconfig(), "cp", file, namespace+"/"+pod+":/opt/kandev/copied", "-c", "kandev-agent").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}))
	}
	t.Logf("%d bytes: upload:     %v", len(data), ours)
	t.Logf("%d bytes: kubectl cp: %v", len(data), copies)
	if err := e.Cleanup(t.Context(), r.Identity.InstanceID); err != nil {
		t.Fatal(err)
	}
}

// scheduler is a real static Go program.
func scheduler(t *testing.T) []byte {
	t.Helper()
	kubectl, err := cluster.Kubectl(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(kubectl)), "kube-scheduler-*", "kube-scheduler"))
	if err != nil || len(found) == 0 {
		t.Fatal("no binary", err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ownToolsLayer is a root file system of programs of this machine, more of them under names of their own, with the libraries
// that they load.
func ownToolsLayer(t *testing.T, more map[string]string) io.ReadSeeker {
	t.Helper()
	programs := map[string]string{}
	maps.Copy(programs, more)
	for _, tool := range strings.Fields("dash cat chmod dd mkdir mv rm sha256sum wc stat sleep gzip openssl tar mkfifo env") {
		programs[tool] = tool
	}
	files := map[string]string{} // on this machine, by path in the image
	for name, tool := range programs {
		at, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		files["usr/bin/"+name] = at
		libraries, _ := exec.Command("ldd", at).Output() // fails for a static program
		for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1) {
			files[strings.TrimPrefix(library, "/")] = library
		}
	}
	files["bin/sh"] = files["usr/bin/dash"]
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	for name, at := range files {
		data, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(layer.Bytes())
}
