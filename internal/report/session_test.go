package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/internal/report"
	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

const sessionSchema = "../../docs/schema/session.schema.json"

// noon is when the sessions of the golden files are looked at.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// runningRow is a session that runs.
func runningRow() inventory.Row {
	return inventory.Row{
		Identity: compose.Identity{
			ExecutorID: "executor-1", ProfileID: "profile-1", InstanceID: "4be0643f1d98573b", TaskID: "task-1", SessionID: "session-1", EnvironmentID: "environment-1",
			Name: "kandev-0123456789abcdef", Namespace: "agents",
		},
		State: inventory.Running, Generation: 9, Holder: inventory.Holder{Epoch: 2}, MainContainer: "kandev-agent", WorkspaceMode: compose.ManagedPVC,
		Pod:         &inventory.Object{Name: "kandev-0123456789abcdef", UID: "0f6ce3b2-0c55-4b0e-8d2a-58c0a3b0f2c7"},
		Claim:       &inventory.Object{Name: "kandev-0123456789abcdef-workspace", UID: "5b0c6f5e-6a1d-4a52-9f0e-3f7e4f6f9a01"},
		ControlPort: 8765, CreatedAt: noon.Add(-26 * time.Hour), UpdatedAt: noon.Add(-90 * time.Second),
	}
}

// startingRow is a session whose start was cut off.
func startingRow() inventory.Row {
	r := runningRow()
	r.Identity.InstanceID, r.Identity.Name, r.State, r.WorkspaceMode = "trial", "", inventory.Scheduling, compose.EmptyDir
	r.Pod, r.Claim, r.ControlPort, r.Holder.Owner = nil, nil, 0, "cli-4711-9c1185a5c5e9fc54"
	r.LastFailure = &inventory.Failure{Code: string(executor.Unschedulable)}
	r.CreatedAt = noon.Add(-2 * time.Minute)
	return r
}

// sessionPrints are what the golden files show.
func sessionPrints() map[string]func(w *bytes.Buffer, format string, o report.SessionOptions) error {
	one := func(s executor.Status) func(*bytes.Buffer, string, report.SessionOptions) error {
		return func(w *bytes.Buffer, format string, o report.SessionOptions) error {
			return report.Session(w, format, s, o)
		}
	}
	list := func(rows ...inventory.Row) func(*bytes.Buffer, string, report.SessionOptions) error {
		return func(w *bytes.Buffer, format string, o report.SessionOptions) error {
			return report.Sessions(w, format, rows, o)
		}
	}
	strays := func(strays ...executor.Stray) func(*bytes.Buffer, string, report.SessionOptions) error {
		return func(w *bytes.Buffer, format string, o report.SessionOptions) error {
			return report.Strays(w, format, strays, o)
		}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	hostile := runningRow()
	hostile.Identity.InstanceID, hostile.MainContainer = "\x1b[2Jred\n::error::x", "a\nb"
	return map[string]func(*bytes.Buffer, string, report.SessionOptions) error{
		"running": one(executor.Status{Row: runningRow(), Pod: pod}),
		"trouble": one(executor.Status{Row: startingRow(), Fault: &executor.Error{
			Reason: executor.Unschedulable, Message: "0/3 nodes are available: 3 Insufficient memory.",
		}}),
		"hostile": one(executor.Status{Row: hostile, Fault: &executor.Error{Reason: executor.ImagePull, Message: "\x1b[2Jred\n::error::x"}}),
		"recorded": func(w *bytes.Buffer, format string, o report.SessionOptions) error {
			o.Recorded = true
			return report.Session(w, format, executor.Status{Row: runningRow()}, o)
		},
		"list": list(runningRow(), startingRow()),
		"none": list(),
		"strays": strays(
			executor.Stray{InstanceID: "4be0643f1d98573b", Kind: inventory.PersistentVolumeClaim, Name: "kandev-0123456789abcdef-workspace", UID: "5b0c6f5e-6a1d-4a52-9f0e-3f7e4f6f9a01", Problem: executor.NoObject},
			executor.Stray{InstanceID: "other", Kind: inventory.Pod, Name: "kandev-d9298a10d1b07358", UID: "0f6ce3b2-0c55-4b0e-8d2a-58c0a3b0f2c7", Problem: executor.NoRow},
			executor.Stray{InstanceID: "third", Kind: inventory.Pod, Name: "kandev-2a97516c354b6884", UID: "3f4a1f5e-5b27-4c3d-9e56-1c9be1a4c3de", Problem: executor.OtherUID},
			executor.Stray{InstanceID: "trial", Kind: inventory.Pod, Name: "kandev-cb40ad5ff0bdc2a5", Problem: executor.OpenStray},
		),
		"no-strays": strays(),
	}
}

func TestSessionGolden(t *testing.T) {
	for name, print := range sessionPrints() {
		for suffix, o := range map[string]report.SessionOptions{"": {Now: noon}, ".quiet": {Now: noon, Quiet: true}} {
			for _, format := range report.SessionFormats() {
				if format != "text" && suffix != "" {
					continue
				}
				var b bytes.Buffer
				if err := print(&b, format, o); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", "session", name+suffix+"."+format)
				if *update {
					if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), b.String()); diff != "" {
					t.Errorf("%s: -want +got\n%s", file, diff)
				}
			}
		}
	}
}

// TestSessionMeetsItsSchema holds every JSON output against the schema, and spoils them to see the schema refuse.
func TestSessionMeetsItsSchema(t *testing.T) {
	s := compileSchema(t, sessionSchema)
	outputs := map[string]string{}
	for name, print := range sessionPrints() {
		var b bytes.Buffer
		if err := print(&b, "json", report.SessionOptions{}); err != nil {
			t.Fatal(err)
		}
		outputs[name] = b.String()
		if err := validate(t, s, b.String()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(doc map[string]any){
		"another version": func(doc map[string]any) { doc["schemaVersion"] = 2 },
		"no instance":     func(doc map[string]any) { delete(doc, "instanceId") },
		"no such state":   func(doc map[string]any) { doc["state"] = "lost" },
		"another field":   func(doc map[string]any) { doc["token"] = "x" },
	} {
		var doc map[string]any
		if err := json.Unmarshal([]byte(outputs["running"]), &doc); err != nil {
			t.Fatal(err)
		}
		spoil(doc)
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, s, string(data)) == nil {
			t.Errorf("%s meets the schema", name)
		}
	}
}

// TestSessionFails: an unknown format, and a writer that fails.
func TestSessionFails(t *testing.T) {
	if err := report.Strays(&bytes.Buffer{}, "xml", nil, report.SessionOptions{}); err == nil || !strings.Contains(err.Error(), "text, json, yaml") {
		t.Errorf("an unknown format: %v", err)
	}
	for _, format := range report.SessionFormats() {
		if err := report.Sessions(closedWriter{}, format, nil, report.SessionOptions{}); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
