package worker

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// secret is the password of the repository that is served.
const secret = "s3cret-b026324c6904"

// session is what one preparation works with.
type session struct {
	t         *testing.T
	shell     []string
	workspace string
	home      string
	bin       string // before all else in PATH
	env       []string
}

func newSession(t *testing.T, shell []string) *session {
	t.Helper()
	dir := t.TempDir()
	s := &session{t: t, shell: shell, workspace: filepath.Join(dir, "workspace"), home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{s.workspace, s.home, s.bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.docker("exit 0")
	return s
}

// docker is what stands in for the Docker client.
func (s *session) docker(script string) {
	s.t.Helper()
	write(s.t, filepath.Join(s.bin, "docker"), "#!/bin/sh\n"+script+"\n")
}

// prepare runs the script with variables beside those of every call.
func (s *session) prepare(env ...string) result {
	s.t.Helper()
	script := filepath.Join(s.home, "prepare.sh")
	write(s.t, script, file(s.t, "prepare.sh"))
	c := exec.Command(s.shell[0], append(s.shell[1:], script)...)
	c.Dir = s.workspace
	c.Env = append([]string{
		"PATH=" + s.bin + ":/usr/bin:/bin", "HOME=" + s.home,
		"GOCACHE=" + s.workspace + "/.cache/go-build", "CARGO_HOME=" + s.workspace + "/.cache/cargo", "PIP_CACHE_DIR=" + s.home + "/pip",
	}, append(s.env, env...)...)
	return start(s.t, c)
}

// succeeds demands that the preparation does.
func (s *session) succeeds(env ...string) {
	s.t.Helper()
	if r := s.prepare(env...); r.status != 0 {
		s.t.Fatalf("%+v", r)
	}
}

// refuses demands that the preparation fails so, and changes nothing in the workspace.
func (s *session) refuses(want string, env ...string) {
	s.t.Helper()
	before := s.files()
	if r := s.prepare(env...); r.status == 0 || !strings.Contains(r.errOut, want) {
		s.t.Errorf("want %q: %+v", want, r)
	}
	if after := s.files(); before != after {
		s.t.Errorf("the workspace was changed:\n%s\n%s", before, after)
	}
}

// files lists what the workspace holds, with the contents.
func (s *session) files() string {
	s.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			fmt.Fprintln(&b, path)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// git runs git in the workspace.
func (s *session) git(args ...string) string {
	s.t.Helper()
	return git(s.t, s.workspace, args...)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository makes a repository with branches main and other, and returns its path.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "README"), "original\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	git(t, dir, "checkout", "-q", "-b", "other")
	write(t, filepath.Join(dir, "README"), "other\n")
	git(t, dir, "commit", "-q", "-a", "-m", "second")
	git(t, dir, "checkout", "-q", "main")
	return dir
}

// serve serves a repository by HTTP to who knows the secret, and returns its URL with it. The first answers that tell what
// objects there are are cut off.
func serve(t *testing.T, repository string, cut int32) string {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(repository), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	var left atomic.Int32
	left.Store(cut)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "agent" || password != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodPost && left.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		backend.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http://", "http://agent:"+secret+"@", 1) + "/" + filepath.Base(repository)
}

// withoutSecret demands that no file and no output holds the secret.
func (s *session) withoutSecret(r result) {
	s.t.Helper()
	if strings.Contains(r.out+r.errOut, secret) {
		s.t.Errorf("printed: %+v", r)
	}
	for _, dir := range []string{s.workspace, s.home} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(secret)) {
				s.t.Errorf("%s holds the secret", path)
			}
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestPrepareClones(t *testing.T) {
	repository := newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		if err := os.Mkdir(filepath.Join(s.workspace, "lost+found"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.succeeds("PREPARE_REPOSITORY="+repository, "PREPARE_TASK_BRANCH=task/1")
		for what, got := range map[string]string{
			"branch": s.git("symbolic-ref", "--short", "HEAD"), "file": read(t, filepath.Join(s.workspace, "README")),
			"origin": s.git("remote", "get-url", "origin"), "status": s.git("status", "--porcelain"), "upstream": s.git("rev-parse", "--abbrev-ref", "main@{upstream}"),
		} {
			if want := map[string]string{"branch": "task/1", "file": "original\n", "origin": repository, "upstream": "origin/main"}[what]; got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		for dir, want := range map[string]bool{s.workspace + "/.cache/go-build": true, s.workspace + "/.cache/cargo": true, s.home + "/pip": false} {
			if _, err := os.Stat(dir); (err == nil) != want {
				t.Errorf("%s: %v", dir, err)
			}
		}
	})
}

// A second preparation, in the Pod that replaces a lost one, finds HOME empty and the workspace as the agent left it.
func TestPrepareAgain(t *testing.T) {
	repository := newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		s.env = []string{"PREPARE_REPOSITORY=" + repository, "PREPARE_TASK_BRANCH=task-1"}
		s.succeeds()
		write(t, filepath.Join(s.workspace, "README"), "edited\n")
		write(t, filepath.Join(s.workspace, "new"), "untracked\n")
		s.git("status") // which writes the index anew
		before := s.files()
		s.home = t.TempDir()
		s.succeeds()
		if after := s.files(); before != after {
			t.Errorf("the workspace was changed:\n%s\n%s", before, after)
		}
		s.succeeds() // HOME is there, and says already what it must
		if got := read(t, filepath.Join(s.home, ".gitconfig")); strings.Count(got, "directory = ") != 1 {
			t.Errorf("%s", got)
		}
	})
}

func TestPrepareRefuses(t *testing.T) {
	repository, another := newRepository(t), newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		for _, c := range []struct {
			name, want string
			make       func(s *session)
		}{
			{"a file", "the workspace holds work and is no repository", func(s *session) { write(t, filepath.Join(s.workspace, "work"), "") }},
			{"a hidden directory", "the workspace holds .cache and is no repository", func(s *session) { write(t, filepath.Join(s.workspace, ".cache", "x"), "") }},
			{"two dots", "the workspace holds ..x and is no repository", func(s *session) { write(t, filepath.Join(s.workspace, "..x"), "") }},
			{"a dangling link", "the workspace holds link and is no repository", func(s *session) {
				if err := os.Symlink("nowhere", filepath.Join(s.workspace, "link")); err != nil {
					t.Fatal(err)
				}
			}},
			{"another origin", "the workspace holds a repository of " + another + ", not of " + repository, func(s *session) { git(t, s.workspace, "clone", "-q", another, ".") }},
			{"no origin", "the repository in the workspace has no origin", func(s *session) { s.git("init", "-q") }},
			{"no repository", "/.git is no repository", func(s *session) { write(t, filepath.Join(s.workspace, ".git"), "") }},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := newSession(t, shell)
				c.make(s)
				s.refuses(c.want, "PREPARE_REPOSITORY="+repository)
			})
		}
	})
}

