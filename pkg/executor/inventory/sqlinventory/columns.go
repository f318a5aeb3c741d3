package sqlinventory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

// columns are those of executors_running, in the order of values and scan.
var columns = []string{
	"instance_id", "executor_id", "profile_id", "task_id", "session_id", "environment_id", "name", "namespace",
	"state", "generation", "owner", "epoch",
	"main_container", "workspace_mode", "snapshot_sha256",
	"intents", "pod_name", "pod_uid", "claim_name", "claim_uid", "control_port",
	"failure_code", "failure_kind", "failure_name",
	"created_at", "updated_at",
}

// The statements. Where one is guarded, $1 to $4 are those of guard.
var (
	columnList = strings.Join(columns, ", ")
	guarded    = " WHERE instance_id = $1 AND generation = $2 AND owner = $3 AND epoch = $4"

	insertRow = "INSERT INTO executors_running (" + columnList + ") VALUES (" + placeholders(1, len(columns)) + ")" //nolint:gosec // all of it is written here
	updateRow = "UPDATE executors_running SET (" + strings.Join(columns[1:], ", ") + ") = (" + placeholders(5, len(columns)-1) + ")" + guarded
	deleteRow = "DELETE FROM executors_running" + guarded
	selectRow = "SELECT " + columnList + " FROM executors_running WHERE instance_id = $1"

	// selectRows takes the owner and the namespace, "" for any, the states as stateList writes them, the instance ID to
	// start after, and the largest number of rows.
	selectRows = "SELECT " + columnList + " FROM executors_running" + //nolint:gosec // likewise
		" WHERE ($1 = '' OR owner = $1) AND ($2 = '' OR namespace = $2) AND ($3 = '' OR $3 LIKE '%,' || state || ',%')" +
		" AND instance_id > $4 ORDER BY instance_id LIMIT $5"

	insertSnapshot = "INSERT INTO launch_snapshots (instance_id, encoded) VALUES ($1, $2)"
	selectSnapshot = "SELECT coalesce(encoded, ''), snapshot_sha256 FROM executors_running LEFT JOIN launch_snapshots USING (instance_id)" +
		" WHERE instance_id = $1"
)

// placeholders writes the numbers of n arguments.
func placeholders(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", first+i)
	}
	return b.String()
}

// guard returns the arguments that make a statement change only the row that was read.
func guard(r inventory.Row) []any {
	return []any{r.Identity.InstanceID, r.Generation, r.Holder.Owner, r.Holder.Epoch}
}

// values returns a row as the columns hold it: "" stands for what is absent, times are microseconds since 1970.
func values(r inventory.Row) []any {
	pod, claim, failure := orZero(r.Pod), orZero(r.Claim), orZero(r.LastFailure)
	id := r.Identity
	return []any{
		id.InstanceID, id.ExecutorID, id.ProfileID, id.TaskID, id.SessionID, id.EnvironmentID, id.Name, id.Namespace,
		string(r.State), r.Generation, r.Holder.Owner, r.Holder.Epoch,
		r.MainContainer, string(r.WorkspaceMode), r.SnapshotSHA256,
		encodeIntents(r.Intents), pod.Name, string(pod.UID), claim.Name, string(claim.UID), r.ControlPort,
		failure.Code, string(failure.Kind), failure.Name,
		r.CreatedAt.UnixMicro(), r.UpdatedAt.UnixMicro(),
	}
}

// scan reads a row and checks that it holds together; the error wraps inventory.ErrCorrupt where it does not.
func scan(s interface{ Scan(...any) error }) (inventory.Row, error) {
	var r inventory.Row
	var pod, claim inventory.Object
	var failure inventory.Failure
	var intents string
	var port, created, updated int64
	id := &r.Identity
	err := s.Scan(
		&id.InstanceID, &id.ExecutorID, &id.ProfileID, &id.TaskID, &id.SessionID, &id.EnvironmentID, &id.Name, &id.Namespace,
		&r.State, &r.Generation, &r.Holder.Owner, &r.Holder.Epoch,
		&r.MainContainer, &r.WorkspaceMode, &r.SnapshotSHA256,
		&intents, &pod.Name, &pod.UID, &claim.Name, &claim.UID, &port,
		&failure.Code, &failure.Kind, &failure.Name,
		&created, &updated,
	)
	if err != nil {
		return inventory.Row{}, err
	}
	r.Pod, r.Claim, r.LastFailure = orNil(pod), orNil(claim), orNil(failure)
	r.CreatedAt, r.UpdatedAt = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	r.ControlPort = int32(min(max(port, -1), math.MaxInt32)) // what is beyond is no port either
	if r.Intents, err = decodeIntents(intents); err == nil {
		err = r.Validate()
	}
	if err != nil {
		return inventory.Row{}, fmt.Errorf("%w: instance %q: %w", inventory.ErrCorrupt, id.InstanceID, err)
	}
	return r, nil
}

// encodeIntents writes the requests as a JSON list.
func encodeIntents(intents []inventory.Intent) string {
	if len(intents) == 0 {
		return "[]"
	}
	data, err := json.Marshal(intents)
	if err != nil { // unreachable: every field is a string
		return ""
	}
	return string(data)
}

// decodeIntents reads what encodeIntents wrote, and nothing else.
func decodeIntents(text string) ([]inventory.Intent, error) {
	var intents []inventory.Intent
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&intents); err != nil {
		return nil, fmt.Errorf("create requests: %w", err)
	}
	if len(intents) == 0 {
		intents = nil
	}
	if encodeIntents(intents) != text {
		return nil, fmt.Errorf("create requests: not in the form in which they are written")
	}
	return intents, nil
}

func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func orNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
