package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/inventorytest"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
)

// kubeconfig names an API server that nothing listens on.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: agents}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: x}}]
`

// inSessions goes to a directory with a kubeconfig and files for the flags, and records the sessions named in the default
// inventory, each held by nobody.
func inSessions(t *testing.T, ids ...string) (dir string) {
	t.Helper()
	dir = write(t, map[string]string{
		"good.yaml": good, "placeholder.yaml": placeholder, "bad.yaml": strings.Replace(good, "kandev-agent", "other", 1), "kubeconfig": kubeconfig,
		"agentctl": "binary", "good.env": "A=1\n", "bad.env": "A=1\ncanary-5d41402a\n", "name.env": "canary-5d41402a!=1\n", "home.env": "HOME=/\n",
	})
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "kubeconfig"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	if len(ids) == 0 {
		return dir
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "state", "kandev-podlint", "sessions", "https%3A%2F%2F127.0.0.1%3A1.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		identity := inventorytest.Identity(id)
		identity.Namespace = "agents"
		row, err := store.Create(t.Context(), "cli-1-dead", identity, inventorytest.Snapshot(compose.EmptyDir))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(id, "held") {
			continue
		}
		if _, err := store.TakeOver(t.Context(), id, row.Holder, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSessionStatus: what can be told without a cluster, and what an unreachable one makes of it.
func TestSessionStatus(t *testing.T) {
	inSessions(t, "free", "held")
	for _, c := range []struct {
		args string
		code int
		want string // on standard error; for code 0 on standard output
	}{
		{"star", 2, `did you mean "start"?`},
		{"start", 2, "kandev-podlint session start takes exactly 1 TEMPLATE, not 0"},
		{"start placeholder.yaml --agent agentctl", 2, "which has a placeholder for its digest [image-placeholder]"},
		{"start bad.yaml --agent agentctl", 1, "bad.yaml cannot be composed"},
		{"start good.yaml", 2, "--agent FILE is needed"},
		{"start good.yaml --agent nowhere", 2, "--agent: open nowhere: no such file or directory"},
		{"start good.yaml --agent agentctl --env-file bad.env", 2, "--env-file: bad.env:2: the line is not NAME=VALUE"},
		{"start good.yaml --agent agentctl --auth-env-file name.env", 2, "--auth-env-file: name.env:1: the name before = is not that of a variable"},
		{"start good.yaml --agent agentctl --auth-env-file home.env", 2, "--auth-env-file: home.env:1: the name before = is not that of a variable"},
		{"start good.yaml --agent agentctl --env-file good.env --auth-env-file good.env --env-file good.env", 2, "environment variable A is given twice"},
		{"start good.yaml --agent agentctl --file good.env", 2, "--file: not of the form LOCAL=PATH"},
		{"start good.yaml --agent agentctl --file good.env=/etc/passwd", 2, "/etc/passwd is not a path below the agent's home"},
		{"start good.yaml --agent agentctl --file good.env=../auth.env", 2, "is not below /run/kandev/home"},
		{"start good.yaml --agent agentctl --format xml", 2, `unknown format "xml"`},
		{"start good.yaml --agent agentctl --instance-id -x-", 2, "instance-id"},
		{"start good.yaml --agent agentctl --instance-id free", 2, "already has this instance"},
		{"start good.yaml --agent agentctl --workspace-mode empty_dir --instance-id new", 3, "session new stays recorded, scheduling"},
		{"start good.yaml --agent agentctl --kubeconfig bad.yaml", 2, "kubeconfig: "},
		{"start good.yaml --agent agentctl -n Kandev", 2, `"Kandev" is no namespace`},
		{"list -q", 0, "free\nheld\nnew\n"},
		{"list -q -n other", 0, ""},
		{"list extra", 2, "takes no arguments"},
		{"show free", 0, "State         configured, for "},
		{"show nowhere", 2, "the inventory has no such instance\nkandev-podlint: session list shows what there is"},
		{"show free -n other", 1, "the instance is in namespace agents, not in other"},
		{"stop free -n other", 1, "the instance is in namespace agents, not in other"},
		{"stop free", 0, "session free stopped\n"},
		{"stop held", 2, "held by \"cli-1-dead\" since epoch 1\nkandev-podlint: if that process has ended without giving the session up, add --take-over"},
		{"stop held --take-over", 0, "session held stopped\n"},
		{"stop held", 0, "session held stopped\n"},
		{"exec free", 2, "takes an ID, then --, then a command"},
		{"exec free ls", 2, "takes an ID, then --, then a command"},
		{"exec -- free ls", 2, "takes an ID, then --, then a command"},
		{"exec free -- ls -l", 1, "no Pod is recorded\nkandev-podlint: session resume with --agent goes on"},
		{"exec nowhere -- ls", 2, "the inventory has no such instance"},
		{"logs free", 1, "no Pod is recorded"},
		{"forward free", 2, "has not come far enough to have a control port"},
		{"forward free 8080", 1, "no Pod is recorded"},
		{"forward free 0", 2, `"0" is not [LOCAL:]PORT`},
		{"forward free 80:http", 2, `"80:http" is not [LOCAL:]PORT`},
		{"forward free 1 2", 2, "takes an ID and at most one port"},
		{"resume free", 1, "the session is configured, and does not run yet"},
		{"resume free --env-file good.env", 2, "--agent FILE is needed"},
		{"resume free --format xml", 2, `unknown format "xml"`},
		{"resume nowhere", 2, "the inventory has no such instance"},
		{"doctor", 3, "the API server cannot be reached"},
		{"doctor --inventory nowhere/../../../../../../../../proc/x", 2, "inventory "},
		{"delete nowhere", 2, "the inventory has no such instance"},
		{"delete free", 0, "session free deleted\n"},
		{"delete free", 2, "the inventory has no such instance"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := run(t, "", append([]string{"session"}, strings.Fields(c.args)...)...)
			said := r.err
			if c.code == 0 {
				said = r.out
			}
			if r.code != c.code || !strings.Contains(said, c.want) || c.code == 0 && r.err != "" {
				t.Errorf("exit status %d, want %d and %q\n%s%s", r.code, c.code, c.want, r.out, r.err)
			}
			if strings.Contains(r.out+r.err, "canary") {
				t.Errorf("a credential was printed:\n%s%s", r.out, r.err)
			}
		})
	}
}

// TestSessionWithoutACluster: an inventory that is named can be looked at without a kubeconfig, and nothing else can be done.
func TestSessionWithoutACluster(t *testing.T) {
	dir := inSessions(t, "free", "held")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "nowhere"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	const named = " --inventory state/kandev-podlint/sessions/https%3A%2F%2F127.0.0.1%3A1.db"
	for _, c := range []struct {
		args string
		code int
		want string // on standard error; for code 0 on standard output
	}{
		{"list -q" + named, 0, "free\nheld\n"},
		{"list -q -n agents" + named, 0, "free\nheld\n"},
		{"list -q -n other" + named, 0, ""},
		{"list", 2, "there is no kubeconfig"},
		{"show free" + named, 0, "Namespace     agents\nWorkspace     empty_dir\n"},
		{"show free --format json" + named, 0, `"state": "configured"`},
		{"show nowhere" + named, 2, "the inventory has no such instance"},
		{"show free", 2, "there is no kubeconfig"},
		{"stop free" + named, 2, "there is no kubeconfig"},
		{"doctor" + named, 2, "there is no kubeconfig"},
	} {
		r := run(t, "", append([]string{"session"}, strings.Fields(c.args)...)...)
		said := r.err
		if c.code == 0 {
			said = r.out
		}
		if r.code != c.code || !strings.Contains(said, c.want) || c.code == 0 && r.err != "" || strings.Contains(r.out, "live") {
			t.Errorf("%s: exit status %d, want %d and %q\n%s%s", c.args, r.code, c.code, c.want, r.out, r.err)
		}
	}
	complete := append(append([]string{"__complete", "session", "show"}, strings.Fields(named)...), "")
	if r := run(t, "", complete...); r.out != "free\tconfigured\nheld\tconfigured\n:4\n" {
		t.Errorf("completion: %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestQuietClient: nothing of the client library's log reaches standard error, its errors neither.
func TestQuietClient(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = file
	quietClient()
	klog.Info("canary")
	klog.ErrorS(errors.New("canary"), "canary")
	klog.FromContext(t.Context()).Error(errors.New("canary"), "canary")
	klog.Flush()
	if said, err := os.ReadFile(file.Name()); err != nil || len(said) > 0 {
		t.Errorf("%q, %v", said, err)
	}
}

// TestSessionError: which failure of a session is whose.
func TestSessionError(t *testing.T) {
	of := func(r executor.Reason) error { return fmt.Errorf("wrapped: %w", &executor.Error{Reason: r}) }
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":                         {nil, 0},
		"a refusal":                    {of(executor.QuotaExceeded), 1},
		"a Pod that does not run":      {of(executor.ImagePull), 1},
		"a lost workspace":             {of(executor.WorkspaceLost), 1},
		"a foreign object":             {of(executor.IdentityMismatch), 1},
		"an agent of another kind":     {of(executor.AgentUnproven), 1},
		"a row that another one holds": {of(executor.InventoryConflict), 2},
		"an inventory of no use":       {of(executor.InventoryFailed), 2},
		"an interrupt":                 {of(executor.Interrupted), 2},
		"no such instance":             {inventory.ErrNotFound, 2},
		"a port that is taken":         {errors.New("listen"), 2},
		"no answer":                    {of(executor.Unreachable), 3},
		"an answer that is lost":       {of(executor.Ambiguous), 3},
		"a permission that is missing": {of(executor.Forbidden), 3},
		"a status that is chosen":      {&exitError{code: 7}, 7},
	} {
		if got := exitCode(sessionError(c.err)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestParseEnv(t *testing.T) {
	got, err := parseEnv([]byte("# a comment\n\nA=1\r\n  \nB= x=y #z\nC=\nD=\"quoted\""))
	want := []bootstrap.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: " x=y #z"}, {Name: "C"}, {Name: "D", Value: `"quoted"`}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n-want +got\n%s", err, diff)
	}
}

func TestParsePorts(t *testing.T) {
	for text, want := range map[string][2]uint16{"8765": {8765, 8765}, "80:8765": {80, 8765}, "0:1": {0, 1}, "65535": {65535, 65535}} {
		if local, remote, err := parsePorts(text); err != nil || [2]uint16{local, remote} != want {
			t.Errorf("%s: %d, %d, %v, want %v", text, local, remote, err, want)
		}
	}
	for _, text := range []string{"", ":", "x", "65536", "1:", ":1", "1:2:3", "-1", "0"} {
		if _, _, err := parsePorts(text); err == nil {
			t.Errorf("%q is taken for a port", text)
		}
	}
}

// TestSessionCompletion: shells complete what the inventory has, and asking makes no inventory.
func TestSessionCompletion(t *testing.T) {
	dir := inSessions(t)
	if r := run(t, "", "__complete", "session", "show", ""); r.code != 0 || r.out != ":4\n" {
		t.Errorf("without an inventory: %d\n%s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
		t.Error("completion made an inventory")
	}
	inSessions(t, "one", "two")
	for _, name := range []string{"show", "exec", "forward", "logs", "stop", "resume", "delete"} {
		if r := run(t, "", "__complete", "session", name, ""); r.out != "one\tconfigured\ntwo\tconfigured\n:4\n" {
			t.Errorf("%s:\n%s%s", name, r.out, r.err)
		}
		if r := run(t, "", "__complete", "session", name, "-n", "other", ""); r.out != ":4\n" {
			t.Errorf("%s in another namespace:\n%s%s", name, r.out, r.err)
		}
		if r := run(t, "", "__complete", "session", name, "one", ""); strings.Contains(r.out, "two") {
			t.Errorf("%s completes a second ID:\n%s", name, r.out)
		}
	}
}

// TestInventoryFile: where the inventory is, for each API server and each environment.
func TestInventoryFile(t *testing.T) {
	inSessions(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	flags := &sessionFlags{cluster: addClusterFlags(&cobra.Command{})}
	client, _, err := flags.cluster.connect()
	if err != nil {
		t.Fatal(err)
	}
	const name = "kandev-podlint/sessions/https%3A%2F%2F127.0.0.1%3A1.db"
	for state, want := range map[string]string{"/var/state": "/var/state/" + name, "": home + "/.local/state/" + name, "relative": home + "/.local/state/" + name} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := flags.file(client); err != nil || filepath.ToSlash(got) != want {
			t.Errorf("XDG_STATE_HOME=%q: %s, %v, want %s", state, got, err, want)
		}
	}
	flags.inventory = "named.db"
	if got, err := flags.file(client); err != nil || got != "named.db" {
		t.Errorf("--inventory: %s, %v", got, err)
	}
}

// TestIdentity: what is given stays, and what is not is never the same twice.
func TestIdentity(t *testing.T) {
	a, b := filledIdentity(compose.Identity{TaskID: "t"}), filledIdentity(compose.Identity{TaskID: "t"})
	if a.TaskID != "t" || len(a.Validate()) > 0 {
		t.Errorf("%+v: %v", a, a.Validate())
	}
	seen := map[string]bool{}
	for _, id := range []compose.Identity{a, b} {
		for _, part := range []string{id.InstanceID, id.ExecutorID, id.ProfileID, id.SessionID, id.EnvironmentID} {
			if part == "" || seen[part] {
				t.Errorf("%q is empty or used twice", part)
			}
			seen[part] = true
		}
	}
}

// TestEventText: each event says something, on a line of its own with --verbose.
func TestEventText(t *testing.T) {
	var out strings.Builder
	for _, e := range []executor.Event{
		{Kind: executor.StateEntered, State: inventory.Scheduling},
		{Kind: executor.Requested, Object: inventory.Pod, Name: "p"},
		{Kind: executor.Unconfirmed, Object: inventory.Pod, Name: "p", Detail: "it was cut off"},
		{Kind: executor.Created, Object: inventory.Pod, Name: "p"},
		{Kind: executor.Waiting, Object: inventory.Pod, Name: "p", Detail: "no node\x1b[2J"},
		{Kind: executor.Deleted, Object: inventory.Pod, Name: "p"},
	} {
		tellEvent(&out, newStatusLine(&out), true, e)
	}
	const want = `providing the Pod
creating Pod p
finding out whether Pod p was created: it was cut off
created Pod p
waiting for Pod p: no node\x1b[2J
Pod p is gone
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, s := range inventory.States() {
		if s != inventory.Configured && stateText[s] == "" { // which no session enters
			t.Errorf("nothing is said of state %s", s)
		}
	}
}

// TestSessionInterrupted: an interrupt before anything is sent.
func TestSessionInterrupted(t *testing.T) {
	inSessions(t, "free")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	if code := Run(ctx, []string{"session", "doctor"}, Streams{Out: &out, Err: &errOut}); code != ExitInterrupted {
		t.Errorf("exit status %d\n%s%s", code, &out, &errOut)
	}
}
