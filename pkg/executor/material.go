package executor

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose"
	"github.com/kandev/kandev-podlint/pkg/compose/bootstrap"
	"github.com/kandev/kandev-podlint/pkg/executor/upload"
)

// Material is what a session's Pod is given through pods/exec, and nowhere else: it is in no API object, no log, no error and
// no inventory.
type Material struct {
	Agent      *upload.Blob       // agentctl; one Blob may serve many sessions
	RuntimeEnv []bootstrap.EnvVar // resolved profile values that are no secrets
	AuthEnv    []bootstrap.EnvVar // credentials
	Files      []upload.File      // below bootstrap.HomePath
	Prepare    *upload.Blob       // run in /workspace before the agent starts; nil is none
}

// Validate refuses material that no Pod can be given: without an agent, with a variable's name that a shell cannot hand on or
// that the executor sets itself, or with a file that is not below bootstrap.HomePath. Errors show no content.
func (m *Material) Validate() error {
	d, err := m.deliver(compose.Identity{}, 0, "")
	if err != nil {
		return err
	}
	if err := (&upload.Request{Files: d.files, Last: d.marker}).Validate(); err != nil {
		return fmt.Errorf("material: %w", err)
	}
	return nil
}

// The environment that the executor gives the agent.
const (
	envListenHost = "AGENTCTL_LISTEN_HOST"
	envPort       = "AGENTCTL_PORT"
	envNonce      = "AGENTCTL_BOOTSTRAP_NONCE"
	envInstance   = "KANDEV_INSTANCE_ID"
	envSession    = "KANDEV_SESSION_ID"
	envTask       = "KANDEV_TASK_ID"
	envTaskEnv    = "KANDEV_TASK_ENVIRONMENT_ID"
)

// delivery is the material of one session as files.
type delivery struct {
	files  []upload.File
	marker upload.File
}

// deliver lays the material out for a Pod. The nonce is the agent's one-time bootstrap nonce.
func (m *Material) deliver(id compose.Identity, port int32, nonce string) (*delivery, error) {
	if m.Agent == nil {
		return nil, fmt.Errorf("material: no agent")
	}
	runtimeEnv, err := bootstrap.EncodeEnv(slices.Concat([]bootstrap.EnvVar{
		{Name: envListenHost, Value: "127.0.0.1"},
		{Name: envPort, Value: strconv.Itoa(int(port))},
		{Name: envInstance, Value: id.InstanceID},
		{Name: envSession, Value: id.SessionID},
		{Name: envTask, Value: id.TaskID},
		{Name: envTaskEnv, Value: id.EnvironmentID},
	}, m.RuntimeEnv))
	if err != nil {
		return nil, fmt.Errorf("material: %w", err)
	}
	authEnv, err := bootstrap.EncodeEnv(slices.Concat([]bootstrap.EnvVar{{Name: envNonce, Value: nonce}}, m.AuthEnv))
	if err != nil {
		return nil, fmt.Errorf("material: %w", err)
	}
	d := &delivery{files: []upload.File{
		{Path: bootstrap.AgentPath, Mode: 0o755, Content: m.Agent},
		{Path: bootstrap.RuntimeEnvPath, Mode: 0o644, Content: upload.NewBlob(runtimeEnv)},
		{Path: bootstrap.AuthEnvPath, Mode: 0o600, Content: upload.NewBlob(authEnv)},
	}}
	if m.Prepare != nil {
		d.files = append(d.files, upload.File{Path: bootstrap.PreparePath, Mode: 0o644, Content: m.Prepare})
	}
	if d.marker, err = markerOf(d.files); err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if !strings.HasPrefix(f.Path, bootstrap.HomePath+"/") || path.Clean(f.Path) != f.Path {
			return nil, fmt.Errorf("material: %q is not below %s", f.Path, bootstrap.HomePath)
		}
		d.files = append(d.files, f)
	}
	return d, nil
}

// markerOf is the start marker of the files that every start verifies.
func markerOf(files []upload.File) (upload.File, error) {
	var marker bootstrap.Marker
	for _, f := range files {
		marker.Files = append(marker.Files, bootstrap.File{Path: f.Path, Size: f.Content.Size(), SHA256: f.Content.SHA256()})
	}
	text, err := marker.Encode()
	if err != nil {
		return upload.File{}, err
	}
	return upload.File{Path: bootstrap.MarkerPath, Mode: 0o600, Content: upload.NewBlob(text)}, nil
}
