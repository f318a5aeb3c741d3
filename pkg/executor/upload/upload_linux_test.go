package upload

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
)

// shells are the shells that an image may have as /bin/sh.
var shells = map[string][]string{
	"dash":    {"dash"},
	"busybox": {"busybox", "sh"},
	"bash":    {"bash", "--posix"},
}

// pod is a directory with the owned volumes, and how commands are executed in it.
type pod struct {
	root  string
	shell []string
	path  string // PATH of the image
	// spoil, if set, takes the place of the stream to the command.
	spoil func(io.Reader) io.Reader
	execs int
}

// exitError is what an Exec returns for a command that fails.
type exitError struct{ *exec.ExitError }

func (e exitError) ExitStatus() int { return e.ExitCode() }

func (p *pod) exec(ctx context.Context, command []string, stdin io.Reader, stdout, stderr io.Writer) error {
	p.execs++
	if !slices.Equal(command[:2], []string{"/bin/sh", "-c"}) {
		return fmt.Errorf("command %q", command)
	}
	if p.spoil != nil {
		stdin = p.spoil(stdin)
	}
	argv := slices.Concat(p.shell, command[1:])
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdout, c.Stderr = stdout, stderr
	c.Env = []string{"PATH=" + p.path, "wake=x", "count=9", "last=x", "root=/nowhere", "token=y"}
	c.WaitDelay = 10 * time.Second
	// Not c.Stdin: exec would wait for the reader, which as in pods/exec may outlive the command.
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	c.Cancel = in.Close // a command outlives its stream
	if err := c.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(in, stdin)
		_ = in.Close()
	}()
	err = c.Wait()
	if ctx.Err() != nil { // which pods/exec says, whatever becomes of the command
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitError{exit}
	}
	return err
}

func eachShell(t *testing.T, test func(t *testing.T, p *pod)) {
	t.Helper()
	inShells(t, shells, test)
}

// eachShellOfPATH runs a test that changes what tools the image has: busybox has all of its own, whatever PATH holds.
func eachShellOfPATH(t *testing.T, test func(t *testing.T, p *pod)) {
	t.Helper()
	ofPATH := maps.Clone(shells)
	delete(ofPATH, "busybox")
	inShells(t, ofPATH, test)
}

func inShells(t *testing.T, shells map[string][]string, test func(t *testing.T, p *pod)) {
	t.Helper()
	for name, argv := range shells {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s is not installed", argv[0])
			}
			t.Parallel()
			p := &pod{root: t.TempDir(), shell: argv, path: os.Getenv("PATH")}
			for _, dir := range []string{"/opt/kandev", "/run/kandev"} {
				if err := os.MkdirAll(p.root+dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			test(t, p)
		})
	}
}

func (p *pod) send(t *testing.T, r Request) error {
	t.Helper()
	return send(t.Context(), p.exec, r, p.root)
}

// tree lists what the volumes hold: mode, and content where it is short.
func (p *pod) tree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(p.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[strings.TrimPrefix(name, p.root)] = fmt.Sprintf("%o %x", info.Mode().Perm(), NewBlob(content).SHA256())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// want is the tree that files make.
func want(files ...File) map[string]string {
	tree := map[string]string{}
	for _, f := range files {
		tree[f.Path] = fmt.Sprintf("%o %x", f.Mode, f.Content.SHA256())
	}
	return tree
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// session is an upload of every kind of file.
func session() Request {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i), '\\', byte(i), '%', byte(i), '0')
	}
	return Request{
		Remove: []string{bootstrap.MarkerPath},
		Files: []File{
			{bootstrap.AgentPath, 0o755, NewBlob(noise(300_000))},
			{bootstrap.RuntimeEnvPath, 0o644, NewBlob([]byte("A=1\n"))},
			{bootstrap.AuthEnvPath, 0o600, NewBlob(all)},
			{bootstrap.HomePath + "/.config/a file", 0o600, NewBlob(nil)},
			{bootstrap.HomePath + "/.config/deeper/-n", 0o640, NewBlob([]byte("-n\n\n\n"))},
			{bootstrap.HomePath + "/edge", 0o600, NewBlob(noise(inlineBytes))},
			{bootstrap.HomePath + "/large", 0o600, NewBlob(bytes.Repeat([]byte("x\n"), 40_000))},
		},
		Last: File{bootstrap.MarkerPath, 0o600, NewBlob([]byte("kandev-start 1\nend\n"))},
	}
}