func TestPrepareWaitsForDocker(t *testing.T) {
	repository := newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		s.env = []string{"PREPARE_REPOSITORY=" + repository, "DOCKER_HOST=unix:///run/docker/docker.sock"}
		for name, script := range map[string]string{"refuses": "exit 1", "hangs": "exec sleep 1000", "hangs on": "trap '' TERM; exec sleep 10"} {
			s.docker(script)
			const want = "prepare: the Docker engine at unix:///run/docker/docker.sock did not answer within 1 seconds"
			if r := s.prepare("PREPARE_DOCKER_SECONDS=1"); r.status != 69 || !strings.HasSuffix(strings.TrimSpace(r.errOut), want) {
				t.Errorf("%s: %+v", name, r)
			}
			if entries, err := os.ReadDir(s.workspace); err != nil || len(entries) > 0 {
				t.Errorf("%s: the workspace holds %v, %v", name, entries, err)
			}
		}
		count := filepath.Join(s.home, "count")
		s.docker(`echo "$*" >>` + count + `; [ "$(wc -l <` + count + `)" -ge 3 ]`)
		s.succeeds("PREPARE_DOCKER_SECONDS=60")
		if got := read(t, count); got != "info\ninfo\ninfo\n" {
			t.Errorf("%q", got)
		}
		for _, bad := range []string{"soon", "0", "-1", "08"} {
			s.refuses("PREPARE_DOCKER_SECONDS is no number of seconds: "+bad, "PREPARE_DOCKER_SECONDS="+bad)
		}
	})
}

func TestPrepareKeepsNoSecret(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		url := serve(t, newRepository(t), 0)
		clean := strings.Replace(url, "agent:"+secret+"@", "", 1)
		s := newSession(t, shell)
		wrong := s.prepare("PREPARE_REPOSITORY=" + strings.Replace(url, secret, "wr0ng-0d1f2a", 1))
		if wrong.status == 0 || strings.Contains(wrong.errOut, "wr0ng") {
			t.Errorf("%+v", wrong)
		}
		r := s.prepare("PREPARE_REPOSITORY=" + url)
		if r.status != 0 {
			t.Fatalf("%+v", r)
		}
		s.withoutSecret(r)
		if got := s.git("config", "remote.origin.url"); got != clean {
			t.Errorf("origin %s, want %s", got, clean)
		}
		// What another tool has left in the configuration is the same repository, and is taken out.
		s.git("config", "remote.origin.url", url)
		s.withoutSecret(s.prepare("PREPARE_REPOSITORY=" + url))
	})
}

