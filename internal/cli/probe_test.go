package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kandev/kandev-podlint/pkg/executor"
)

// TestProbeUnusable: what is wrong before the cluster is asked. test/live has the rest.
func TestProbeUnusable(t *testing.T) {
	dir := write(t, map[string]string{"good.yaml": good, "bad.yaml": strings.Replace(good, "kandev-agent", "other", 1), "empty.yaml": "", "placeholder.yaml": placeholder, "kubeconfig": kubeconfig})
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "empty.yaml"))
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "kandev-podlint probe takes exactly 1 TEMPLATE, not 0"},
		{"nowhere.yaml", 2, "cannot be read"},
		{"bad.yaml", 1, "bad.yaml cannot be composed"},
		{"good.yaml", 2, "there is no kubeconfig and no service account of a Pod"},
		{"good.yaml --kubeconfig nowhere", 2, "nowhere: no such file or directory"},
		{"good.yaml --context nowhere", 2, "kubeconfig: "},
		{"placeholder.yaml --kubeconfig kubeconfig", 2, "which has a placeholder for its digest [image-placeholder]"},
		{"good.yaml --start-timeout soon", 2, "--start-timeout"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := run(t, "", append([]string{"probe"}, strings.Fields(c.args)...)...)
			if r.code != c.code || !strings.Contains(r.err, c.want) || r.out != "" {
				t.Errorf("exit status %d, want %d and %q\n%s%s", r.code, c.code, c.want, r.out, r.err)
			}
		})
	}
}

func TestProbeStatus(t *testing.T) {
	failed := func(reason executor.Reason, optional bool) executor.ProbeReport {
		return executor.ProbeReport{Steps: []executor.Step{{Verdict: executor.Fail, Reason: reason, Optional: optional}}}
	}
	for name, c := range map[string]struct {
		report executor.ProbeReport
		want   int
	}{
		"passed":                 {executor.ProbeReport{Passed: true}, 0},
		"a missing permission":   {failed(executor.Forbidden, false), 1},
		"a refusal":              {failed(executor.PodSecurity, false), 1},
		"a Pod that crashes":     {failed(executor.Crashed, false), 1},
		"no answer":              {failed(executor.Unreachable, false), 3},
		"an answer lost":         {failed(executor.Ambiguous, false), 3},
		"who":                    {failed(executor.Unauthenticated, false), 3},
		"trouble with a choice":  {failed(executor.Ambiguous, true), 1},
		"a failure of no reason": {failed("", false), 1},
	} {
		if got := exitCode(probeStatus(c.report)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestStatusLine: what a terminal shows is taken away again, and is no longer than the terminal is wide.
func TestStatusLine(t *testing.T) {
	var out bytes.Buffer
	newStatusLine(&out).show("no terminal")
	if out.Len() > 0 {
		t.Errorf("%q", &out)
	}
	line := terminalLine(&out, 20)
	line.clear()
	line.show("wait for the \x1b[31mPod to run")
	line.clear()
	line.clear()
	if got, want := out.String(), "wait for the \\x ...\r\x1b[K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
