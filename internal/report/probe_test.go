package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/executor"
)

const probeSchema = "../../docs/schema/probe.schema.json"

// probeReports are the reports that the golden files show.
func probeReports() map[string]executor.ProbeReport {
	head := func(passed bool, steps ...executor.Step) executor.ProbeReport {
		return executor.ProbeReport{
			SchemaVersion: 1, Passed: passed, Server: "https://127.0.0.1:6443", Version: "v1.36.3", User: "alice", Namespace: "agents", Steps: steps,
		}
	}
	connection := executor.Step{Key: "connection", Verdict: executor.Pass, Milliseconds: 3, Message: "reached https://127.0.0.1:6443"}
	rule := executor.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}}
	interrupted := head(false, connection, executor.Step{Key: "authentication", Verdict: executor.Skipped, Message: "interrupted"})
	interrupted.Interrupted = true
	return map[string]executor.ProbeReport{
		"passed": head(true, connection, executor.Step{Key: "pod-start", Verdict: executor.Pass, Milliseconds: 1234, Message: "container kandev-agent runs on node n"}),
		"failed": head(
			false, connection,
			executor.Step{Key: "namespace", Verdict: executor.Skipped, Message: "may not read namespace agents"},
			executor.Step{
				Key: "permission-pods-exec-create", Verdict: executor.Fail, Message: "alice may not create pods/exec in namespace agents",
				Reason: executor.Forbidden, Remedy: "add to the Role of the executor: ...", Rule: &rule,
			},
			executor.Step{Key: "pod-admission", Verdict: executor.Pass, Message: "the session's Pod is admitted", Details: []string{"would violate PodSecurity"}},
			executor.Step{Key: "exec-websocket", Verdict: executor.Fail, Optional: true, Message: "502", Reason: executor.StreamRefused, Remedy: "let it pass"},
		),
		"interrupted": interrupted,
		"hostile":     hostileProbe("\x1b[2Jred\n::error::x ##[group]\u202e"),
	}
}

// hostileProbe has one text in every place that a cluster's words reach.
func hostileProbe(s string) executor.ProbeReport {
	return executor.ProbeReport{
		SchemaVersion: 1, Server: s, Version: s, User: s, Namespace: "agents",
		Steps: []executor.Step{{Key: "connection", Verdict: executor.Fail, Message: s, Reason: "unreachable", Remedy: s, Details: []string{s}}},
	}
}

func probeOutput(t testing.TB, format string, r executor.ProbeReport, o report.ProbeOptions) string {
	t.Helper()
	var b bytes.Buffer
	p, err := report.NewProbe(format, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if err := p.Step(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestProbeGolden(t *testing.T) {
	for name, r := range probeReports() {
		for suffix, o := range map[string]report.ProbeOptions{"": {}, ".verbose": {Verbose: true}, ".quiet": {Quiet: true}, ".color": {Color: true}} {
			for _, format := range report.ProbeFormats() {
				if format != "text" && suffix != "" {
					continue
				}
				file := filepath.Join("testdata", "probe", name+suffix+"."+format)
				got := probeOutput(t, format, r, o)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s:\n%s", file, diff)
				}
			}
		}
	}
}

// TestProbeTextIsHarmless: nothing that a cluster says reaches a terminal or a CI runner as a command.
func TestProbeTextIsHarmless(t *testing.T) {
	for _, s := range nastyTexts {
		for _, line := range strings.Split(probeOutput(t, "text", hostileProbe(s), report.ProbeOptions{Verbose: true}), "\n") {
			if strings.ContainsAny(line, "\x1b\r\u009b\u202e\u2066") || strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%q prints %q", s, line)
			}
		}
	}
}

func TestProbeMeetsItsSchema(t *testing.T) {
	s := compileSchema(t, probeSchema)
	reports := probeReports()
	for _, text := range nastyTexts {
		reports[text] = hostileProbe(text)
	}
	for name, r := range reports {
		if err := validate(t, s, probeOutput(t, "json", r, report.ProbeOptions{})); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestProbeSchemaRefusesWrongOutput(t *testing.T) {
	s := compileSchema(t, probeSchema)
	step := func(doc map[string]any, i int) map[string]any { return doc["steps"].([]any)[i].(map[string]any) }
	for name, spoil := range map[string]func(doc map[string]any){
		"another version":        func(doc map[string]any) { doc["schemaVersion"] = 2 },
		"an unknown key":         func(doc map[string]any) { doc["extra"] = 1 },
		"passed all the same":    func(doc map[string]any) { doc["passed"] = true },
		"no steps":               func(doc map[string]any) { doc["steps"] = []any{} },
		"no namespace":           func(doc map[string]any) { delete(doc, "namespace") },
		"an unknown verdict":     func(doc map[string]any) { step(doc, 0)["verdict"] = "maybe" },
		"a reason of success":    func(doc map[string]any) { step(doc, 0)["reason"] = "forbidden" },
		"a key of another shape": func(doc map[string]any) { step(doc, 0)["key"] = "Connection" },
		"no duration":            func(doc map[string]any) { delete(step(doc, 0), "durationMs") },
		"a rule without verbs":   func(doc map[string]any) { delete(step(doc, 2)["rule"].(map[string]any), "verbs") },
		"not optional":           func(doc map[string]any) { step(doc, 4)["optional"] = false },
	} {
		t.Run(name, func(t *testing.T) {
			var doc map[string]any
			if err := json.Unmarshal([]byte(probeOutput(t, "json", probeReports()["failed"], report.ProbeOptions{})), &doc); err != nil {
				t.Fatal(err)
			}
			spoil(doc)
			spoiled, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if validate(t, s, string(spoiled)) == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestProbeErrors(t *testing.T) {
	if _, err := report.NewProbe("sarif", &bytes.Buffer{}, report.ProbeOptions{}); err == nil || !strings.Contains(err.Error(), "text, json, yaml") {
		t.Error(err)
	}
	for _, format := range report.ProbeFormats() {
		p, err := report.NewProbe(format, closedWriter{}, report.ProbeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(probeReports()["passed"]); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
