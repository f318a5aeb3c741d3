package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// SessionFormats lists the formats that Session, Sessions and Strays know.
func SessionFormats() []string { return []string{"text", "json", "yaml"} }

// SessionOptions shape the output of sessions.
type SessionOptions struct {
	Quiet    bool      // the instance IDs alone, in text only
	Now      time.Time // from which ages are counted, in text only
	Recorded bool      // the cluster was not asked
}

// sessionView is a session as programs read it; docs/schema/session.schema.json describes it.
type sessionView struct {
	InstanceID    string                `json:"instanceId"`
	State         inventory.State       `json:"state"`
	Namespace     string                `json:"namespace"`
	ExecutorID    string                `json:"executorId"`
	ProfileID     string                `json:"profileId"`
	TaskID        string                `json:"taskId"`
	SessionID     string                `json:"sessionId"`
	EnvironmentID string                `json:"environmentId"`
	MainContainer string                `json:"mainContainer"`
	WorkspaceMode compose.WorkspaceMode `json:"workspaceMode"`
	Pod           *objectView           `json:"pod,omitempty"`
	Claim         *objectView           `json:"claim,omitempty"`
	ControlPort   int32                 `json:"controlPort,omitempty"`
	Owner         string                `json:"owner,omitempty"`
	LastFailure   string                `json:"lastFailure,omitempty"`
	CreatedAt     time.Time             `json:"createdAt"`
	UpdatedAt     time.Time             `json:"updatedAt"`
	Live          *liveView             `json:"live,omitempty"`
}

type objectView struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// liveView is what the cluster says of a session's Pod.
type liveView struct {
	Phase string     `json:"phase,omitempty"` // empty where there is no such Pod
	Node  string     `json:"node,omitempty"`
	Fault *faultView `json:"fault,omitempty"`
}

type faultView struct {
	Reason  executor.Reason `json:"reason"`
	Message string          `json:"message"`
	Remedy  string          `json:"remedy,omitempty"`
}