func TestSend(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		r := session()
		for range 2 { // the second finds everything there already
			if err := p.send(t, r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want(append(r.Files, r.Last)...), p.tree(t)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}
		if p.execs != 4 {
			t.Errorf("%d execs for two uploads of two large files each", p.execs)
		}
	})
}

// image is the PATH of an image with this machine's tools, less those that it lacks, and with programs of its own.
func image(t *testing.T, programs map[string]string, lacks ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range append(bootstrap.Tools(), "busybox", "dd", "gzip", "head", "openssl", "stat", "tr") {
		if slices.Contains(lacks, tool) || programs[tool] != "" {
			continue
		}
		if at, err := exec.LookPath(tool); err == nil {
			if err := os.Symlink(at, filepath.Join(dir, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, does := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An image without gzip gets the bytes as they are; one without another tool is refused.
func TestImages(t *testing.T) {
	eachShellOfPATH(t, func(t *testing.T, p *pod) {
		optional := []string{"dd", "gzip", "head", "openssl", "stat"}
		p.path = image(t, nil, optional...)
		r := session()
		if err := p.send(t, r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(append(r.Files, r.Last)...), p.tree(t)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		p.path = image(t, nil, append(optional, "sha256sum")...)
		rejected(t, p.send(t, r), bootstrap.ExitNoTool, "the image has no sha256sum")
	})
}

// A large file is hashed by openssl where that works, otherwise in halves where the image has dd, or else whole; what that says
// counts.
func TestHashes(t *testing.T) {
	for name, c := range map[string]struct {
		run   func(*testing.T, func(*testing.T, *pod))
		tools map[string]string // programs of the image's own
		lacks string
		code  int
	}{
		"openssl":                 {run: eachShell, tools: map[string]string{"openssl": `[ "$*" = "dgst -sha256 -r" ] && exec sha256sum`}},
		"openssl fails":           {run: eachShell, tools: map[string]string{"openssl": `echo 0123; exit 1`}},
		"openssl lies":            {run: eachShell, tools: map[string]string{"openssl": `echo 0123`}, code: bootstrap.ExitDigest},
		"halves":                  {run: eachShell, lacks: "openssl"},
		"halves, dd is cut":       {run: eachShellOfPATH, lacks: "openssl", tools: map[string]string{"dd": `head -c 100`}, code: bootstrap.ExitDigest},
		"halves, sha256sum fails": {run: eachShellOfPATH, lacks: "openssl", tools: map[string]string{"sha256sum": `exit 1`}, code: bootstrap.ExitDigest},
		"whole":                   {run: eachShellOfPATH, lacks: "openssl dd"},
		"whole, sha256sum lies":   {run: eachShellOfPATH, lacks: "openssl dd", tools: map[string]string{"sha256sum": `echo 0123`}, code: bootstrap.ExitDigest},
	} {
		t.Run(name, func(t *testing.T) {
			c.run(t, func(t *testing.T, p *pod) {
				p.path = image(t, c.tools, strings.Fields(c.lacks)...)
				err := p.send(t, Request{Files: []File{{bootstrap.AgentPath, 0o755, NewBlob(noise(5<<20 + 7))}}})
				if got, ok := errors.AsType[*RejectedError](err); (c.code == 0) != (err == nil) || ok && got.Code != c.code {
					t.Errorf("got %v, want status %d", err, c.code)
				}
			})
		})
	}
}

func rejected(t *testing.T, err error, code int, message string) {
	t.Helper()
	got, ok := errors.AsType[*RejectedError](err)
	if !ok || got.Code != code || got.Message != message {
		t.Errorf("got %v, want status %d: %s", err, code, message)
	}
}

// What is in the way is refused, and nothing has been changed but what came before it.
func TestRefusedPlaces(t *testing.T) {
	file := func(path string) Request {
		return Request{Files: []File{{path, 0o600, NewBlob([]byte("x"))}}}
	}
	eachShell(t, func(t *testing.T, p *pod) {
		outside := t.TempDir()
		for link, to := range map[string]string{"/run/kandev/home": outside, "/opt/kandev/agentctl": filepath.Join(outside, "agentctl")} {
			if err := os.Symlink(to, p.root+link); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(p.root+"/run/kandev/auth.env", 0o700); err != nil {
			t.Fatal(err)
		}
		rejected(t, p.send(t, file("/run/kandev/home/.netrc")), bootstrap.ExitSymlink, "/run/kandev/home is a symbolic link")
		rejected(t, p.send(t, file("/opt/kandev/agentctl")), bootstrap.ExitSymlink, "/opt/kandev/agentctl is a symbolic link")
		rejected(t, p.send(t, Request{Remove: []string{"/opt/kandev/agentctl"}}), bootstrap.ExitSymlink, "/opt/kandev/agentctl is a symbolic link")
		rejected(t, p.send(t, file("/run/kandev/auth.env")), bootstrap.ExitMissing, "/run/kandev/auth.env is a directory")
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("written outside: %v %v", entries, err)
		}
		for _, path := range []string{"/etc/passwd", "/opt/kandev", "/opt/kandev/", "/opt/kandev/../x", "/opt/kandev//x", "opt/kandev/x", "/workspace/x", "/opt/kandev/a\nb", "/opt/kandev/a ", ""} {
			if err := p.send(t, file(path)); err == nil || !strings.Contains(err.Error(), "is not a plain path in the runtime or auth volume") {
				t.Errorf("%q: %v", path, err)
			}
		}
	})
}

// The script refuses by itself what Send never asks for.
func TestScriptChecksPaths(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		for path, message := range map[string]string{
			"/etc/passwd":         "/etc/passwd is outside the owned volumes",
			"/opt/kandev/../../x": "/opt/kandev/../../x is not in its shortest form",
			"/opt/kandev":         "/opt/kandev is outside the owned volumes",
		} {
			e := exchange{texts: []File{{path, 0o600, NewBlob([]byte("x"))}}}
			rejected(t, e.run(t.Context(), p.exec, p.root), bootstrap.ExitPath, message)
		}
	})
}

// However the stream is cut or changed, no file of it is half there, and the error says so.
func TestSpoiltStreams(t *testing.T) {
	plain := noise(300_000)
	for how, agent := range map[packing][]byte{asIs: plain, gzipped: []byte(hex.EncodeToString(plain)), lzopped: []byte(hex.EncodeToString(plain))} {
		t.Run(string(how), func(t *testing.T) {
			eachShell(t, func(t *testing.T, p *pod) {
				p.path = image(t, map[string]string{"lzop": `exec busybox lzop "$@"`})
				p.spoilt(t, NewBlob(agent), how)
			})
		})
	}
}

func (p *pod) spoilt(t *testing.T, agent *Blob, how packing) {
	t.Helper()
	send := func(r Request) error {
		e := r.exchanges()[0]
		e.packing = how
		return e.run(t.Context(), p.exec, p.root)
	}
	r := session()
	r.Files = r.Files[:6] // one exec
	r.Files[0].Content = agent
	var whole bytes.Buffer
	p.spoil = func(in io.Reader) io.Reader { return io.TeeReader(in, &whole) }
	if err := send(r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(whole.Bytes(), []byte("\n"+how+" ")) {
		t.Errorf("it was not sent as %s", how)
	}
	good := want(append(r.Files, r.Last)...)
	try := func(what string, spoil func(io.Reader) io.Reader) {
		t.Helper()
		p.spoil = nil
		if err := p.send(t, Request{Remove: []string{bootstrap.AgentPath, bootstrap.MarkerPath}}); err != nil {
			t.Fatal(err)
		}
		p.spoil = spoil
		if err := send(r); err == nil {
			t.Errorf("%s: no error", what)
		}
		tree := p.tree(t)
		for path, is := range tree {
			if is != good[path] {
				t.Errorf("%s: %s is %s, want %s", what, path, is, good[path])
			}
		}
		if _, there := tree[bootstrap.MarkerPath]; there {
			t.Errorf("%s: the marker is there", what)
		}
	}
	for _, at := range []int{0, 1, 20, 33, 40, 200, 1000, 4000, whole.Len() / 2, whole.Len() - 1} {
		try(fmt.Sprint("cut at ", at), func(in io.Reader) io.Reader { return io.LimitReader(in, int64(at)) })
	}
	header := bytes.Index(whole.Bytes(), []byte(" "+bootstrap.AgentPath+"\n"))
	for _, at := range []int{whole.Len() - 150_000, whole.Len() / 2, whole.Len() - 5, whole.Len() - 1} {
		try(fmt.Sprint("changed at ", at), func(in io.Reader) io.Reader { return &flip{in: in, at: max(at, header+len(bootstrap.AgentPath)+2)} })
	}
}

// An image's lzop undoes a large file that gets smaller, and where it does not do that the file goes as it is.
func TestLzop(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789\n"), 100_000)
	for name, c := range map[string]struct {
		run   func(*testing.T, func(*testing.T, *pod))
		does  string
		agent []byte
		sent  []packing
	}{
		"works":      {eachShell, `exec busybox lzop "$@"`, text, []packing{lzopped}},
		"not worth":  {eachShell, `exec busybox lzop "$@"`, noise(1 << 20), []packing{asIs}},
		"fails":      {eachShellOfPATH, `exit 1`, text, []packing{lzopped, asIs}},
		"cuts":       {eachShellOfPATH, `busybox lzop "$@" | head -c 1000`, text, []packing{lzopped, asIs}},
		"lies":       {eachShellOfPATH, `busybox lzop "$@" | tr 1 2`, text, []packing{lzopped, asIs}},
		"is another": {eachShellOfPATH, `cat`, text, []packing{lzopped, asIs}},
	} {
		t.Run(name, func(t *testing.T) {
			c.run(t, func(t *testing.T, p *pod) {
				p.path = image(t, map[string]string{"lzop": c.does})
				var sent []packing
				p.spoil = func(in io.Reader) io.Reader { return &announced{Reader: in, words: &sent} }
				r := Request{Files: []File{{bootstrap.AgentPath, 0o755, NewBlob(c.agent)}}}
				if err := p.send(t, r); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.sent, sent); diff != "" {
					t.Errorf("-want +sent\n%s", diff)
				}
				if diff := cmp.Diff(want(r.Files...), p.tree(t)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		})
	}
}

// announced notes how a stream says that its body is packed.
type announced struct {
	io.Reader
	words *[]packing
	text  []byte
	found bool
}

func (a *announced) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if !a.found {
		a.text = append(a.text, b[:n]...)
		if m := regexp.MustCompile(`\n(body|gzip|lzop) .*\n`).FindSubmatch(a.text); m != nil {
			a.found, *a.words = true, append(*a.words, packing(m[1]))
		}
	}
	return n, err
}

// Over a slow link a large file goes through gzip, where the image has only that and the file gets smaller.
func TestSlowLinks(t *testing.T) {
	eachShellOfPATH(t, func(t *testing.T, p *pod) {
		for name, c := range map[string]struct {
			agent []byte
			slow  bool
			sent  []packing
		}{
			"fast":             {bytes.Repeat([]byte("x"), 30<<20), false, []packing{asIs}},
			"slow":             {bytes.Repeat([]byte("x"), 30<<20), true, []packing{asIs, gzipped}},
			"slow, and random": {noise(6 << 20), true, []packing{asIs}},
		} {
			var sent []packing
			r := Request{Files: []File{{bootstrap.AgentPath, 0o755, NewBlob(c.agent)}}}
			p.spoil = func(in io.Reader) io.Reader {
				if c.slow {
					in = &throttled{in}
				}
				return &announced{Reader: in, words: &sent}
			}
			if err := p.send(t, r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.sent, sent); diff != "" {
				t.Errorf("%s: -want +sent\n%s", name, diff)
			}
			if diff := cmp.Diff(want(r.Files...), p.tree(t)); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
	})
}

// throttled is a link of six megabytes a second.
type throttled struct{ io.Reader }

func (r *throttled) Read(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return r.Reader.Read(b[:min(len(b), 64<<10)])
}

// What is known only once the script has answered is uploaded too.
func TestBefore(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		r := session()
		late := File{bootstrap.TokenPath, 0o600, NewBlob([]byte("token\n"))}
		r.Before = func(context.Context) ([]File, error) { return []File{late}, nil }
		r.Files = r.Files[:6]
		if err := p.send(t, r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(append(r.Files, r.Last, late)...), p.tree(t)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		late.Path = "/etc/passwd"
		if err := p.send(t, r); err == nil || !strings.Contains(err.Error(), "/etc/passwd") {
			t.Errorf("a late file outside the volumes: %v", err)
		}
		mine := errors.New("mine")
		r.Before = func(context.Context) ([]File, error) { return nil, mine }
		if err := p.send(t, r); !errors.Is(err, mine) {
			t.Errorf("got %v", err)
		}
	})
}

// A port is waited for: the script says nothing before something listens on it.
func TestPort(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		reserved, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := reserved.Addr().(*net.TCPAddr)
		if err := reserved.Close(); err != nil {
			t.Fatal(err)
		}
		listens := make(chan struct{})
		r := Request{Port: int32(address.Port), Before: func(context.Context) ([]File, error) {
			select {
			case <-listens:
			default:
				t.Error("it answered before something listened")
			}
			return nil, nil
		}}
		waiting := &waiter{pod: p, waits: func() {
			close(listens) // before it does: the script may be quicker than what follows
			listener, err := net.ListenTCP("tcp4", address)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = listener.Close() })
		}}
		if err := send(t.Context(), waiting.exec, r, p.root); err != nil {
			t.Fatal(err)
		}
	})
}

// waiter calls a function when the script sleeps for the first time.
type waiter struct {
	*pod
	waits func()
}

func (w *waiter) exec(ctx context.Context, command []string, stdin io.Reader, stdout, stderr io.Writer) error {
	began := filepath.Join(w.root, "sleeps")
	command = slices.Clone(command)
	command[2] = "sleep() { : >" + began + "; command sleep 0.01; }\n" + command[2]
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(began); err == nil {
				w.waits()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return w.pod.exec(ctx, command, stdin, stdout, stderr)
}

// flip changes one byte of a stream.
type flip struct {
	in     io.Reader
	at, to int
}

func (f *flip) Read(b []byte) (int, error) {
	n, err := f.in.Read(b)
	if f.to <= f.at && f.at < f.to+n {
		b[f.at-f.to] ^= 1
	}
	f.to += n
	return n, err
}

// An exec that ends well without the receipt has proven nothing; a receipt proves it whatever the exec says.
func TestReceipts(t *testing.T) {
	r := Request{Files: []File{{bootstrap.AuthEnvPath, 0o600, NewBlob([]byte("x"))}}}
	answer := func(err error, answers ...string) Exec {
		return func(_ context.Context, _ []string, stdin io.Reader, stdout, _ io.Writer) error {
			_, _ = fmt.Fprintf(stdout, "%s\n", answers[0])
			sent, _ := io.ReadAll(stdin)
			token, _, _ := strings.Cut(string(sent), "\n")
			for _, a := range answers[1:] {
				_, _ = fmt.Fprintf(stdout, "%s\n", strings.ReplaceAll(a, "TOKEN", token))
			}
			return err
		}
	}
	reset := errors.New("connection reset")
	for name, c := range map[string]struct {
		run  Exec
		want error
	}{
		"no receipt":         {answer(nil, greeting), ErrNoReceipt},
		"a receipt":          {answer(nil, greeting, "receipt TOKEN 1"), nil},
		"then a reset":       {answer(reset, greeting, "receipt TOKEN 1"), nil},
		"a reset":            {answer(reset, greeting), reset},
		"of another request": {answer(nil, greeting, "receipt 0123 1"), ErrNoReceipt},
		"of other files":     {answer(nil, greeting, "receipt TOKEN 2"), ErrNoReceipt},
		"another program":    {answer(nil, "hello"), ErrIncompatible},
		"another version":    {answer(nil, "kandev-receive 2"), ErrIncompatible},
		"silence":            {func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return nil }, ErrIncompatible},
	} {
		if err := Send(t.Context(), c.run, r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Nothing of a content is in the command.
func TestNoSecretInTheCommand(t *testing.T) {
	const canary = "canary-5f1d"
	seen := ""
	run := func(_ context.Context, command []string, _ io.Reader, _, _ io.Writer) error {
		seen += strings.Join(command, " ")
		return nil
	}
	_ = Send(t.Context(), run, Request{Files: []File{{bootstrap.AuthEnvPath, 0o600, NewBlob([]byte(canary))}}})
	if seen == "" || strings.Contains(seen, canary) {
		t.Errorf("command: %s", seen)
	}
}

// The start script is told what it need not verify again: what came with everything else in one exec.
func TestWake(t *testing.T) {
	eachShell(t, func(t *testing.T, p *pod) {
		fifo := p.root + bootstrap.WakePath
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		woken, err := os.OpenFile(fifo, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer woken.Close() //nolint:errcheck // it was only read
		lines := bufio.NewReader(woken)
		whole := session()
		whole.Files = whole.Files[:6]
		for want, r := range map[string]Request{bootstrap.WakeVerified + "\n": whole, "\n": {Last: whole.Last}} {
			if err := p.send(t, r); err != nil {
				t.Fatal(err)
			}
			if line, err := lines.ReadString('\n'); err != nil || line != want {
				t.Errorf("it was woken with %q, %v, want %q", line, err, want)
			}
		}
		if err := p.send(t, session()); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || line != "\n" {
			t.Errorf("after two execs it was woken with %q, %v", line, err)
		}
	})
}

// The script is clean in a checker's eyes, and holds only one way to say a thing.
func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	if out, err := exec.Command("shellcheck", "--severity=style", "receive.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
