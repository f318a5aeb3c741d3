package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	"k8s.io/client-go/rest"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor"
	"github.com/kandev/kandev-podlint/pkg/executor/inventory/sqlinventory/sqlite"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// A backend has one Executor for each namespace. Its owner's name is new with every start of the process.
func ExampleNew() {
	ctx := context.Background()
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := executor.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.Open(ctx, "/var/lib/kandev/sessions.db")
	if err != nil {
		log.Fatal(err)
	}
	e, err := executor.New(executor.Options{
		Client: client, Inventory: store, Namespace: "kandev", Owner: fmt.Sprintf("backend-%s", os.Getenv("HOSTNAME")),
		Observe: func(e executor.Event) { fmt.Println(e.InstanceID, e.Kind, e.State, e.Name, e.Detail) },
	})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := e.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Println(row.Identity.InstanceID, row.State)
	}
}

// backend stands for the Executor of the other examples.
var backend *executor.Executor

// A launch ends with a Session: the agent's address on this machine, and the token for it.
func ExampleExecutor_Launch() {
	ctx := context.Background()
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		log.Fatal(err)
	}
	template, violations := compose.ParseTemplate(text)
	if template == nil {
		log.Fatal(violations)
	}
	agent, err := os.ReadFile("agentctl")
	if err != nil {
		log.Fatal(err)
	}
	session, err := backend.Launch(ctx, executor.Request{
		Identity: compose.Identity{
			ExecutorID: "executor-1", ProfileID: "profile-1", InstanceID: "instance-1", TaskID: "task-1", SessionID: "session-1", EnvironmentID: "environment-1",
		},
		Template: template.Spec,
		Profile:  compose.Profile{Workspace: compose.Workspace{Mode: compose.ManagedPVC, Size: "20Gi"}},
		Material: executor.Material{
			Agent:   upload.NewBlob(agent), // one Blob serves many sessions
			AuthEnv: []bootstrap.EnvVar{{Name: "API_KEY", Value: os.Getenv("API_KEY")}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ask(ctx, session); err != nil {
		log.Print(err)
	}
	if err := session.Close(); err != nil { // Pod and claim stay
		log.Print(err)
	}
}

// ask asks a session's agent something.
func ask(ctx context.Context, session *executor.Session) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+session.Addr()+"/status", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+session.Token.Reveal())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	fmt.Println(answer.Status)
	return answer.Body.Close()
}

// Every failure has a reason on which a caller can decide.
func ExampleExecutor_Resume() {
	session, err := backend.Resume(context.Background(), "instance-1", executor.Material{})
	if failure, ok := errors.AsType[*executor.Error](err); ok {
		switch failure.Reason {
		case executor.WorkspaceLost:
			fmt.Println("the work is gone: clean up, and tell the user")
		case executor.InventoryConflict:
			fmt.Println("another backend holds the session")
		case executor.Ambiguous, executor.Unreachable:
			fmt.Println("try again later; nothing was guessed")
		default:
			fmt.Println(failure, failure.Remedy())
		}
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the agent is at", session.Addr())
	_ = session.Close()
}

// Doctor finds what inventory and cluster do not agree about, and leaves it to its caller.
func ExampleExecutor_Doctor() {
	strays, err := backend.Doctor(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range strays {
		fmt.Println(s.Problem, s.Kind, s.Name, s.InstanceID)
	}
}