func viewOf(r inventory.Row) sessionView {
	v := sessionView{
		InstanceID: r.Identity.InstanceID, State: r.State, Namespace: r.Identity.Namespace,
		ExecutorID: r.Identity.ExecutorID, ProfileID: r.Identity.ProfileID, TaskID: r.Identity.TaskID,
		SessionID: r.Identity.SessionID, EnvironmentID: r.Identity.EnvironmentID,
		MainContainer: r.MainContainer, WorkspaceMode: r.WorkspaceMode, Pod: objectOf(r.Pod), Claim: objectOf(r.Claim),
		ControlPort: r.ControlPort, Owner: r.Holder.Owner, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.LastFailure != nil {
		v.LastFailure = r.LastFailure.Code
	}
	return v
}

func objectOf(o *inventory.Object) *objectView {
	if o == nil {
		return nil
	}
	return &objectView{o.Name, o.UID}
}

func liveOf(s executor.Status) *liveView {
	v := &liveView{}
	if s.Pod != nil {
		v.Phase, v.Node = string(s.Pod.Status.Phase), s.Pod.Spec.NodeName
	}
	if s.Fault != nil {
		v.Fault = &faultView{s.Fault.Reason, s.Fault.Error(), s.Fault.Remedy()}
	}
	return v
}

// Session prints one session, with what the cluster says of its Pod.
func Session(w io.Writer, format string, s executor.Status, o SessionOptions) error {
	v := viewOf(s.Row)
	if !o.Recorded {
		v.Live = liveOf(s)
	}
	return printAs(w, format, struct {
		SchemaVersion int `json:"schemaVersion"`
		sessionView
	}{schemaVersion, v}, func(out stream) {
		if o.Quiet {
			out.print(visible(v.InstanceID), "\n")
			return
		}
		out.fields(v.rows(o.Now))
	})
}

// rows are a session's fields for people, as names and values. Empty ones are left out when they are printed.
func (v *sessionView) rows(now time.Time) [][2]string {
	rows := [][2]string{
		{"Instance", v.InstanceID},
		{"State", string(v.State) + ", for " + age(v.UpdatedAt, now)},
		{"Namespace", v.Namespace},
		{"Pod", v.podLine()},
		{"Claim", v.Claim.line()},
		{"Workspace", string(v.WorkspaceMode)},
		{"Container", v.MainContainer},
		{"Held by", v.Owner},
		{"Last failure", v.LastFailure},
		{"Created", age(v.CreatedAt, now) + " ago"},
		{"Executor", v.ExecutorID},
		{"Profile", v.ProfileID},
		{"Task", v.TaskID},
		{"Session", v.SessionID},
		{"Environment", v.EnvironmentID},
	}
	if v.Live != nil && v.Live.Fault != nil {
		rows = append(rows, [2]string{"Trouble", v.Live.Fault.Message}, [2]string{"Help", v.Live.Fault.Remedy})
	}
	return rows
}

// podLine names the Pod, and says how it is.
func (v *sessionView) podLine() string {
	line := v.Pod.line()
	if v.Live != nil && v.Live.Phase != "" {
		line += ", " + v.Live.Phase
	}
	if v.Live != nil && v.Live.Node != "" {
		line += " on node " + v.Live.Node
	}
	return line
}

func (o *objectView) line() string {
	if o == nil {
		return ""
	}
	return o.Name + " (UID " + string(o.UID) + ")"
}

// age is a time since then as kubectl writes it.
func age(then, now time.Time) string { return duration.HumanDuration(now.Sub(then)) }

// Sessions prints a list of sessions.
func Sessions(w io.Writer, format string, rows []inventory.Row, o SessionOptions) error {
	views := make([]sessionView, len(rows))
	for i, r := range rows {
		views[i] = viewOf(r)
	}
	return printAs(w, format, struct {
		SchemaVersion int           `json:"schemaVersion"`
		Sessions      []sessionView `json:"sessions"`
	}{schemaVersion, views}, func(out stream) {
		table := [][]string{{"INSTANCE", "STATE", "POD", "WORKSPACE", "AGE"}}
		for _, v := range views {
			if o.Quiet {
				out.print(visible(v.InstanceID), "\n")
				continue
			}
			pod := "-"
			if v.Pod != nil {
				pod = v.Pod.Name
			}
			table = append(table, []string{v.InstanceID, string(v.State), pod, string(v.WorkspaceMode), age(v.CreatedAt, o.Now)})
		}
		switch {
		case o.Quiet:
		case len(views) == 0:
			out.print("no sessions\n")
		default:
			out.table(table)
		}
	})
}

// problems say what a stray is, in words that need no other column.
var problems = map[executor.StrayProblem]string{
	executor.NoRow:     "the inventory does not know it",
	executor.NoObject:  "the inventory has it, and it is gone",
	executor.OtherUID:  "the inventory has another one of this name",
	executor.OpenStray: "whether its create request was carried out is unknown",
}

// Strays prints what objects and inventory do not agree about. With quiet, text says nothing where there is nothing.
func Strays(w io.Writer, format string, strays []executor.Stray, o SessionOptions) error {
	return printAs(w, format, struct {
		SchemaVersion int              `json:"schemaVersion"`
		Strays        []executor.Stray `json:"strays"`
	}{schemaVersion, append([]executor.Stray{}, strays...)}, func(out stream) {
		if len(strays) == 0 {
			if !o.Quiet {
				out.print("✓ inventory and cluster agree\n")
			}
			return
		}
		table := [][]string{{"INSTANCE", "KIND", "NAME", "PROBLEM"}}
		for _, s := range strays {
			table = append(table, []string{s.InstanceID, string(s.Kind), s.Name, problems[s.Problem]})
		}
		out.table(table)
		out.print("✗ ", count(len(strays), "stray"), ", and nothing was done about it\n")
	})
}

// printAs prints a value as JSON or YAML, or has it printed as text.
func printAs(w io.Writer, format string, v any, text func(stream)) error {
	switch format {
	case "json":
		return writeJSON(w, v)
	case "yaml":
		return writeYAML(w, v)
	case "text":
		out := newStream(w)
		text(out)
		return out.Flush()
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(SessionFormats(), ", "))
}

// columnGap is the cells between two columns.
const columnGap = 3

// table prints rows in columns as wide as they need to be.
func (s stream) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displaywidth.String(oneLine(cell))+columnGap)
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			if i == len(row)-1 {
				widths[i] = 0
			}
			s.print(pad(oneLine(cell), widths[i]))
		}
		s.print("\n")
	}
}

// fields prints names and values, those without a value left out.
func (s stream) fields(rows [][2]string) {
	var shown [][]string
	for _, r := range rows {
		if r[1] != "" {
			shown = append(shown, r[:])
		}
	}
	s.table(shown)
}