// A clone that is cut off is taken up again, whatever it had checked out.
func TestPrepareGoesOn(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		repository := newRepository(t)
		s := newSession(t, shell)
		s.env = []string{"PREPARE_REPOSITORY=" + serve(t, repository, 2)} // one to list the references, one with the objects
		if r := s.prepare(); r.status == 0 {
			t.Fatalf("the clone was not cut off: %+v", r)
		}
		for _, cache := range []string{".cache", ".git"} {
			if _, err := os.Stat(filepath.Join(s.workspace, cache)); err == nil {
				t.Errorf("%s is there before the clone", cache)
			}
		}
		write(t, filepath.Join(s.workspace, "README"), "orig")
		for range 3 {
			if r := s.prepare(); r.status == 0 {
				break
			}
		}
		if got := read(t, filepath.Join(s.workspace, "README")) + s.git("status", "--porcelain"); got != "original\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestPrepareSelectsBranches(t *testing.T) {
	repository := newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		s.env = []string{"PREPARE_REPOSITORY=" + repository}
		branch := func() string {
			return s.git("symbolic-ref", "--short", "HEAD") + " " + read(t, filepath.Join(s.workspace, "README"))
		}
		for _, c := range []struct{ base, task, want string }{
			{"other", "", "other other\n"},       // cloned
			{"other", "main", "main original\n"}, // of the origin
			{"", "task-1", "task-1 original\n"},  // created
			{"", "other", "other other\n"},       // of the workspace
			{"", "other", "other other\n"},       // where it is
			{"", "task-1", "task-1 original\n"},  // back
		} {
			s.succeeds("PREPARE_BRANCH="+c.base, "PREPARE_TASK_BRANCH="+c.task)
			if got := branch(); got != c.want {
				t.Errorf("%+v: %q", c, got)
			}
		}
		write(t, filepath.Join(s.workspace, "README"), "edited\n")
		s.git("status")
		s.refuses("would be overwritten by checkout", "PREPARE_TASK_BRANCH=other")
		s.refuses("PREPARE_TASK_BRANCH is no name of a branch: -f", "PREPARE_TASK_BRANCH=-f")
		s.refuses("PREPARE_TASK_BRANCH is no name of a branch: a..b", "PREPARE_TASK_BRANCH=a..b")
		absent := newSession(t, shell)
		if r := absent.prepare("PREPARE_REPOSITORY="+repository, "PREPARE_BRANCH=absent"); r.status == 0 || !strings.Contains(r.errOut, "absent") {
			t.Errorf("%+v", r)
		}
	})
}

// Setup and installation run in the workspace, in order, with the caches there; the first failure is the last thing done.
func TestPrepareSetsUp(t *testing.T) {
	repository := newRepository(t)
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		log := filepath.Join(s.home, "log")
		s.env = []string{"PREPARE_REPOSITORY=" + repository, "PREPARE_TASK_BRANCH=task-1", "LOG=" + log}
		s.succeeds(`PREPARE_SETUP=echo "setup $PWD $(git symbolic-ref --short HEAD) $(ls .cache)" >>"$LOG"`, `PREPARE_INSTALL=echo install >>"$LOG"`)
		if got, want := read(t, log), "setup "+s.workspace+" main cargo\ngo-build\ninstall\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		other := newSession(t, shell)
		other.env = append(other.env, append(s.env, "PREPARE_INSTALL=echo again >>$LOG")...)
		if r := other.prepare("PREPARE_SETUP=exit 3"); r.status == 0 || !strings.Contains(r.errOut, "the repository could not be set up") {
			t.Errorf("%+v", r)
		}
		if got := other.git("symbolic-ref", "--short", "HEAD") + read(t, log); got != "main"+"setup "+s.workspace+" main cargo\ngo-build\ninstall\n" {
			t.Errorf("%q", got)
		}
		if r := other.prepare("PREPARE_INSTALL=exit 3"); r.status == 0 || !strings.Contains(r.errOut, "the agent's tools could not be installed") {
			t.Errorf("%+v", r)
		}
	})
}

// Without a repository the workspace is the agent's own, and may hold anything.
func TestPrepareWithoutRepository(t *testing.T) {
	eachShell(t, func(t *testing.T, shell []string) {
		s := newSession(t, shell)
		write(t, filepath.Join(s.workspace, "work"), "kept\n")
		s.succeeds("PREPARE_TASK_BRANCH=task-1")
		if got := read(t, filepath.Join(s.workspace, "work")); got != "kept\n" {
			t.Errorf("%q", got)
		}
		if _, err := os.Stat(filepath.Join(s.workspace, ".cache", "go-build")); err != nil {
			t.Error(err)
		}
	})
}
