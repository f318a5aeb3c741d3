package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// spinning makes this program, started again, keep more threads running than a machine has cores for.
const spinning = "SUPERVISE_TEST_SPINNING"

func TestMain(m *testing.M) {
	if os.Getenv(spinning) == "" {
		os.Exit(m.Run())
	}
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for { //nolint:staticcheck // to spin is what it is for
			}
		}()
	}
	fmt.Println("spinning")
	select {}
}

func startSpinning(t *testing.T) *running {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), spinning+"=yes", "GOMAXPROCS=16")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p := &running{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// threadStates returns the state of each thread, such as "RSS"; see proc_pid_stat(5).
func threadStates(t *testing.T, pid int) string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("threads of %d: %v, %v", pid, files, err)
	}
	var states strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), ") ")
		states.WriteByte(after[0])
	}
	return states.String()
}

func TestPauseStopsEveryThread(t *testing.T) {
	p := startSpinning(t)
	for range 20 {
		for range 2 { // the second finds it paused
			if err := p.pause(); err != nil {
				t.Fatal(err)
			}
			if states := threadStates(t, p.cmd.Process.Pid); strings.Trim(states, "T") != "" {
				t.Fatalf("the threads of a paused process are %s; want each of them T", states)
			}
		}
		if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if states := threadStates(t, p.cmd.Process.Pid); strings.Contains(states, "T") {
			t.Fatalf("the threads of a resumed process are %s; want none of them T", states)
		}
	}
}

func TestPauseOfWhatEnds(t *testing.T) {
	for range 20 {
		p := startSpinning(t)
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := p.pause(); !errors.Is(err, os.ErrProcessDone) {
			t.Fatalf("pausing a killed process: %v; want %v", err, os.ErrProcessDone)
		}
	}
}
