package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL server that listens on a Unix socket only.
type server struct {
	dir  string
	stop func()
}

var (
	startOnce sync.Once
	shared    *server
	errStart  error
	schemas   atomic.Int64
)

// Run runs a package's tests and stops the server that they started. It belongs into TestMain.
func Run(m *testing.M) (code int) {
	code = m.Run()
	if shared != nil {
		shared.stop()
	}
	return code
}

// Database names an empty schema on the server, as a URL, and makes it. The first call starts the server, which commits
// asynchronously unless a session asks for more. The test is skipped where PostgreSQL is not installed.
func Database(t testing.TB) string {
	t.Helper()
	bin := binaries(t)
	startOnce.Do(func() { shared, errStart = start(bin, "-c", "synchronous_commit=off") })
	if errStart != nil {
		t.Fatal(errStart)
	}
	schema := fmt.Sprintf("test_%d", schemas.Add(1))
	shared.exec(t, "CREATE SCHEMA "+schema)
	return shared.url(schema)
}

// binaries returns the directory of the newest installed server.
func binaries(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed: there is no /usr/lib/postgresql/*/bin/postgres")
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(found[len(found)-1])
}

// version is 15 for /usr/lib/postgresql/15/bin/postgres, 0 where there is no number.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// start makes a database cluster in a directory of its own and starts a server on it. The server ends with stop, and
// with this process however that ends.
func start(bin string, options ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	remove := func() { os.RemoveAll(dir) } //nolint:errcheck,gosec // in the temporary directory
	account, err := unprivileged(dir)
	if err != nil {
		remove()
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), //nolint:gosec // the server that is installed
		"--auth=trust", "--username=test", "--no-sync",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en", data) // an order that is not that of bytes
	initdb.SysProcAttr, initdb.Dir = account, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		remove()
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	arguments := append([]string{"-D", data, "-k", dir, "-h", ""}, options...)
	cmd := exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), arguments...) //nolint:gosec // likewise
	cmd.SysProcAttr, cmd.Dir = account, dir
	stop, err := runUntilReady(cmd)
	if err != nil {
		remove()
		return nil, err
	}
	return &server{dir: dir, stop: func() { stop(); remove() }}, nil
}

// unprivileged returns how to run a process that owns dir: PostgreSQL refuses to run as root. The process is
// interrupted when the thread that started it ends.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return attr, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, int(uid), int(gid))
}

// runUntilReady starts a server and waits for the line of its log that says that it is ready. stop ends it, without
// regard for its connections, and waits.
func runUntilReady(cmd *exec.Cmd) (stop func(), err error) {
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	ready, ended, quit := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the death of this thread would be taken for that of the process
		defer runtime.UnlockOSThread()
		defer close(ended)
		if err := cmd.Start(); err != nil {
			ready <- err
			return
		}
		go watch(bufio.NewScanner(log), ready)
		<-quit
		cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck,gosec // it may have ended by itself
		cmd.Wait()                         //nolint:errcheck,gosec // how it ends is no test's matter
	}()
	stop = func() { close(quit); <-ended }
	if err := <-ready; err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// watch reads a server's log to its end and says when the server is ready, or that it never was.
func watch(log *bufio.Scanner, ready chan<- error) {
	var text strings.Builder
	for log.Scan() {
		fmt.Fprintln(&text, log.Text())
		if strings.Contains(log.Text(), "database system is ready to accept connections") {
			ready <- nil
			for log.Scan() { // the log must be read for the server to go on
			}
			return
		}
	}
	ready <- fmt.Errorf("the server ended:\n%s", text.String())
}

// url names a schema on the server.
func (s *server) url(schema string) string {
	return "postgres:///postgres?" + url.Values{"host": {s.dir}, "user": {"test"}, "search_path": {schema}, "sslmode": {"disable"}}.Encode()
}

// exec runs a statement as the server's superuser.
func (s *server) exec(t testing.TB, statement string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.url("public"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the statement's error is the one that counts
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}
